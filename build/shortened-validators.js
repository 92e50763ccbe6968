// Makes the code that ajv writes for validators half as long: most commands read it when they start.
import { basename } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** What the shortened code calls. */
const helpers = `
const added = (earlier, error) => {
  (earlier ??= []).push(error);
  return earlier;
};
const errorsOf = (earlier, { errors }) => (earlier === null ? errors : earlier.concat(errors));
`;

/**
 * Returns the code as an ES module that calls functions for what ajv repeats hundreds of times, without what nothing reads: the schemas,
 * the data around a value, and the parts of an error that are not `reported`. An error in a choice keeps its place in the schema.
 */
export function shortened(code, reported) {
  const text = new Rewriter(code);
  const before = [];
  const after = [`const error = (${reported.join(', ')}) => ({ ${reported.join(', ')} });`, helpers];
  const schemas = new Map();
  let declaration;

  /** Returns what an expression reads of a schema; undefined for every other expression. */
  const schemaValue = (node) => {
    if (node?.type === 'Identifier') return schemas.get(node.name);
    if (node?.type !== 'MemberExpression') return undefined;
    return schemaValue(node.object)?.[node.computed ? node.property.value : node.property.name];
  };

  const visitor = new Visitor({
    'VariableDeclaration:exit'(node) {
      declaration = node;
      const [{ id, init }] = node.declarations;
      if (init?.type !== 'ObjectExpression' || !id.name.startsWith('schema')) return;
      schemas.set(id.name, JSON.parse(code.slice(init.start, init.end)));
      text.replace(node, '');
    },
    'MemberExpression:exit'(node) {
      const value = schemaValue(node);
      if (value !== undefined) text.replace(node, JSON.stringify(value));
      if (node.object.callee?.name !== 'require') return;
      const path = node.object.arguments[0].value;
      before.push(`import ${basename(path)} from '${path}.js';`);
      text.replace(node, `(${basename(path)}.default ?? ${basename(path)})`);
    },
    // Whether a schema has a property.
    'CallExpression:exit'({ start, end, callee, arguments: [properties, key] }) {
      const value = schemaValue(properties);
      if (value === undefined || callee.property?.name !== 'call') return;
      text.replace({ start, end }, `names${after.length}.has(${text.of(key)})`);
      after.push(`const names${after.length} = new Set(${JSON.stringify(Object.keys(value))});`);
    },
    // The only parameter besides the data is its place: schemas that refer to data need what is around it, and there are none.
    'AssignmentPattern:exit'({ start, end, left }) {
      if (left.type === 'ObjectPattern') text.replace({ start, end }, text.of(left.properties[0].value));
    },
    'ObjectExpression:exit'(node) {
      const [first, next] = node.properties;
      if (next?.key.name === 'parentData') text.replace(node, text.of(first.value));
      const parts = new Map(node.properties.map((part) => [part.key.name ?? part.key.value, part]));
      const place = parts.get('schemaPath')?.value.value;
      if (place === undefined) return;
      const kept = [...parts].filter(([name]) =>
        name === 'schemaPath' ? place.includes('/anyOf/') || place.includes('/oneOf/') : name === 'propertyName' || reported.includes(name),
      );
      const isUsual = kept.every(([name]) => reported.includes(name));
      const [values, fields] = [kept.map(([, { value }]) => text.of(value)), kept.map(([, part]) => text.of(part))];
      text.replace(node, isUsual ? `error(${values.join()})` : `{${fields.join()}}`);
    },
    // The errors until now, with the one that is declared before.
    'IfStatement:exit'({ end, test, alternate }) {
      if (!isFirst(test) || alternate === null) return;
      text.replace({ start: declaration.start, end }, `vErrors = added(vErrors, ${text.of(declaration.declarations[0].init)});`);
    },
    // The errors until now, with those of another validator.
    'ConditionalExpression:exit'(node) {
      if (isFirst(node.test)) text.replace(node, `errorsOf(vErrors, ${text.of(node.consequent.object)})`);
    },
  });
  visitor.visit(parseSync('validators.js', code).program);
  return [...before, text.of({ start: 0, end: code.length }), ...after].join('\n');
}

/** Returns whether an expression asks if there are no errors yet. */
function isFirst({ left, operator, right }) {
  return left?.name === 'vErrors' && operator === '===' && right.value === null;
}

/** Code with other text in place of some of its parts. */
class Rewriter {
  /** In their order, none inside another. */
  #edits = [];
  #code;

  constructor(code) {
    this.#code = code;
  }

  /** Puts text in place of a part, and of all replacements in it. */
  replace({ start, end }, text) {
    this.#edits.splice(this.#firstFrom(start), Infinity, { start, end, text });
  }

  /** Returns a part with its replacements. */
  of({ start, end }) {
    let found = '';
    let at = start;
    for (const edit of this.#edits.slice(this.#firstFrom(start))) {
      if (edit.end > end) break;
      found += this.#code.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return found + this.#code.slice(at, end);
  }

  #firstFrom(start) {
    let index = this.#edits.length;
    while (index > 0 && this.#edits[index - 1].start >= start) index -= 1;
    return index;
  }
}
