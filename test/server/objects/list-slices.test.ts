import { describe, expect, test } from 'vitest';
import { databases } from '../client.ts';
import { useServer } from '../use-server.ts';

describe.each(databases)('lists on %s', (_name, start) => {
  const { call } = useServer(start);

  test('a list of several slices has every object once, in order, and other requests are answered meanwhile', async () => {
    const names = Array.from({ length: 520 }, (_, n) => `slice-${String(n).padStart(3, '0')}`);
    await Promise.all(names.map((name) => call('POST', '/datamasking-rules', { body: { name, connection_ids: [] } })));
    const ended = { healthy: 0, lists: 0 };
    const lists = Promise.all(Array.from({ length: 4 }, () => call('GET', '/datamasking-rules').finally(() => (ended.lists += 1))));
    while (ended.lists < 4) {
      expect((await call('GET', '/healthz', { key: null })).status).toBe(200);
      ended.healthy += 1;
    }
    expect(ended.healthy).toBeGreaterThan(4);
    for (const { list } of await lists) {
      const listed = list.flatMap(({ name }) => (typeof name === 'string' && name.startsWith('slice-') ? [name] : []));
      expect(listed).toEqual(names);
    }
  });
});
