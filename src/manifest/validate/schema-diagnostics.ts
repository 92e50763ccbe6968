import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { suggest } from '../../model/suggest.ts';
import { didYouMean, nullKeyHint, partOf, placeName, quoted, sortOf, textOf, type Problem } from '../wording.ts';
import { allowedFields, annotation, fieldsOf, isMapOf, nodeAt } from './schema-nodes.ts';
import { wrongSecret } from '../secrets/secret-form.ts';
import type { SchemaError } from './validators.js';

type Place = {
  readonly schema: JsonObject;
  readonly tokens: readonly string[];
  readonly node: JsonObject;
  readonly value: Json | undefined;
};

/** Turns what the compiled schema found into one problem per place; below a secret nothing is quoted. */
export function schemaProblems(schema: JsonObject, value: Json, errors: readonly SchemaError[]): readonly Problem[] {
  const byPlace = new Map<string, { readonly rank: number; readonly problem: Problem }>();
  for (const error of errors) {
    if (/\/(anyOf|oneOf)\//.test(error.schemaPath) || error.keyword === 'if' || error.keyword === 'propertyNames') continue;
    const tokens = tokensOf(error.instancePath);
    const problem = secretProblem(schema, value, tokens) ?? problemOf(placeOf(schema, value, tokens), error);
    const place = `${problem.at}\n${error.keyword === 'required' ? problem.message : ''}`;
    const rank = ranks.indexOf(error.keyword);
    const known = byPlace.get(place);
    if (known === undefined || rank < known.rank) byPlace.set(place, { rank, problem });
  }
  return [...byPlace.values()].map(({ problem }) => problem);
}

/** Where one place breaks several rules, the foremost of these is told; a keyword that is not named wins. */
const ranks = ['additionalProperties', 'required', 'enum', 'const', 'type', 'minLength', 'pattern', 'maxLength', 'anyOf', 'oneOf'];

function placeOf(schema: JsonObject, value: Json, tokens: readonly string[]): Place {
  return { schema, tokens, node: nodeAt(schema, tokens) ?? {}, value: valueAt(value, tokens) };
}

/** The value at the tokens, by key and index. */
export function valueAt(value: Json | undefined, tokens: readonly string[]): Json | undefined {
  let below = value;
  for (const token of tokens) {
    if (Array.isArray(below)) below = below[Number(token)];
    else below = isObject(below) && Object.hasOwn(below, token) ? below[token] : undefined;
  }
  return below;
}

/** All that is wrong at or below one secret is one problem, told without its value. */
function secretProblem(schema: JsonObject, value: Json, tokens: readonly string[]): Problem | undefined {
  for (let length = 1; length <= tokens.length; length += 1) {
    const node = nodeAt(schema, tokens.slice(0, length));
    const mode = annotation(node, 'x-ostiary-secret');
    if (node === undefined || mode === undefined) continue;
    if (mode === 'base64' && length === tokens.length) return undefined;
    const place = tokens.slice(0, mode === 'base64' ? length + 1 : length);
    return wrongSecret(place, valueAt(value, place), mode === 'base64' ? 'base64' : 'plain', annotation(node, 'x-ostiary-hint'));
  }
  return undefined;
}

function problemOf(place: Place, error: SchemaError): Problem {
  if (error.propertyName !== undefined) return badKey(place, error.propertyName);
  const at = pointer(...place.tokens);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(place, textOf(error.params['additionalProperty']));
    case 'required':
      return missingField(place, textOf(error.params['missingProperty']));
    case 'type':
      return wrongType(place, error.params['type']);
    case 'enum':
      return notAllowed(place, error.params['allowedValues']);
    case 'const':
      return notAllowed(place, [error.params['allowedValue']]);
    case 'uniqueItems':
      return duplicateEntry(place, error.params['i'], error.params['j']);
    case 'anyOf':
      return {
        ...found('manifest/missing-field', at, `${nameOf(place)} lacks a field`, hintOf(place.node)),
        part: 'value',
      };
    default:
      return outOfBounds(place, error);
  }
}

function badKey(place: Place, key: string): Problem {
  const names = place.node['propertyNames'];
  const hint = annotation(isObject(names) ? names : undefined, 'x-ostiary-pattern-hint');
  const at = pointer(...place.tokens, key);
  return { ...found('manifest/pattern', at, `${quoted(key)} cannot be a key of ${nameOf(place)}`, allowed(hint)), part: 'key' };
}

function unknownField(place: Place, key: string): Problem {
  const at = pointer(...place.tokens, key);
  const field = fieldsOf(place.node)[key];
  const readOnly = annotation(isObject(field) ? field : undefined, 'x-ostiary-read-only');
  if (readOnly !== undefined) {
    return { ...found('manifest/read-only-field', at, `"${key}" is read-only`, `leave it out: ${readOnly}`), part: 'key' };
  }
  const hint = didYouMean(suggest(key, allowedFields(place.node))) ?? elsewhere(place, key);
  return { ...found('manifest/unknown-field', at, `${quoted(key)} is not a field of ${ownerOf(place)}`, hint), part: 'key' };
}

/** Says where else the field belongs, for one written a level too high or too low. */
function elsewhere(place: Place, key: string): string {
  if (key === '<<') return 'YAML 1.2 has no merge keys: write the fields out; an alias may stand for a whole value';
  for (const level of ['metadata', 'spec']) {
    const node = nodeAt(place.schema, [level]);
    if (place.tokens[0] !== level && node !== undefined && allowedFields(node).includes(key)) return `it belongs into ${level}`;
  }
  if (place.tokens[0] === 'spec' && allowedFields(place.schema).includes(key)) return 'it belongs beside spec';
  const names = allowedFields(place.node);
  const part = partOf(key, names);
  if (part !== undefined) return part;
  return names.length === 0 ? 'no field may stand here' : `the fields are ${names.join(', ')}`;
}

const skeletons: Readonly<Record<string, string>> = { metadata: 'add metadata: { name: … }', spec: 'add spec: {}' };

function missingField(place: Place, key: string): Problem {
  const field = fieldsOf(place.node)[key];
  const node = nodeAt(place.schema, [...place.tokens, key]) ?? (isObject(field) ? field : {});
  const choices = Array.isArray(node['enum']) ? `one of ${node['enum'].join(', ')}` : undefined;
  const hint = choices ?? (place.tokens.length === 0 ? skeletons[key] : undefined) ?? annotation(node, 'description');
  const message = `${ownerOf(place)} lacks the field "${key}"`;
  return { ...found('manifest/missing-field', pointer(...place.tokens), message, hint), part: place.tokens.length === 0 ? 'value' : 'key' };
}

function wrongType(place: Place, expected: unknown): Problem {
  const types = (Array.isArray(expected) ? expected : [expected]).map(String);
  const type = types.find((entry) => entry !== 'null') ?? 'null';
  const shown = place.node['x-ostiary-secret'] === undefined ? quoted(place.value) : sortOf(place.value);
  const at = pointer(...place.tokens);
  return found('manifest/wrong-type', at, `${nameOf(place)} is ${shown}, not ${typeNames[type] ?? type}`, typeHint(place, type));
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'a map',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function typeHint(place: Place, type: string): string | undefined {
  const { value, node } = place;
  if (value === null && place.tokens[0] === 'spec' && isMapOf(nodeAt(place.schema, place.tokens.slice(0, -1)))) return nullKeyHint;
  if (typeof value === 'number' && annotation(node, 'pattern')?.endsWith('%$') === true) {
    return `write a percentage: ${Math.round(value > 0 && value < 1 ? value * 100 : value)}%`;
  }
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (type === 'array' && scalar) return `write a list: [${quoted(value)}]`;
  if (type === 'string' && scalar) return `put it in quotes: "${value}"`;
  if ((type === 'integer' || type === 'number') && typeof value === 'string' && /^[\d.]+$/.test(value)) return 'take the quotes away';
  if (type === 'boolean' && typeof value === 'string') return 'write true or false, without quotes';
  return hintOf(node);
}

function notAllowed(place: Place, choices: unknown): Problem {
  const words = (Array.isArray(choices) ? choices : []).map(String);
  const at = pointer(...place.tokens);
  if (words.length === 1 && words[0] === '') {
    return found('manifest/not-allowed-value', at, `${nameOf(place)} must be empty here`, hintOf(place.node));
  }
  const near = typeof place.value === 'string' ? didYouMean(suggest(place.value, words)) : undefined;
  const message = `${quoted(place.value)} is not a value of ${placeName(place.tokens)}`;
  return found('manifest/not-allowed-value', at, message, near ?? `one of ${words.join(', ')}`);
}

function duplicateEntry(place: Place, left: unknown, right: unknown): Problem {
  const indexes = [Number(left), Number(right)].toSorted((one, other) => one - other);
  const second = String(indexes[1] ?? 0);
  const entry = valueAt(place.value, [second]);
  const at = pointer(...place.tokens, second);
  return found('manifest/duplicate-entry', at, `${quoted(entry)} stands twice in ${placeName(place.tokens)}`, 'leave one of them out');
}

function outOfBounds(place: Place, error: SchemaError): Problem {
  const at = pointer(...place.tokens);
  const limit = textOf(error.params['limit']);
  const subject = `${nameOf(place)} is ${quoted(place.value)}`;
  switch (error.keyword) {
    case 'pattern':
      return wrongPattern(place);
    case 'minimum':
      return found('manifest/out-of-range', at, `${subject}; the least is ${limit}`, hintOf(place.node));
    case 'maximum':
      return found('manifest/out-of-range', at, `${subject}; the most is ${limit}`, hintOf(place.node));
    case 'maxLength':
      return found('manifest/too-long', at, `${nameOf(place)} is longer than ${limit} characters`, 'shorten it');
    case 'maxItems':
      return found('manifest/not-allowed-value', at, `${nameOf(place)} must be empty here`, hintOf(place.node));
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return found('manifest/too-short', at, `${nameOf(place)} is empty`, hintOf(place.node));
    default:
      return found('manifest/wrong-type', at, `${subject}, which does not fit`, hintOf(place.node));
  }
}

function wrongPattern(place: Place): Problem {
  const { node, value, tokens } = place;
  const at = pointer(...tokens);
  const isPointer = node['pattern'] === '^/' && typeof value === 'string' && value !== '';
  const hint = isPointer ? `write /${value}` : allowed(annotation(node, 'x-ostiary-pattern-hint'));
  if (value === '') return found('manifest/too-short', at, `${nameOf(place)} is empty`, hint);
  return found('manifest/pattern', at, `${quoted(value)} is not allowed as ${placeName(tokens)}`, hint);
}

function found(code: Problem['code'], at: string, message: string, hint: string | undefined): Problem {
  return { code, severity: 'error', at, message, ...(hint === undefined || hint === '' ? {} : { hint }) };
}

function nameOf(place: Place): string {
  return place.tokens.length === 0 ? `the ${annotation(place.schema, 'title') ?? 'document'}` : `"${placeName(place.tokens)}"`;
}

/** Names the map that a field stands in: the kind for spec itself. */
function ownerOf(place: Place): string {
  const title = annotation(place.schema, 'title') ?? 'the document';
  if (place.tokens.length === 0 || (place.tokens.length === 1 && place.tokens[0] === 'spec')) return title;
  return placeName(place.tokens);
}

function hintOf(node: JsonObject): string | undefined {
  return annotation(node, 'x-ostiary-hint') ?? annotation(node, 'description');
}

function allowed(hint: string | undefined): string | undefined {
  return hint === undefined ? undefined : `allowed: ${hint}`;
}
