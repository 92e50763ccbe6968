import { isObject, type Json, type JsonObject } from '../../model/json.ts';

/** Describes the values of a schema in a few words; a named schema becomes a link. */
export function renderShape(schema: Json | undefined): string {
  if (!isObject(schema)) return 'anything';
  const reference = schema['$ref'];
  if (typeof reference === 'string') return linkTo(reference);
  for (const choice of ['oneOf', 'anyOf'] as const) {
    if (schema[choice] !== undefined && schema['properties'] === undefined) return listOf(schema[choice]).map(renderShape).join(', or ');
  }
  if ('const' in schema) return code(schema['const']);
  if (Array.isArray(schema['enum'])) return listOf(schema['enum']).map(code).join(' or ');
  const types = typeof schema['type'] === 'string' ? [schema['type']] : listOf(schema['type']).map(String);
  if (types.length === 0) return 'anything';
  return types.map((type) => shapeOf(type, schema)).join(' or ');
}

/** Lists the fields of an object schema, nested fields below their parents; empty when it has none. */
export function renderFields(schema: Json | undefined): string {
  const rows = rowsOf(schema, '');
  if (rows.length === 0) return '';
  return `<table><thead><tr><th>Field</th><th>Value</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function rowsOf(schema: Json | undefined, parent: string): readonly string[] {
  if (!isObject(schema)) return [];
  if (isObject(schema['items'])) return rowsOf(schema['items'], `${parent}[]`);
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = listOf(schema['required']);
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
    schema['uniqueItems'] === true ? 'no entry twice' : '',
    schema['pattern'] === undefined ? '' : `matches ${code(schema['pattern'])}`,
    schema['default'] === undefined ? '' : `left out: ${code(JSON.stringify(schema['default']))}`,
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

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Renders the Markdown that descriptions use (paragraphs, lists, code, bold) as HTML; everything else stays text. */
export function renderText(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => (block.startsWith('- ') ? `<ul>${renderEntries(block)}</ul>` : `<p>${renderLine(block)}</p>`))
    .join('\n');
}

/** Renders one line of it, for a table cell. */
export function renderLine(text: string): string {
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
