import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';

/** Returns the validators as one ES module that imports only the parts of ajv that run with them. */
export function moduleOf(ajv, names) {
  const imports = [];
  const body = standalone
    .default(ajv, names)
    .replace('"use strict";', '')
    // Only schemas that refer to data need their parents.
    .replaceAll(/,parentData:[^,{}]+,parentDataProperty:[^,{}]+,rootData(?=[,}])/g, '')
    .replaceAll('{instancePath="", parentData, parentDataProperty, rootData=data}={}', '{instancePath=""}={}')
    .replaceAll(
      /const (err\d+) = (\{.*?\});if\(vErrors === null\)\{vErrors = \[\1\];\}else \{vErrors\.push\(\1\);\}/g,
      '(vErrors ??= []).push($2);',
    )
    .replaceAll(/require\("(ajv\/dist\/runtime\/(\w+))"\)\.default/g, (_, path, name) => {
      const line = `import ${name} from '${path}.js';`;
      if (!imports.includes(line)) imports.push(line);
      return `(${name}.default ?? ${name})`;
    });
  return [
    '// Generated from the schemas by `npm run generate`; do not edit.',
    ...imports,
    withCalls(withoutSchemas(body))
      .replaceAll(/;(?=(?:export )?(?:const|function) )/g, ';\n')
      .replaceAll(/\}(?=function )/g, '}\n'),
    '',
  ].join('\n');
}

/** Returns the code of validators with a call in place of what stands there hundreds of times. */
function withCalls(body) {
  const code = body
    .replaceAll(/(\w+) && typeof \1 == "object" && !Array\.isArray\(\1\)/g, 'isMap($1)')
    .replaceAll(/vErrors === null \? (validate\d+)\.errors : vErrors\.concat\(\1\.errors\)/g, 'errorsOf(vErrors, $1)');
  return `${code}
const isMap = (data) => data !== null && typeof data === 'object' && !Array.isArray(data);
const errorsOf = (earlier, { errors }) => (earlier === null ? errors : earlier.concat(errors));`;
}

/** Returns the code of validators with what it reads of their schemas: a list of values in its place, the names of properties as constants. */
function withoutSchemas(body) {
  const schemas = new Map();
  const constants = new Map();
  const code = body.replaceAll(/const (schema\d+) = (\{.*?\});(?=const |function |export )/g, (_, name, text) => {
    schemas.set(name, JSON.parse(text));
    return '';
  });
  const complete = code.replaceAll(/\b(schema\d+)((?:\.\w+|\["[^"]*"\]|\[\d+\])+)/g, (whole, name, path) => {
    const keys = [...path.matchAll(/\.(\w+)|\["([^"]*)"\]|\[(\d+)\]/g)].map(([, word, text, index]) => word ?? text ?? index);
    const value = keys.reduce((node, key) => node[key], schemas.get(name));
    if (keys.at(-1) !== 'properties') return JSON.stringify(value);
    const text = `{${Object.keys(value)
      .map((key) => `${JSON.stringify(key)}:0`)
      .join(',')}}`;
    const constant = constants.get(text) ?? `names${constants.size}`;
    constants.set(text, constant);
    return constant;
  });
  return [complete, ...[...constants].map(([text, name]) => `const ${name} = ${text};`)].join('');
}

/** Returns ajv as the validators need it; with `allErrors` they find every error, otherwise the first. */
export function compiler({ allErrors }) {
  const ajv = new Ajv2020({
    allErrors,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    inlineRefs: false,
    messages: false,
    code: { source: true, esm: true },
  });
  // No schema uses these keywords, whose bookkeeping would be a third of the code.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false });
  return ajv;
}
