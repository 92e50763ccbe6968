import { Buffer } from 'node:buffer';
import { hasField, type DialectFields, type WriteRequest } from '../../src/model/gateway.ts';
import { equal, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { FieldRule, Kind } from '../../src/model/kind.ts';
import { normalizeObject } from '../../src/model/spec/normalize.ts';
import { pointer, type Pointer } from '../../src/model/pointer.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import { seal, type Secret } from '../../src/model/secret.ts';

/** A schema's example as a write: under another name, without edges to objects, served by an agent that exists, every secret with some value. */
export function exampleWrites(kind: Kind, speech: DialectFields): readonly WriteRequest[] {
  const examples: Json = kind.schema['examples'] ?? [];
  if (!Array.isArray(examples) || (kind.dialect ?? speech.dialect) !== speech.dialect) return [];
  return examples
    .filter((example: Json) => isObject(example))
    .map((example: JsonObject, index) => exampleWrite(kind, example, { index, speech }));
}

function exampleWrite(
  kind: Kind,
  example: JsonObject,
  { index, speech }: { readonly index: number; readonly speech: DialectFields },
): WriteRequest {
  const stated = isObject(example['spec']) ? example['spec'] : {};
  const url = stated['git_url'];
  const given: JsonObject = {
    ...stated,
    ...(typeof url === 'string' ? { git_url: `${url.replace(/\.git$/, '')}-example-${index}.git` } : {}),
    ...(stated['agent_id'] === undefined ? {} : { agent_id: 'prod-agent' }),
  };
  const name = `example-${index}-of-${kind.name}`;
  return {
    id: resourceId(kind.name, kind.identity(name, given)),
    spec: wholeSpec(kind, name, given, speech),
    secrets: secretsOf(kind, stated),
    dropped: [],
    edges: Object.fromEntries(kind.fields.filter((field) => field.edge !== undefined).map((field) => [field.name, endsOf(field)])),
  };
}

/** Names need no object, and a rule that names none may be refused. */
function endsOf({ byName, refers = '' }: FieldRule): readonly ResourceId[] {
  return byName === true ? [resourceId(refers, 'example')] : [];
}

/** The spec as a planner would complete it: every compared field that the gateway has, with its value. */
export function wholeSpec(kind: Kind, name: string, stated: JsonObject, speech: DialectFields): JsonObject {
  const fields = kind.fields.filter((field) => {
    const compared = field.edge === undefined && field.secret === undefined && field.manifestOnly !== true;
    return compared && hasField(speech, kind.name, field);
  });
  const known = fields.flatMap((field) => (stated[field.name] === undefined ? [] : [[field.name, stated[field.name] ?? null] as const]));
  const spec: Record<string, Json> = { ...normalizeObject(fields, { ...kind.createDefaults(name), ...Object.fromEntries(known) }) };
  for (const [field, value] of Object.entries(kind.derived(spec))) {
    const rule = fields.find((one) => one.name === field);
    if (rule !== undefined && equal(spec[field], rule.empty)) spec[field] = value;
  }
  return spec;
}

function secretsOf(kind: Kind, stated: JsonObject): Readonly<Record<Pointer, Secret>> {
  const result: Record<Pointer, Secret> = {};
  for (const { name, secret } of kind.fields) {
    const value = stated[name];
    if (secret === 'plain' && value !== undefined) result[pointer(name)] = seal('inline', `value of ${name}`);
    if (secret !== 'base64' || !isObject(value)) continue;
    for (const [key, one] of Object.entries(value)) {
      const text = typeof one === 'string' ? one : Buffer.from(`value of ${key}`).toString('base64');
      result[pointer(name, key)] = seal('inline', text);
    }
  }
  return result;
}
