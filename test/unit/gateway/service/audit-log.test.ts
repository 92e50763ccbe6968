import { describe, expect, it } from 'vitest';
import { readWrites } from '../../../../src/gateway/service/open-service.ts';
import { dialectNamed } from '../../../../src/gateway/dialects/choose-dialect.ts';
import type { AuditedWrite } from '../../../../src/model/result/drift.ts';

const dialect = dialectNamed('interface');
const row = { outcome: true, http_method: 'PUT', http_path: '/connections/db', actor_name: 'ada', created_at: '2026-11-20T03:12:00Z' };

/** Reads a log that answers each page with these rows. */
async function read(
  rowsAt: (page: number) => unknown,
): Promise<{ readonly writes: readonly AuditedWrite[] | undefined; readonly pages: number }> {
  let pages = 0;
  const send = async ({ path }: { readonly path: string }): Promise<{ status: number; header: () => undefined; body: unknown }> => {
    if (path === '/userinfo') return { status: 404, header: () => undefined, body: {} };
    pages += 1;
    return { status: 200, header: () => undefined, body: { data: rowsAt(Number(/page=(\d+)/.exec(path)?.[1])) } };
  };
  const writes = await readWrites({ client: { send }, dialect }, new Date(0), 1_000);
  return { writes, pages };
}

const many = (count: number, one: unknown): readonly unknown[] => Array.from({ length: count }, () => one);

describe('an audit log', () => {
  it('is read to its end', async () => {
    const { writes, pages } = await read((page) => many(page < 3 ? 100 : 7, row));
    expect([writes?.length, pages]).toEqual([207, 3]);
  });

  it.each([
    ['reads', { ...row, http_method: 'GET' }],
    ['failures', { ...row, outcome: false }],
    ['what is no row', 'row'],
  ])('that never ends in %s is read so far and no further', async (_, one) => {
    const { writes, pages } = await read(() => many(100, one));
    expect(writes).toEqual([]);
    expect(pages).toBeLessThanOrEqual(50);
  });

  it('that is not paged is read once, and not beyond the requested number', async () => {
    const { writes, pages } = await read(() => many(300_000, row));
    expect([writes?.length, pages]).toEqual([1_000, 1]);
  });

  it('returns the name in the request body if the path has an id or none', async () => {
    const sent = { ...row, request_payload_redacted: { name: 'sent' } };
    const id = '00000000-0000-4000-8000-000000000000';
    const paths = ['/guardrails', `/guardrails/${id}`, '/connections/db'];
    const { writes } = await read(() => paths.map((path) => ({ ...sent, http_path: path })));
    expect(writes?.map(({ names }) => names)).toEqual([['sent'], [id, 'sent'], ['db']]);
  });

  it('cuts long texts, and is empty if its values are not texts', async () => {
    const long = 'x'.repeat(1_000_000);
    const { writes } = await read(() => [
      { ...row, actor_name: long, created_at: long, client_ip: long, http_path: `/connections/${long}`, resource_name: long },
      { ...row, actor_name: 7, created_at: null, client_ip: [], http_path: {}, http_method: { toString: 1 } },
    ]);
    expect(writes).toHaveLength(2);
    expect(JSON.stringify(writes).length).toBeLessThan(5_000);
  });
});
