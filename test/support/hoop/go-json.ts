import type { Json } from './json.ts';

/** A body that Go's decoder refuses, in its words. */
export class BindError extends Error {}

const literals: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The first JSON value of a text; what follows it is ignored, as Go's stream decoder does. */
export function parseGoJson(text: string): Json {
  const reader = new Reader(text);
  reader.space();
  if (reader.ended()) throw new BindError('EOF');
  return reader.value();
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  ended(): boolean {
    return this.#at >= this.#text.length;
  }

  space(): void {
    while (!this.ended() && ' \t\r\n'.includes(this.#text.charAt(this.#at))) this.#at += 1;
  }

  value(): Json {
    this.space();
    const char = this.#peek();
    if (char === '{') return this.#object();
    if (char === '[') return this.#array();
    if (char === '"') return this.#string();
    if (char === '-' || /[0-9]/.test(char)) return this.#number();
    const literal = literals.find(([word]) => word.startsWith(char));
    if (literal === undefined) return this.#fail('looking for beginning of value');
    return this.#literal(literal);
  }

  #peek(): string {
    if (this.ended()) throw new BindError('unexpected EOF');
    return this.#text.charAt(this.#at);
  }

  #fail(where: string): never {
    const char = this.#peek();
    const shown = char === "'" ? String.raw`\'` : char;
    throw new BindError(`invalid character '${shown}' ${where}`);
  }

  #literal([word, value]: readonly [string, Json]): Json {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#peek() !== word.charAt(index)) this.#fail(`in literal ${word} (expecting '${word.charAt(index)}')`);
      this.#at += 1;
    }
    return value;
  }

  #number(): number {
    const match = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(this.#text.slice(this.#at));
    if (match === null) {
      this.#at += 1;
      return this.#fail('in numeric literal');
    }
    this.#at += match[0].length;
    return Number(match[0]);
  }

  /** A string; half of a surrogate pair becomes U+FFFD. */
  #string(): string {
    let result = '';
    this.#at += 1;
    for (;;) {
      const char = this.#peek();
      if (char < ' ') this.#fail('in string literal');
      this.#at += 1;
      if (char === '"') return Buffer.from(result, 'utf8').toString('utf8');
      result += char === '\\' ? this.#escape() : char;
    }
  }

  #escape(): string {
    const char = this.#peek();
    if (char === 'u') {
      const digits = this.#text.slice(this.#at + 1, this.#at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail(String.raw`in \u hexadecimal character escape`);
      this.#at += 5;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const meant = escapes[char] ?? this.#fail('in string escape code');
    this.#at += 1;
    return meant;
  }

  #array(): Json {
    const result: Json[] = [];
    this.#at += 1;
    this.space();
    if (this.#peek() === ']') {
      this.#at += 1;
      return result;
    }
    for (;;) {
      result.push(this.value());
      if (this.#follows(']', 'after array element')) return result;
    }
  }

  #object(): Json {
    const result = new Map<string, Json>();
    this.#at += 1;
    this.space();
    if (this.#peek() === '}') {
      this.#at += 1;
      return {};
    }
    for (;;) {
      this.space();
      if (this.#peek() !== '"') this.#fail('looking for beginning of object key string');
      const key = this.#string();
      this.space();
      if (this.#peek() !== ':') this.#fail('after object key');
      this.#at += 1;
      result.set(key, this.value());
      if (this.#follows('}', 'after object key:value pair')) return Object.fromEntries(result);
    }
  }

  #follows(end: string, where: string): boolean {
    this.space();
    const char = this.#peek();
    if (char !== end && char !== ',') this.#fail(where);
    this.#at += 1;
    return char === end;
  }
}
