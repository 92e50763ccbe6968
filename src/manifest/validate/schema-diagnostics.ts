import { describeInvalidSecret, isSecretName } from '../secrets/read-secret.ts';
import { type DocumentDiagnostic, documentError, didYouMean } from '../../model/diagnostic.ts';
import { asObject, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { tokensOf } from '../../model/pointer.ts';
import { describeType, formatPlace, nullKeyHint, quoteValue, readValueAt, suggestPartialMatch, toText } from '../json-values.ts';
import type { SchemaError } from './validators.ts';
import { fieldNodes, findNode, isOpenMap, readAnnotation, resolveReference } from '../schema-nodes.ts';

type SchemaPlace = {
  readonly schema: JsonObject;
  readonly tokens: readonly string[];
  readonly node: JsonObject;
  readonly value: Json | undefined;
};

/** Converts the errors of the compiled schema to one diagnostic per place. Values at or below a secret are not quoted. */
export function describeSchemaErrors(schema: JsonObject, value: Json, errors: readonly SchemaError[]): readonly DocumentDiagnostic[] {
  const byPlace = new Map<string, { readonly rank: number; readonly problem: DocumentDiagnostic }>();
  const inside = errorsInside(errors);
  for (const error of errors) {
    if (error.schemaPath !== undefined || error.keyword === 'if' || error.keyword === 'propertyNames') continue;
    const tokens = tokensOf(error.instancePath);
    const secret = describeSecretError(schema, value, tokens);
    const found = findPlace(schema, value, tokens);
    const isChoice = error.keyword === 'anyOf' && secret === undefined;
    const describeWithin = (one: SchemaError): DocumentDiagnostic =>
      describeError(findPlace(schema, value, tokensOf(one.instancePath)), one);
    const problems = isChoice
      ? describeChoice(found, inside.get(error.instancePath) ?? [], describeWithin)
      : [secret ?? describeError(found, error)];
    for (const problem of problems) {
      const place = `${problem.pointer}\n${error.keyword === 'required' ? problem.message : ''}`;
      const rank = ranks.indexOf(error.keyword);
      const known = byPlace.get(place);
      if (known === undefined || rank < known.rank) byPlace.set(place, { rank, problem });
    }
  }
  return [...byPlace.values()].map(({ problem }) => problem);
}

/** Returns the errors below each value that no form of a choice allows, by the pointer to that value. */
function errorsInside(errors: readonly SchemaError[]): ReadonlyMap<string, readonly SchemaError[]> {
  const inside = new Map<string, SchemaError[]>();
  for (const { keyword, instancePath } of errors) if (keyword === 'anyOf') inside.set(instancePath, []);
  if (inside.size === 0) return inside;
  for (const error of errors) {
    const path = error.instancePath;
    for (let end = path.lastIndexOf('/'); end > -1; end = path.lastIndexOf('/', end - 1)) {
      inside.get(path.slice(0, end))?.push(error);
      if (end === 0) break;
    }
  }
  return inside;
}

/** The order in which errors at one place are preferred; a keyword that is not listed comes first. */
const ranks = ['additionalProperties', 'required', 'enum', 'const', 'type', 'minLength', 'pattern', 'maxLength', 'anyOf', 'oneOf'];

function findPlace(schema: JsonObject, value: Json, tokens: readonly string[]): SchemaPlace {
  return { schema, tokens, node: findNode(schema, tokens) ?? {}, value: readValueAt(value, tokens) };
}

/** Describes all errors at or below one secret as one diagnostic without its value. */
function describeSecretError(schema: JsonObject, value: Json, tokens: readonly string[]): DocumentDiagnostic | undefined {
  for (let length = 1; length <= tokens.length; length += 1) {
    const node = findNode(schema, tokens.slice(0, length));
    const mode = readAnnotation(node, 'x-ostiary-secret');
    if (node === undefined || mode === undefined || mode === 'text') continue;
    if (mode === 'base64' && length === tokens.length) return undefined;
    const place = tokens.slice(0, mode === 'base64' ? length + 1 : length);
    return describeInvalidSecret(
      place,
      readValueAt(value, place),
      mode === 'base64' ? 'base64' : 'plain',
      readAnnotation(node, 'x-ostiary-hint'),
    );
  }
  return undefined;
}

function describeError(place: SchemaPlace, error: SchemaError): DocumentDiagnostic {
  if (error.propertyName !== undefined) return badKey(place, error.propertyName);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(place, toText(error.params['additionalProperty']));
    case 'required':
      return missingField(place, toText(error.params['missingProperty']));
    case 'type':
      return wrongType(place, error.params['type']);
    case 'enum':
      return notAllowed(place, error.params['allowedValues']);
    case 'const':
      return notAllowed(place, [error.params['allowedValue']]);
    case 'uniqueItems':
      return duplicateEntry(place, error.params['i'], error.params['j']);
    default:
      return outOfBounds(place, error);
  }
}

/** Describes a value that none of several forms allows, by the form that it was meant to have; `within` are the errors inside the value. */
function describeChoice(
  place: SchemaPlace,
  within: readonly SchemaError[],
  describeWithin: (error: SchemaError) => DocumentDiagnostic,
): readonly DocumentDiagnostic[] {
  const { schema, tokens, node, value } = place;
  const forms = formsOf(schema, node);
  if (forms.every((form) => form['type'] === undefined && form['enum'] === undefined))
    return [
      {
        ...documentError('manifest/missing-field', place.tokens, `${placeName(place)}: missing required field`, hintOf(node)),
        part: 'value',
      },
    ];
  const types = forms.map((form) => form['type']);
  const map = forms.find((form) => form['type'] === 'object');
  if (isObject(value) && map !== undefined) {
    const fields = Object.keys(fieldNodes(map));
    const required = Array.isArray(map['required']) ? map['required'].map(toText) : [];
    const meant = { ...place, node: map };
    const found = [
      ...Object.keys(value).flatMap((key) => (fields.includes(key) ? [] : [unknownField(meant, key)])),
      ...required.flatMap((key) => (key in value ? [] : [missingField(meant, key)])),
    ];
    if (found.length > 0) return found;
    if (within.some(({ schemaPath, keyword }) => schemaPath === undefined && keyword !== 'if')) return [];
    if (within.length > 0) return within.map(describeWithin);
  }
  if (Array.isArray(value) && types.includes('array')) {
    const entry = (index: number): SchemaPlace => ({ schema, node: {}, tokens: [...tokens, String(index)], value: value[index] });
    const firstOf = new Map(value.map((one, index) => [one, index] as const).toReversed());
    const found = value.flatMap((one, index): readonly DocumentDiagnostic[] => {
      if (typeof one !== 'string') return [wrongType(entry(index), 'string')];
      const first = firstOf.get(one) ?? index;
      if (first < index) return [duplicateEntry(place, first, index)];
      return one === '' ? [emptyText(entry(index))] : [];
    });
    if (found.length > 0) return found;
  }
  if (value === '' || (Array.isArray(value) && value.length === 0)) return [emptyText(place)];
  if (types.includes('string') && (typeof value === 'number' || typeof value === 'boolean')) return [wrongType(place, 'string')];
  const words = forms.flatMap((form) => (Array.isArray(form['enum']) ? form['enum'] : []));
  if (words.length === 0)
    return [
      documentError('manifest/wrong-type', place.tokens, `invalid value ${quoteValue(value)} of ${formatPlace(tokens)}`, hintOf(node)),
    ];
  const maps = map === undefined ? [] : [`a map with ${Object.keys(fieldNodes(map)).join(', ')}`];
  return [notAllowed(place, [...words, ...maps])];
}

function emptyText(place: SchemaPlace): DocumentDiagnostic {
  const hint = Array.isArray(place.value) ? 'add at least one entry' : hintOf(place.node);
  return documentError('manifest/too-short', place.tokens, `${placeName(place)} is empty`, hint);
}

/** Lists the forms of a value, those of nested choices included. */
function formsOf(schema: JsonObject, node: JsonObject): readonly JsonObject[] {
  const forms = node['anyOf'];
  if (!Array.isArray(forms)) return [node];
  return forms.flatMap((form) => (isObject(form) ? formsOf(schema, resolveReference(schema, form)) : []));
}

function badKey(place: SchemaPlace, key: string): DocumentDiagnostic {
  const names = place.node['propertyNames'];
  const hint = readAnnotation(isObject(names) ? names : undefined, 'x-ostiary-pattern-hint');
  const tokens = [...place.tokens, key];
  const isShown = readAnnotation(place.node, 'x-ostiary-secret') === undefined || isSecretName(key);
  return {
    ...documentError('manifest/pattern', tokens, `invalid key ${isShown ? quoteValue(key) : ''} in ${placeName(place)}`, allowedHint(hint)),
    part: 'key',
  };
}

function unknownField(place: SchemaPlace, key: string): DocumentDiagnostic {
  const tokens = [...place.tokens, key];
  const field = fieldNodes(place.node)[key];
  const readOnly = readAnnotation(isObject(field) ? field : undefined, 'x-ostiary-read-only');
  if (readOnly !== undefined) {
    return { ...documentError('manifest/read-only-field', tokens, `"${key}" is read-only`, `remove it: ${readOnly}`), part: 'key' };
  }
  const noDefault = readAnnotation(isObject(field) ? field : undefined, 'x-ostiary-no-default');
  if (noDefault !== undefined)
    return { ...documentError('defaults/secret', tokens, `"${key}" cannot have a default`, noDefault), part: 'key' };
  const hint = didYouMean(key, listAllowedFields(place.node)) ?? suggestLevel(place, key);
  return { ...documentError('manifest/unknown-field', tokens, `unknown field ${quoteValue(key)} in ${ownerOf(place)}`, hint), part: 'key' };
}

/** Suggests the level of a field that is written one level too high or too low. */
function suggestLevel(place: SchemaPlace, key: string): string {
  if (key === '<<') return 'YAML 1.2 has no merge keys: write out the fields, or use an alias for a whole value';
  for (const level of ['metadata', 'spec']) {
    const node = findNode(place.schema, [level]);
    if (place.tokens[0] !== level && node !== undefined && listAllowedFields(node).includes(key)) return `move it to ${level}`;
  }
  if (place.tokens[0] === 'spec' && listAllowedFields(place.schema).includes(key)) return 'move it to the same level as spec';
  const names = listAllowedFields(place.node);
  const part = suggestPartialMatch(key, names);
  if (part !== undefined) return part;
  return names.length === 0 ? 'no fields are allowed here' : `fields: ${names.join(', ')}`;
}

const skeletons: Readonly<Record<string, string>> = { metadata: 'add metadata: { name: … }', spec: 'add spec: {}' };

function missingField(place: SchemaPlace, key: string): DocumentDiagnostic {
  const field = fieldNodes(place.node)[key];
  const node = findNode(place.schema, [...place.tokens, key]) ?? asObject(field);
  const choices = Array.isArray(node['enum']) ? `expected one of: ${node['enum'].join(', ')}` : undefined;
  const hint = choices ?? (place.tokens.length === 0 ? skeletons[key] : undefined) ?? readAnnotation(node, 'description');
  const message = `missing required field "${key}" in ${ownerOf(place)}`;
  return { ...documentError('manifest/missing-field', [...place.tokens, key], message, hint), part: 'parent' };
}

function wrongType(place: SchemaPlace, expected: unknown): DocumentDiagnostic {
  const types = (Array.isArray(expected) ? expected : [expected]).map(String);
  const type = types.find((entry) => entry !== 'null') ?? 'null';
  const shown = place.node['x-ostiary-secret'] === undefined ? quoteValue(place.value) : describeType(place.value);
  const hint = typeHint(place, type);
  const error = documentError('manifest/wrong-type', place.tokens, `${placeName(place)} is ${shown}, not ${typeNames[type] ?? type}`, hint);
  if (place.node['x-ostiary-secret'] !== undefined) return error;
  if (hint === quotesHints.string) return { ...error, quotes: 'string' };
  return hint === quotesHints.array ? { ...error, quotes: 'array' } : error;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'a list',
  object: 'a map',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
};

/** The hints for a number or a boolean in place of a text or of texts; they get the text of the source. */
const quotesHints = { string: 'put it in quotes', array: 'write a list of strings in quotes' } as const;

function typeHint(place: SchemaPlace, type: string): string | undefined {
  const { value, node } = place;
  if (value === null && place.tokens[0] === 'spec' && isOpenMap(findNode(place.schema, place.tokens.slice(0, -1)))) return nullKeyHint;
  if (typeof value === 'number' && readAnnotation(node, 'pattern')?.endsWith('%$') === true) {
    return `write a percentage: ${Math.round(value > 0 && value < 1 ? value * 100 : value)}%`;
  }
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (type === 'array' && scalar) return typeof value === 'string' ? `write a list: [${quoteValue(value)}]` : quotesHints.array;
  if (type === 'string' && scalar) return quotesHints.string;
  if ((type === 'integer' || type === 'number') && typeof value === 'string' && /^[\d.]+$/.test(value))
    return Number(value) <= Number.MAX_SAFE_INTEGER ? 'remove the quotes' : `write a number of at most ${Number.MAX_SAFE_INTEGER}`;
  if (type === 'boolean' && typeof value === 'string') return 'write true or false, without quotes';
  return hintOf(node);
}

function notAllowed(place: SchemaPlace, choices: unknown): DocumentDiagnostic {
  const words = (Array.isArray(choices) ? choices : []).map(String);
  if (words.length === 1 && words[0] === '') {
    return documentError('manifest/not-allowed-value', place.tokens, `${placeName(place)} must be empty here`, hintOf(place.node));
  }
  const near = typeof place.value === 'string' ? didYouMean(place.value, words) : undefined;
  const message = `invalid value ${quoteValue(place.value)} of ${formatPlace(place.tokens)}`;
  return documentError('manifest/not-allowed-value', place.tokens, message, near ?? `expected one of: ${words.join(', ')}`);
}

function duplicateEntry(place: SchemaPlace, left: unknown, right: unknown): DocumentDiagnostic {
  const indexes = [Number(left), Number(right)].toSorted((one, other) => one - other);
  const second = String(indexes[1] ?? 0);
  const entry = readValueAt(place.value, [second]);
  return documentError(
    'manifest/duplicate-entry',
    [...place.tokens, second],
    `duplicate value ${quoteValue(entry)} in ${formatPlace(place.tokens)}`,
    'remove one of them',
  );
}

function outOfBounds(place: SchemaPlace, error: SchemaError): DocumentDiagnostic {
  const limit = toText(error.params['limit']);
  const subject = `${placeName(place)} is ${quoteValue(place.value)}`;
  switch (error.keyword) {
    case 'pattern':
      return wrongPattern(place);
    case 'minimum':
      return documentError('manifest/out-of-range', place.tokens, `${subject}, but must be at least ${limit}`, hintOf(place.node));
    case 'maximum':
      return documentError('manifest/out-of-range', place.tokens, `${subject}, but must be at most ${limit}`, hintOf(place.node));
    case 'maxLength':
      return documentError('manifest/too-long', place.tokens, `${placeName(place)} is longer than ${limit} characters`, 'shorten it');
    case 'maxItems':
      return documentError('manifest/not-allowed-value', place.tokens, `${placeName(place)} must be empty here`, hintOf(place.node));
    case 'minItems':
    case 'minProperties':
      return documentError('manifest/too-short', place.tokens, `${placeName(place)} is empty`, 'add at least one entry');
    case 'minLength':
      return documentError('manifest/too-short', place.tokens, `${placeName(place)} is empty`, hintOf(place.node));
    default:
      return documentError('manifest/wrong-type', place.tokens, `${subject}, which is invalid`, hintOf(place.node));
  }
}

function wrongPattern(place: SchemaPlace): DocumentDiagnostic {
  const { node, value, tokens } = place;
  const isPointer = node['pattern'] === '^/' && typeof value === 'string' && value !== '';
  const hint = isPointer ? `write /${value}` : allowedHint(readAnnotation(node, 'x-ostiary-pattern-hint'));
  if (value === '') return documentError('manifest/too-short', place.tokens, `${placeName(place)} is empty`, hint);
  if (node['x-ostiary-secret'] !== undefined)
    return documentError('manifest/pattern', place.tokens, `invalid value of ${formatPlace(tokens)}`, hint);
  return documentError('manifest/pattern', place.tokens, `invalid value ${quoteValue(value)} of ${formatPlace(tokens)}`, hint);
}

function placeName(place: SchemaPlace): string {
  return place.tokens.length === 0 ? `the ${readAnnotation(place.schema, 'title') ?? 'document'}` : `"${formatPlace(place.tokens)}"`;
}

/** Returns the name of the map that contains a field; for spec itself, the kind. */
function ownerOf(place: SchemaPlace): string {
  const title = readAnnotation(place.schema, 'title') ?? 'the document';
  if (place.tokens.length === 0 || (place.tokens.length === 1 && place.tokens[0] === 'spec')) return title;
  return formatPlace(place.tokens);
}

function hintOf(node: JsonObject): string | undefined {
  return readAnnotation(node, 'x-ostiary-hint') ?? readAnnotation(node, 'description');
}

function allowedHint(hint: string | undefined): string | undefined {
  return hint === undefined ? undefined : `allowed: ${hint}`;
}

// One file may have thousands of unknown fields.
const allowedFields = new WeakMap<JsonObject, readonly string[]>();

/** Lists the names of the fields that a user may write. */
function listAllowedFields(node: JsonObject): readonly string[] {
  const fields = fieldNodes(node);
  const known = allowedFields.get(fields);
  if (known !== undefined) return known;
  const names = Object.entries(fields).flatMap(([name, field]) => (isObject(field) && 'not' in field ? [] : [name]));
  allowedFields.set(fields, names);
  return names;
}
