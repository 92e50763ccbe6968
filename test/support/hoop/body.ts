import { BindError, parseGoJson } from './go-json.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

export { BindError } from './go-json.ts';

/** A request body read field by field as Go's decoder fills a struct: keys without case, unknown ones ignored. */
export class Body {
  readonly #struct: string;
  readonly #fields: ReadonlyMap<string, Json>;

  constructor(struct: string, object: JsonObject) {
    this.#struct = struct;
    this.#fields = new Map(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]));
  }

  /** Returns the value of the field; null when it is absent or null. */
  raw(key: string): Json {
    return this.#fields.get(key) ?? null;
  }

  /** Returns whether the field is present, null or not. */
  has(key: string): boolean {
    return this.#fields.has(key);
  }

  string(key: string): string {
    return this.text(key) ?? '';
  }

  /** A string, or null where the struct has a pointer. */
  text(key: string): string | null {
    const value = this.raw(key);
    if (value === null || typeof value === 'string') return value;
    return this.#mismatch(key, value, 'string');
  }

  bool(key: string): boolean {
    const value = this.raw(key);
    if (value === null || typeof value === 'boolean') return value ?? false;
    return this.#mismatch(key, value, 'bool');
  }

  int(key: string): number | null {
    const value = this.raw(key);
    if (value === null) return null;
    if (typeof value !== 'number') return this.#mismatch(key, value, 'int');
    if (!Number.isInteger(value))
      throw new BindError(`json: cannot unmarshal number ${value} into Go struct field ${this.#struct}.${key} of type int`);
    return value;
  }

  float(key: string): number | null {
    const value = this.raw(key);
    if (value === null || typeof value === 'number') return value;
    return this.#mismatch(key, value, 'float64');
  }

  strings(key: string): readonly string[] | null {
    return this.list(key, '[]string')?.map((item) => (typeof item === 'string' ? item : this.#element(key, item, 'string'))) ?? null;
  }

  list(key: string, type: string): readonly Json[] | null {
    const value = this.raw(key);
    if (value === null) return null;
    return isList(value) ? value : this.#mismatch(key, value, type);
  }

  map(key: string): JsonObject | null {
    const value = this.raw(key);
    if (value === null) return null;
    return isObject(value) ? value : this.#mismatch(key, value, 'map[string]interface {}');
  }

  stringMap(key: string): Readonly<Record<string, string>> | null {
    const value = this.raw(key);
    if (value === null) return null;
    if (!isObject(value)) return this.#mismatch(key, value, 'map[string]string');
    const pairs = Object.entries(value).map(([name, item]) => [name, typeof item === 'string' ? item : this.#element(key, item, 'string')]);
    return Object.fromEntries(pairs);
  }

  /** A list of structs, each with the reader of its own fields. */
  structs(key: string, struct: string): readonly Body[] | null {
    return this.list(key, `[]openapi.${struct}`)?.map((item) => this.#inner(key, struct, item)) ?? null;
  }

  /** Refuses the body when required fields are empty, with one message in the order of the struct. */
  require(fields: Readonly<Record<string, unknown>>): void {
    const missing = Object.entries(fields).filter(([, value]) => value === null || value === undefined || value === '');
    const texts = missing.map(
      ([name]) => `Key: '${this.#struct}.${name}' Error:Field validation for '${name}' failed on the 'required' tag`,
    );
    if (texts.length > 0) throw new BindError(texts.join('\n'));
  }

  #inner(key: string, struct: string, value: Json): Body {
    if (value === null) return new Body(struct, {});
    return isObject(value) ? new Body(struct, value) : this.#mismatch(key, value, `openapi.${struct}`);
  }

  #element(key: string, value: Json, type: string): string {
    return value === null ? '' : this.#mismatch(key, value, type);
  }

  #mismatch(key: string, value: Json, type: string): never {
    throw new BindError(`json: cannot unmarshal ${kindOf(value)} into Go struct field ${this.#struct}.${key} of type ${type}`);
  }
}

/** The body of a request for a struct of this name. */
export function readBody(text: string, struct: string): Body {
  const value = parseGoJson(text);
  if (value === null) return new Body(struct, {});
  if (!isObject(value)) throw new BindError(`json: cannot unmarshal ${kindOf(value)} into Go value of type openapi.${struct}`);
  return new Body(struct, value);
}

function kindOf(value: Json): string {
  if (isList(value)) return 'array';
  if (isObject(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
