import { isList, isObject, type Json, type JsonObject } from './json.ts';

const uuid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Values that differ in each run, by their form. */
const forms: Readonly<Record<string, RegExp>> = {
  intercom_hmac_digest: /^[0-9a-f]{64}$|^$/,
  issued_at: /^\d{10}$/,
  expire_at: /^\d{10}$/,
  execution_time: /^\d+$/,
  masked_key: /^hpk_.{4}\*{39}$/,
};

/** Arrays that the gateway returns in no order. */
const unordered = new Set(
  'guardrail_rules attributes managed_attributes connection_ids review_groups_data repositories connections connection_names guardrail_rule_names datamasking_rule_names'.split(
    ' ',
  ),
);

type Pairs = { readonly there: ReadonlyMap<string, string>; readonly back: ReadonlyMap<string, string> };

/** What is unordered in one answer besides what always is, and whether its times are compared by their form only. */
export type ComparisonOptions = { readonly unorderedRoot: boolean; readonly unorderedItems: boolean; readonly freeTimes: boolean };

/**
 * Maps recorded values to those of a model: ids and times differ, but each recorded value maps to one model value.
 * Ids computed from a name (version 5) must be equal.
 */
export class IdMatcher {
  #pairs: Pairs = { there: new Map(), back: new Map() };

  /** Returns a recorded text with the model's ids. */
  translate(text: string): string {
    return text.replaceAll(uuid, (id) => {
      const known = this.#pairs.there.get(id);
      if (known === undefined) this.#learn(id, id);
      return known ?? id;
    });
  }

  /** Compares a response with the recorded one; returns the differences, and records the ids of equal parts. */
  compare(recorded: Json, answered: Json, reading: ComparisonOptions): string | undefined {
    return this.#value('', recorded, answered, reading);
  }

  #value(path: string, recorded: Json, answered: Json, reading: ComparisonOptions): string | undefined {
    if (isList(recorded)) return this.#list(path, recorded, answered, reading);
    if (isObject(recorded)) return this.#object(path, recorded, answered, reading);
    // No recording shows a key.
    if (recorded === 'hpk_example' && typeof answered === 'string' && answered.startsWith('hpk_')) return undefined;
    const form = forms[path.split('.').at(-1) ?? ''];
    if (form !== undefined) return fits(form, recorded) === fits(form, answered) ? undefined : differ(path, recorded, answered);
    if (typeof recorded !== 'string' || typeof answered !== 'string')
      return recorded === answered ? undefined : differ(path, recorded, answered);
    return this.#text(recorded, answered, reading) ? undefined : differ(path, recorded, answered);
  }

  #object(path: string, recorded: JsonObject, answered: Json, reading: ComparisonOptions): string | undefined {
    if (!isObject(answered)) return differ(path, recorded, answered);
    const keys = [Object.keys(recorded), Object.keys(answered)].map((names) => names.toSorted().join(' '));
    if (keys[0] !== keys[1]) return `${path}: has ${keys[1] ?? ''} instead of ${keys[0] ?? ''}`;
    for (const [key, value] of Object.entries(recorded)) {
      const problem = this.#value(`${path}.${key}`, value, answered[key] ?? null, reading);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #list(path: string, recorded: readonly Json[], answered: Json, reading: ComparisonOptions): string | undefined {
    if (!isList(answered)) return differ(path, recorded, answered);
    if (recorded.length !== answered.length)
      return `${path}: has ${answered.length} instead of ${recorded.length} items: ${JSON.stringify(answered).slice(0, 300)}`;
    const name = path.split('.').at(-1) ?? '';
    const free = unordered.has(name) || (path === '' && reading.unorderedRoot) || (name === 'items' && reading.unorderedItems);
    if (free) return this.#set(path, recorded, answered, reading);
    for (const [index, item] of recorded.entries()) {
      const problem = this.#value(`${path}[${index}]`, item, answered[index] ?? null, reading);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Pairs the items of two lists without order: for each recorded one the first that corresponds. */
  #set(path: string, recorded: readonly Json[], answered: readonly Json[], reading: ComparisonOptions): string | undefined {
    const left = [...answered];
    for (const item of recorded) {
      const index = left.findIndex((candidate) => this.#tries(path, item, candidate, reading));
      if (index < 0)
        return `${path}: nothing corresponds to ${JSON.stringify(item)}; ${this.#why(path, item, left, reading).slice(0, 500)}`;
      left.splice(index, 1);
    }
    return undefined;
  }

  #tries(path: string, recorded: Json, answered: Json, reading: ComparisonOptions): boolean {
    const before = this.#pairs;
    if (this.#value(path, recorded, answered, reading) === undefined) return true;
    this.#pairs = before;
    return false;
  }

  #why(path: string, recorded: Json, left: readonly Json[], reading: ComparisonOptions): string {
    return left.map((candidate) => this.#value(path, recorded, candidate, reading) ?? '').join(', ');
  }

  #text(recorded: string, answered: string, { freeTimes }: ComparisonOptions): boolean {
    if (moment.test(recorded)) return isSameForm(recorded, answered) && (freeTimes || this.#learn(recorded, answered));
    const ids = recorded.match(uuid) ?? [];
    const others = answered.match(uuid) ?? [];
    if (ids.length !== others.length || recorded.replaceAll(uuid, '') !== answered.replaceAll(uuid, '')) return false;
    return ids.every((id, index) => this.#learn(id, others[index] ?? ''));
  }

  #learn(recorded: string, answered: string): boolean {
    const { there, back } = this.#pairs;
    if (there.has(recorded) || back.has(answered)) return there.get(recorded) === answered && back.get(answered) === recorded;
    if (recorded.charAt(14) === '5' && recorded !== answered && !moment.test(recorded)) return false;
    this.#pairs = { there: new Map([...there, [recorded, answered]]), back: new Map([...back, [answered, recorded]]) };
    return true;
  }
}

/** Times have the same form when they are as fine: nanoseconds before the database stored them, microseconds after. */
function isSameForm(recorded: string, answered: string): boolean {
  return moment.test(answered) && isFine(recorded) === isFine(answered);
}

function isFine(time: string): boolean {
  return (time.split('.')[1] ?? '').length > 7;
}

function fits(form: RegExp, value: Json): boolean {
  return (typeof value === 'string' || typeof value === 'number') && form.test(String(value)) && value !== '';
}

function differ(path: string, recorded: Json, answered: Json): string {
  return `${path}: is ${JSON.stringify(answered)} instead of ${JSON.stringify(recorded)}`;
}
