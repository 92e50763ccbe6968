import { isObject, type Json } from '../../model/json.ts';

const limitingKeywords = ['pattern', 'enum', 'const', 'format'];

/** Says of every text in the schema of a body what else is said in words alone: it holds no U+0000. */
export function forbidNul(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((entry: Json) => forbidNul(entry));
  if (!isObject(schema)) return schema;
  const node = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forbidNul(value)]));
  const isText = [schema['type']].flat().includes('string') && !limitingKeywords.some((keyword) => keyword in schema);
  return isText ? { ...node, pattern: '^[^\\u0000]*$' } : node;
}

/** Leaves surrogates out of patterns: they are no characters to engines that are not written in JavaScript. */
export function withoutSurrogates(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((entry: Json) => withoutSurrogates(entry));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    return [key, key === 'pattern' && typeof value === 'string' ? value.replace('\\ud800-\\udfff', '') : withoutSurrogates(value)];
  });
  return Object.fromEntries(entries);
}
