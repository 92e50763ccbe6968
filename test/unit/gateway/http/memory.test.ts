import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createMemoryBudget, largestMemory, memoryOf } from '../../../../src/gateway/http/memory.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');

/** A list of `count` values. */
function list(count: number, valueOf: (index: number) => string): string {
  return `[${Array.from({ length: count }, (_, index) => valueOf(index)).join(',')}]`;
}

/** An object of `count` keys; no other object of this number has them. */
function object(count: number, number: number, valueOf: (index: number) => string = () => '0'): string {
  const keys = Array.from({ length: count }, (_, index) => (number * count + index).toString(36));
  return `{${keys.map((key, index) => `"${key}":${valueOf(index)}`).join(',')}}`;
}

/** An object of these keys in an order that depends on the number. */
function shuffled(keys: readonly string[], number: number): string {
  const left = [...keys];
  let random = number;
  const taken = keys.map(() => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return `"${left.splice(Math.floor((random / 2 ** 32) * left.length), 1).join('')}":0`;
  });
  return `{${taken.join(',')}}`;
}

function text(length: number, index: number, filler = 'x'): string {
  return `"${index.toString(36).padStart(length, filler)}"`;
}

/** Objects that V8 keeps as hash tables although all have the same keys: others have used up the maps. */
function crowded(keys: number, count: number, valueOf?: (index: number) => string): string {
  return list(2000 + count, (index) => object(keys, Math.min(index, 2000), valueOf));
}

const nested = (count: number, open: string, value: string, close: string): string => open.repeat(count) + value + close.repeat(count);

/** A connection with four secrets, as `ostiary serve` lists it. */
function connection(index: number): string {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const time = '2026-11-24T12:09:43.526Z';
  return JSON.stringify({
    id,
    name: `db-${index}`,
    guardrail_rules: [],
    status: 'offline',
    secrets_updated_at: time,
    managed_by: '',
    revision: 1,
    created_at: time,
    updated_at: time,
    secret: {
      'envvar:HOST': Buffer.from(`db-${index}.internal`).toString('base64'),
      'envvar:PORT': 'NTQzMg==',
      'envvar:USER': 'YXBw',
      'envvar:PASS': `_cloudsecrets:db-${index}:password`,
    },
    default_database: '',
    tags: [],
    type: 'database',
    command: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
    subtype: 'postgres',
    agent_id: id,
    reviewers: ['dba-team', 'orders-leads'],
    redact_types: ['EMAIL_ADDRESS', 'PHONE_NUMBER'],
    access_schema: 'enabled',
    resource_name: `db-${index}`,
    redact_enabled: true,
    connection_tags: { env: 'prod', team: 'orders', shard: String(index % 100) },
    access_mode_exec: 'enabled',
    access_max_duration: 3600,
    access_mode_connect: 'enabled',
    access_mode_runbooks: 'disabled',
    force_approve_groups: [],
    min_review_approvals: null,
    issuetracker_issue_template_id: '',
  });
}

/** Texts of a few megabytes at most. */
const texts: Readonly<Record<string, string>> = {
  'connections with four secrets': list(3000, (index) => connection(index)),
  'empty objects': list(60_000, () => '{}'),
  'empty lists': list(60_000, () => '[]'),
  'nested lists': list(10_000, () => '[[[[[[1]]]]]]'),
  'lists of lists': list(30_000, () => '[[1]]'),
  'lists of one object': list(30_000, () => '[{}]'),
  'lists of one number': list(60_000, () => '[1]'),
  'lists of one fraction': list(60_000, () => '[1.5]'),
  'lists of one text': list(40_000, (index) => `[${text(11, index)}]`),
  'lists of fractions and texts': list(40_000, () => '[1.5,1.5,""]'),
  'lists of fractions and objects': list(40_000, () => '[1.5,{}]'),
  'one deep list': nested(60_000, '[', '', ']'),
  'one deep object': nested(60_000, '{"a":', '0', '}'),
  'one deep object of other keys':
    Array.from({ length: 40_000 }, (_, index) => `{"${(1_000_000 + index).toString(36)}":`).join('') + `0${'}'.repeat(40_000)}`,
  'small numbers': list(300_000, () => '0'),
  fractions: list(300_000, () => '1.5'),
  literals: list(300_000, (index) => ['true', 'false', 'null'][index % 3] ?? ''),
  'short texts': list(100_000, (index) => text(6, index)),
  'texts of 11 characters': list(60_000, (index) => text(11, index)),
  'texts of 100 characters': list(20_000, (index) => text(100, index)),
  'texts of two bytes a character': list(1000, (index) => text(1000, index, 'Ā')),
  'texts with one character of two bytes': list(1000, (index) => `"Ā${text(1000, index).slice(1)}`),
  'short texts of two bytes': list(60_000, (index) => `"${String.fromCharCode(0x4e_00 + (index % 200), 0x4e_00 + (index % 20_000))}"`),
  'texts of escapes': list(5000, (index) => `"${String.raw`\u4e00`.repeat(20)}${index}"`),
  'objects of one key': list(60_000, () => '{"a":0}'),
  'objects of one fraction': list(60_000, () => '{"a":1.5}'),
  'objects of objects': list(60_000, () => '{"a":{}}'),
  'objects of 26 texts': list(4000, (index) => `{${letters.map((key) => `"${key}":${text(11, index)}`).join(',')}}`),
  'objects of 200 keys': list(500, () => object(200, 1)),
  'objects of 1,100 keys': list(100, () => object(1100, 1)),
  ...Object.fromEntries(
    [1, 2, 5, 17, 33, 65].map((keys) => [`objects of ${keys} other keys`, list(60_000 / keys, (index) => object(keys, index))]),
  ),
  'objects of one other key and text': list(30_000, (index) => object(1, index, () => text(11, index))),
  'objects of one long other key': list(20_000, (index) => `{${text(60, index)}:0}`),
  'one object of many keys': object(100_000, 1),
  ...Object.fromEntries([1, 6, 22, 43].map((keys) => [`crowded objects of ${keys} keys`, crowded(keys, 100_000 / keys)])),
  'crowded objects of 6 texts': crowded(6, 15_000, (index) => text(11, index)),
  'objects of 8 keys in any order': list(8000, (index) => shuffled(letters.slice(0, 8), index)),
  'objects of 26 keys in any order': list(3000, (index) => shuffled(letters, index)),
  ...Object.fromEntries([0, 1, 9, 24, 32, 35, 999].map((key) => [`objects of the key ${key}`, list(20_000, () => `{"${key}":0}`)])),
  'objects of other numbers as keys': list(20_000, (index) => `{"${10_000_000 + index * 91}":0}`),
  'one object of numbers as keys': `{${Array.from({ length: 50_000 }, (_, index) => `"${10_000_000 + index * 90}":0`).join(',')}}`,
  'rows of a name': list(20_000, (index) => `{"id":${text(1, index)},"name":${text(1, index)}}`),
};

/** Measures in a process of its own what each value takes in the heap. */
const measure = `
  const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const used = () => (gc(), gc(), process.memoryUsage().heapUsed);
  const take = (text) => {
    const before = used();
    globalThis.value = JSON.parse(text);
    const kept = used() - before;
    delete globalThis.value;
    return kept;
  };
  console.log(JSON.stringify(texts.map((text) => Math.min(take(text), take(text), take(text), take(text)))));`;

describe('what the value of a JSON text needs', () => {
  it('is estimated at no less than it takes in the heap', () => {
    const input = JSON.stringify(Object.values(texts));
    const output = execFileSync(process.execPath, ['--expose-gc', '-e', measure], { input, encoding: 'utf8', maxBuffer: 2 ** 20 });
    const taken: readonly number[] = JSON.parse(output);
    const shares = Object.entries(texts).map(([name, one], index): [string, number, number] => {
      const bytes = taken[index] ?? Number.NaN;
      return [name, bytes / memoryOf(one), bytes / one.length];
    });
    // Everything else in the heap of that process moves by some kilobytes.
    expect(shares.filter(([, ofEstimate]) => !(ofEstimate < 1.02))).toEqual([]);
    // Texts that are not counted are taken as 40 bytes for each character.
    expect(shares.filter(([, , perCharacter]) => !(perCharacter < 40))).toEqual([]);
  });
});

/** A list of one of the texts that needs about a tenth of the bound. */
function tenth(name: string): string {
  const one = texts[name] ?? '';
  return list(Math.floor(largestMemory / 10 / memoryOf(one)), () => one);
}

describe('a budget of memory', () => {
  it('has room for 100,000 connections with four secrets each, and for a fifth more', () => {
    const share = createMemoryBudget().share();
    const page = list(10_000, connection);
    expect(Array.from({ length: 12 }, () => share.take(page))).not.toContain(false);
  });

  it.each([
    'empty objects',
    'one deep list',
    'objects of 17 other keys',
    'objects of 26 keys in any order',
    'objects of the key 32',
    'fractions',
  ])('has no room for more, whether texts are counted at once or later: %s', (name) => {
    const body = tenth(name);
    const share = createMemoryBudget().share();
    let count = 0;
    while (count < 20 && share.take(body)) count += 1;
    expect(count).toBe(Math.floor(largestMemory / memoryOf(body)));
  });

  it('is shared by lists, and has room again for what is read again', () => {
    const body = tenth('one deep list');
    const budget = createMemoryBudget();
    const [one, other] = [budget.share(), budget.share()];
    expect([1, 2, 3, 4, 5].map(() => [one.take(body), other.take(body)])).toEqual(Array.from({ length: 5 }, () => [true, true]));
    expect(other.take(body)).toBe(false);
    one.release();
    expect(other.take(body)).toBe(true);
  });

  it('has no room for millions of rows, but nothing more is taken for rows that are large', () => {
    const [share, other] = [createMemoryBudget().share(), createMemoryBudget().share()];
    expect([share.take(texts['rows of a name'] ?? ''), share.takeRows(300_000), share.takeRows(100_000)]).toEqual([true, true, false]);
    const page = list(10_000, connection);
    expect(Array.from({ length: 12 }, () => other.take(page) && other.takeRows(10_000))).not.toContain(false);
  });
});
