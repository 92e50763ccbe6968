import { describe, expect, it } from 'vitest';
import { restList } from '../../../../src/gateway/dialects/rest.ts';
import { createAnswerBudget, type AnswerShare } from '../../../../src/gateway/http/answer-budget.ts';
import { readWholeList } from '../../../../src/gateway/live/whole-list.ts';
import type { JsonObject } from '../../../../src/model/json.ts';

const large = '{},'.repeat(400_000);

type Things = readonly { readonly id: string; readonly name: string }[];

function things(count: number): Things {
  return Array.from({ length: count }, (_, index) => ({ id: `id-${index}`, name: `name-${index}` }));
}

function textAt(field: string): (entry: JsonObject) => string | undefined {
  return ({ [field]: value }) => (typeof value === 'string' ? value : undefined);
}

/** Reads from a gateway that answers by path, and by how often it was asked before. */
async function read(
  answer: (path: string, asked: number) => unknown,
): Promise<{ readonly count: number | undefined; readonly said: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const fetch = async (path: string): Promise<unknown> => {
    asked.push(path);
    return answer(path, asked.filter((other) => other === path).length);
  };
  const { value, diagnostics } = await readWholeList({
    url: 'http://gateway.test/things',
    list: restList('/things'),
    fetch,
    share: createAnswerBudget().share(),
    uidOf: textAt('id'),
    idOf: textAt('name'),
  });
  return { count: value?.entries.length, said: diagnostics.map(({ code, message }) => `${code} ${message}`).join('; '), asked };
}

function paged(all: Things, total: (page: number) => number = () => all.length): (path: string) => unknown {
  return (path) => {
    const query = new URL(path, 'http://gateway.test').searchParams;
    const page = Number(query.get('page') ?? 1);
    const size = Number(query.get('page_size') ?? 50);
    return { data: all.slice((page - 1) * size, page * size), pages: { page, size, total: total(page) } };
  };
}

/** Reads a list whose answers are as long as `large`, with a budget of `bound`. */
function readCounted({ bound, answer }: { readonly bound: number; readonly answer: (path: string) => unknown }): {
  readonly asked: readonly string[];
  readonly reading: ReturnType<typeof readWholeList<string>>;
} {
  const asked: string[] = [];
  let left = bound;
  const own: AnswerShare = {
    take: ({ length }) => (left -= length) >= 0,
    release: () => void (left = bound),
  };
  const reading = readWholeList({
    url: 'http://gateway.test/things',
    list: restList('/things'),
    async fetch(path, share) {
      asked.push(path);
      if (share?.take(large) !== true) throw new Error('too large');
      return answer(path);
    },
    share: own,
    uidOf: textAt('id'),
    idOf: textAt('name'),
  });
  return { asked, reading };
}

describe('a list', () => {
  it('is complete as an array, with one request', async () => {
    expect(await read(() => things(3))).toEqual({ count: 3, said: '', asked: ['/things'] });
    expect(await read(() => [])).toMatchObject({ count: 0, said: '' });
  });

  it('is complete as its only page', async () => {
    expect(await read(paged(things(50)))).toEqual({ count: 50, said: '', asked: ['/things'] });
    expect(await read(() => ({ data: null, pages: { page: 1, size: 50, total: 0 } }))).toMatchObject({ count: 0, said: '' });
  });

  it('is read page by page', async () => {
    const { count, asked } = await read(paged(things(230)));
    expect(count).toBe(230);
    expect(asked.slice(1)).toEqual([1, 2, 3].map((page) => `/things?page=${page}&page_size=100`));
  });

  it.each<[string, (path: string, asked: number) => unknown, string]>([
    ['the total changes', paged(things(230), (page) => 230 + page), 'the total changed from 231 to 232'],
    ['rows are missing', paged(things(150), () => 230), 'received only 150 of 230 entries'],
    ['too many rows come', paged(things(160), () => 150), 'received 160 entries, but the total is 150'],
    ['an id comes twice on two pages', paged([...things(120), ...things(1)]), 'duplicate ID'],
    ['an id comes twice', () => [...things(2), { id: 'id-0', name: 'other' }], 'duplicate ID'],
    ['a name comes twice', () => [...things(2), { id: 'other', name: 'name-0' }], 'duplicate name'],
    ['the wrong received page comes', () => ({ data: things(1), pages: { page: 7, size: 1, total: 9 } }), 'page 7 instead of page 1'],
  ])('is not whole where %s, twice', async (_, answer, words) => {
    const { count, said } = await read(answer);
    expect(count).toBeUndefined();
    expect(said).toContain('api/list-not-whole GET http://gateway.test/things: incomplete listing');
    expect(said).toContain(words);
  });

  it('of a page for each entry is not read', async () => {
    const { said, asked } = await read((path) => ({
      data: things(1),
      pages: { page: path.includes('page=1&') ? 1 : 2, size: 1, total: 20_000 },
    }));
    expect(said).toContain('the gateway announces 20000 pages, and Ostiary reads at most 10000');
    expect(asked.length).toBeLessThan(5);
  });

  it('has one bound for all its pages', async () => {
    const answer = paged(things(2000));
    const { asked, reading } = readCounted({ bound: 5 * large.length, answer });
    await expect(reading).rejects.toThrow('too large');
    expect(asked.length).toBeLessThan(10);
  });

  it('has at most a million entries', async () => {
    const share = createAnswerBudget().share();
    const list = { url: 'http://gateway.test/things', list: restList('/things'), share, uidOf: textAt('id'), idOf: textAt('name') };
    const { value, diagnostics } = await readWholeList({
      ...list,
      fetch: async () => Promise.resolve(Array.from({ length: 1_000_001 }, () => ({}))),
    });
    expect(value).toBeUndefined();
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'api/too-large GET http://gateway.test/things: the list has 1000001 entries, and Ostiary reads at most 1000000',
    ]);
  });

  it('returns the share of what it read before it reads again', async () => {
    const { asked, reading } = readCounted({ bound: large.length, answer: () => [...things(2), ...things(1)] });
    expect((await reading).diagnostics.map(({ code }) => code)).toEqual(['api/list-not-whole']);
    expect(asked).toEqual(['/things', '/things']);
  });

  it('is read again if it changed meanwhile', async () => {
    expect(await read((_, asked) => (asked === 1 ? [...things(2), ...things(1)] : things(2)))).toEqual({
      count: 2,
      said: '',
      asked: ['/things', '/things'],
    });
  });

  it.each<[string, unknown, string]>([
    ['an object', { message: 'hello' }, 'neither a list nor a page'],
    ['a string', 'hello', 'neither a list nor a page'],
    ['nothing', undefined, 'neither a list nor a page'],
    ['pages without numbers', { data: [], pages: { page: '1', size: 1, total: 1 } }, 'neither a list nor a page'],
    ['an entry that is no object', [1], 'entry 1 of the list has no ID or no name'],
    ['an entry without an id', [{ id: 'a', name: 'a' }, { name: 'b' }], 'entry 2 of the list'],
    ['an entry without a name', [{ id: 'a' }], 'entry 1 of the list'],
  ])('is of an unexpected shape as %s, and asked for once', async (_, body, words) => {
    const { count, said, asked } = await read(() => body);
    expect(count).toBeUndefined();
    expect(said).toContain(`api/unexpected-shape GET http://gateway.test/things: `);
    expect(said).toContain(words);
    expect(asked).toHaveLength(1);
  });
});
