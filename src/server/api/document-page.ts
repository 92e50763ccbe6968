import { asObject, asArray, asText, isObject, type Json, type JsonObject } from '../../model/json.ts';

/** The only style sheet of the page, for light, dark and print. */
export const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404c); --faint: light-dark(#5a6372, #9aa4b5);
  --back: light-dark(#f5f6f8, #20242c); --link: light-dark(#0b57c2, #86b6ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; background: light-dark(#fff, #16191f); color: light-dark(#1b1f27, #e3e7ee);
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav ul { list-style: none; margin: .25rem 0 1rem; padding: 0; }
nav li { margin: .2rem 0; }
main { padding: 1.5rem 2.5rem 4rem; max-width: 68rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { margin: 2.5rem 0 .25rem; font-size: 1.05rem; }
h4 { margin: 1.25rem 0 .25rem; font-size: .9rem; color: var(--faint); }
code { font: .875em ui-monospace, monospace; background: var(--back); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
.route { font: 600 .95rem ui-monospace, monospace; }
.method { display: inline-block; min-width: 4.2em; text-transform: uppercase; color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
td:first-child { width: 28%; }
td:nth-child(2):not(:last-child) { width: 24%; }
.required, .rules, .open { color: var(--faint); font-size: .8rem; }
@media (max-width: 55rem) { body { display: block; } nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem; } table { display: block; overflow-x: auto; } }
@media print { body { display: block; font-size: 10pt; } nav { display: none; } main { max-width: none; padding: 0; }
  h2 { break-before: page; } h3, h4 { break-after: avoid; } tr { break-inside: avoid; } }
`;

/** Renders the document as a page without scripts or external assets. */
export function renderPage(document: JsonObject): string {
  const info = asObject(document['info']);
  const tags = asArray(document['tags']).filter((tag) => isObject(tag));
  const operations = operationsOf(document);
  const schemas = Object.entries(asObject(asObject(document['components'])['schemas']));
  const title = `${asText(info['title'])} ${asText(info['version'])}`;
  const linked = schemas.map(([name]) => `<li><a href="#schema-${escapeText(name)}">${escapeText(name)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<nav aria-label="Contents">
<strong>${escapeText(title)}</strong>
<ul><li><a href="openapi.json">openapi.json</a></li></ul>
${tags.map((tag) => renderContents(asText(tag['name']), operations)).join('\n')}
<strong>Schemas</strong><ul>${linked.join('')}</ul>
</nav>
<main>
<h1>${escapeText(title)}</h1>
${renderText(asText(info['description']))}
${tags.map((tag) => renderSection(tag, operations)).join('\n')}
<h2 id="refusals">Errors</h2>
${renderErrors(asObject(asObject(document['components'])['responses']))}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => renderSchema(name, schema)).join('\n')}
</main>
</body>
</html>
`;
}

type ServedOperation = { readonly method: string; readonly path: string; readonly operation: JsonObject };

function operationsOf(document: JsonObject): readonly ServedOperation[] {
  return Object.entries(asObject(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).flatMap(([method, operation]) => (isObject(operation) ? [{ method, path, operation }] : [])),
  );
}

function ofTag(tag: string, operations: readonly ServedOperation[]): readonly ServedOperation[] {
  return operations.filter(({ operation }) => asArray(operation['tags']).includes(tag));
}

function renderContents(tag: string, operations: readonly ServedOperation[]): string {
  const entries = ofTag(tag, operations).map(
    ({ operation }) =>
      `<li><a href="#${escapeText(asText(operation['operationId']))}">${escapeText(asText(operation['summary']))}</a></li>`,
  );
  return `<strong>${escapeText(tag)}</strong><ul>${entries.join('')}</ul>`;
}

function renderSection(tag: JsonObject, operations: readonly ServedOperation[]): string {
  const name = asText(tag['name']);
  const articles = ofTag(name, operations).map((one) => renderOperation(one));
  return `<section><h2>${escapeText(name)}</h2>\n${renderText(asText(tag['description']))}\n${articles.join('\n')}</section>`;
}

function renderOperation({ method, path, operation }: ServedOperation): string {
  const parameters = asArray(operation['parameters']).filter((parameter) => isObject(parameter));
  const body = schemaOf(asObject(operation['requestBody']));
  const needs = asArray(operation['security']).length > 0 ? 'requires an agent token' : 'requires no key';
  const open = operation['security'] === undefined ? '' : ` <span class="open">${needs}</span>`;
  const description = asText(operation['description']);
  return `<article id="${escapeText(asText(operation['operationId']))}">
<h3>${escapeText(asText(operation['summary']))}</h3>
<div class="route"><span class="method">${method}</span> ${escapeText(path)}${open}</div>
${description === '' ? '' : renderText(description)}
${parameters.length === 0 ? '' : renderParameters(parameters)}
${body === undefined ? '' : `<h4>Body</h4><p>${renderShape(body)}</p>`}
<h4>Responses</h4>
${renderAnswers(asObject(operation['responses']))}
</article>`;
}

function renderParameters(parameters: readonly JsonObject[]): string {
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeText(asText(parameter['name']))}</code> <span class="required">${escapeText(asText(parameter['in']))}</span></td>` +
      `<td>${renderShape(parameter['schema'])}</td><td>${renderLine(asText(parameter['description']))}</td></tr>`,
  );
  return `<h4>Parameters</h4><table><tbody>${rows.join('')}</tbody></table>`;
}

/** Renders the responses of an operation; errors mean the same everywhere, so only their numbers appear. */
function renderAnswers(responses: JsonObject): string {
  const answers = Object.entries(responses).flatMap(([status, answer]) =>
    isObject(answer) && answer['$ref'] === undefined ? [{ status, answer }] : [],
  );
  const refusals = Object.keys(responses).filter((status) => !answers.some((answer) => answer.status === status));
  const rows = answers.map(({ status, answer }) => {
    const schema = schemaOf(answer);
    const shape = schema === undefined ? 'no body' : renderShape(schema);
    return `<tr><td><code>${status}</code></td><td>${shape}</td><td>${renderLine(asText(answer['description']))}</td></tr>`;
  });
  const refused = refusals.map((status) => `<code>${status}</code>`).join(' ');
  const last =
    refusals.length === 0
      ? ''
      : `<tr><td>${refused}</td><td><a href="#schema-Refusal">Refusal</a></td><td><a href="#refusals">all errors</a></td></tr>`;
  return `<table><tbody>${rows.join('')}${last}</tbody></table>`;
}

function renderErrors(responses: JsonObject): string {
  const rows = Object.entries(responses).map(([name, answer]) => {
    const description = isObject(answer) ? asText(answer['description']) : '';
    return `<tr><td><code>${escapeText(name.replace('Refusal', ''))}</code></td><td>${renderLine(description)}</td></tr>`;
  });
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

function renderSchema(name: string, schema: Json): string {
  const parts = isObject(schema) ? Object.entries(asObject(schema['$defs'])) : [];
  const inner = parts.map(([part, nested]) => `<h4>${escapeText(`${name} ${part}`)}</h4>${renderFields(nested)}`);
  const description = isObject(schema) ? asText(schema['description']) : '';
  return `<article id="schema-${escapeText(name)}"><h3>${escapeText(name)}</h3>
${description === '' ? '' : renderText(description)}${renderFields(schema) || `<p>${renderShape(schema)}</p>`}${inner.join('')}</article>`;
}

function schemaOf(holder: JsonObject): JsonObject | undefined {
  const [media] = Object.values(asObject(holder['content']));
  return isObject(media) && isObject(media['schema']) ? media['schema'] : undefined;
}

/** Describes the values of a schema in a few words; a named schema becomes a link. */
function renderShape(schema: Json | undefined): string {
  if (!isObject(schema)) return 'anything';
  const reference = schema['$ref'];
  if (typeof reference === 'string') return linkTo(reference);
  for (const choice of ['oneOf', 'anyOf'] as const) {
    if (schema[choice] !== undefined && schema['properties'] === undefined) return asArray(schema[choice]).map(renderShape).join(', or ');
  }
  if ('const' in schema) return code(schema['const']);
  if (Array.isArray(schema['enum'])) return asArray(schema['enum']).map(code).join(' or ');
  const types = typeof schema['type'] === 'string' ? [schema['type']] : asArray(schema['type']).map(String);
  if (types.length === 0) return 'anything';
  return types.map((type) => shapeOf(type, schema)).join(' or ');
}

/** Lists the fields of an object schema, nested fields below their parents; empty when it has none. */
function renderFields(schema: Json | undefined): string {
  const rows = rowsOf(schema, '');
  if (rows.length === 0) return '';
  return `<table><thead><tr><th>Field</th><th>Value</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function rowsOf(schema: Json | undefined, parent: string): readonly string[] {
  if (!isObject(schema)) return [];
  if (isObject(schema['items'])) return rowsOf(schema['items'], `${parent}[]`);
  const properties = asObject(schema['properties']);
  const required = asArray(schema['required']);
  // Where every field is required, as in responses, the word would be noise.
  const hasOptional = Object.keys(properties).some((name) => !required.includes(name));
  return Object.entries(properties).flatMap(([name, property]) => {
    if (isObject(property) && property['readOnly'] === true) return [];
    const path = parent === '' ? name : `${parent}.${name}`;
    const mark = hasOptional && required.includes(name) ? ' <span class="required">required</span>' : '';
    const meaning = isObject(property) ? meaningOf(property) : '';
    const inner = rowsOf(property, path);
    const shape = renderShape(inner.length === 0 ? property : withoutFields(property));
    return [`<tr><td><code>${escapeText(path)}</code>${mark}</td><td>${shape}</td><td>${meaning}</td></tr>`, ...inner];
  });
}

/** Drops nested fields, which have rows of their own. */
function withoutFields(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const { properties: _properties, items, ...rest } = schema;
  return { ...rest, ...(items === undefined ? {} : { items: withoutFields(items) }) };
}

function meaningOf(schema: JsonObject): string {
  const text = typeof schema['description'] === 'string' ? renderLine(schema['description']) : '';
  const rules = [
    schema['minLength'] === 1 && schema['maxLength'] === undefined
      ? 'not empty'
      : range(schema['minLength'], schema['maxLength'], 'characters'),
    range(schema['minItems'], schema['maxItems'], 'entries'),
    range(schema['minimum'], schema['maximum'], ''),
    schema['uniqueItems'] === true ? 'unique entries' : '',
    schema['pattern'] === undefined ? '' : `matches ${code(schema['pattern'])}`,
    schema['default'] === undefined ? '' : `default: ${code(JSON.stringify(schema['default']))}`,
    schema['deprecated'] === true ? 'deprecated' : '',
  ].filter((rule) => rule !== '');
  return rules.length === 0 ? text : `${text} <span class="rules">${rules.join('; ')}</span>`;
}

function shapeOf(type: string, schema: JsonObject): string {
  if (type === 'array') return `list of ${renderShape(schema['items'])}`;
  const values = schema['additionalProperties'];
  const { properties } = schema;
  if (type === 'object' && isObject(properties)) {
    return `{ ${Object.entries(properties)
      .map(([name, property]) => `${code(name)}: ${renderShape(property)}`)
      .join(', ')} }`;
  }
  if (type === 'object' && isObject(values)) return `map of ${renderShape(values)}`;
  return typeof schema['format'] === 'string' && type === 'string' ? escapeText(schema['format']) : escapeText(type);
}

function linkTo(reference: string): string {
  const parts = reference.split('/');
  const name = parts[3] ?? '';
  const inner = parts.slice(5).join('.');
  return `<a href="#schema-${escapeText(name)}">${escapeText(inner === '' ? name : `${name} ${inner}`)}</a>`;
}

function range(least: Json | undefined, most: Json | undefined, unit: string): string {
  if (least === undefined) return most === undefined ? '' : `at most ${code(most)} ${unit}`.trim();
  return most === undefined ? `at least ${code(least)} ${unit}`.trim() : `${code(least)} to ${code(most)} ${unit}`.trim();
}

function code(value: Json): string {
  return `<code>${escapeText(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and attributes. */
function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Renders the Markdown that descriptions use (paragraphs, lists, code, bold) as HTML; everything else stays text. */
function renderText(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => (block.startsWith('- ') ? `<ul>${renderEntries(block)}</ul>` : `<p>${renderLine(block)}</p>`))
    .join('\n');
}

/** Renders one line of it, for a table cell. */
function renderLine(text: string): string {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .map((part) => {
      if (/^`.+`$/s.test(part)) return `<code>${escapeText(part.slice(1, -1))}</code>`;
      return /^\*\*.+\*\*$/s.test(part) ? `<strong>${escapeText(part.slice(2, -2))}</strong>` : escapeText(part);
    })
    .join('');
}

function renderEntries(block: string): string {
  const entries = block.split(/^- /m).filter((entry) => entry !== '');
  return entries.map((entry) => `<li>${renderLine(entry.trim())}</li>`).join('');
}
