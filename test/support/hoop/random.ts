import { createHash } from 'node:crypto';

/** Random numbers that repeat with the same seed. */
export class Random {
  #state: number;
  readonly #seed: number;
  readonly #named = new Map<string, number>();

  constructor(seed: number) {
    this.#state = seed >>> 0;
    this.#seed = this.#state;
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns the items in a random order. */
  shuffle<T>(items: Iterable<T>): readonly T[] {
    const keyed = Array.from(items, (item) => ({ item, key: this.next() }));
    return keyed.toSorted((left, right) => left.key - right.key).map(({ item }) => item);
  }

  hex(length: number): string {
    return Array.from({ length }, () => Math.floor(this.next() * 16).toString(16)).join('');
  }

  uuid(): string {
    const variant = (8 + Math.floor(this.next() * 4)).toString(16);
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }

  /** A uuid that depends on how often this name was asked for, and on nothing else: two runs whose requests differ give an object the same one. */
  uuidFor(name: string): string {
    const count = (this.#named.get(name) ?? 0) + 1;
    this.#named.set(name, count);
    const own = createHash('sha1').update(`${this.#seed} ${count} ${name}`).digest().readUInt32LE();
    return new Random(own).uuid();
  }
}

const urlNamespace = '6ba7b8119dad11d180b400c04fd430c8';

/** The name-based uuid (version 5, namespace URL) that agents and runbook entries are known by. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1').update(Buffer.from(urlNamespace, 'hex')).update(name, 'utf8').digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const text = hash.toString('hex');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20, 32)].join('-');
}
