import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asObject, asText, type JsonObject, objectsIn, textsIn } from '../../../src/model/json.ts';
import { writeFiles } from '../../e2e/project.ts';
import { seedOfRound } from '../../support/property-runs.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { startPgliteServer } from '../../support/servers.ts';
import { connectionBody, createKey, idOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const gateway = useServer(startPgliteServer);

const groups = ['dev', 'dba', 'sre'];
const few = fc.subarray(groups);
/** Twenty connections in random states. */
const states = fc.sample(
  fc.record({
    access_groups: few,
    reviewers: few,
    min_review_approvals: fc.constantFrom(null, 1, 2),
    access_mode_connect: fc.constantFrom('enabled', 'enabled', 'disabled'),
  }),
  { numRuns: 20, ...seedOfRound(53) },
);

test('keys of a group list the connections, and ask for the reviews, that ostiary can answers', async () => {
  const { call, agent, server } = gateway;
  for (const [index, state] of states.entries()) {
    const body = connectionBody(`tried-${index}`, agent, { ...state });
    expect((await call('POST', '/connections', { body })).status).toBe(201);
  }
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-tries-'));
  writeFiles(folder, { 'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\ntargets:\n  test: { url: '${server.url}' }\n` });
  const printed = await runInFolder(folder, ['can', '--matrix', '--live', '--format', 'json'], { OSTIARY_TOKEN: server.key });
  rmSync(folder, { recursive: true });
  const rows: readonly JsonObject[] = JSON.parse(printed.stdout);
  let compared = 0;
  for (const group of [undefined, ...groups]) {
    const key = await createKey(call, randomUUID().slice(1), group === undefined ? [] : [group]);
    const listed = new Set((await call('GET', '/connections', { key })).list.map(({ name }) => asText(name)));
    for (const [index] of states.entries()) {
      const connection = `tried-${index}`;
      const asked = await call('POST', '/reviews', { key, body: { connection, type: 'jit' } });
      const review = asked.status === 201 ? (await call('GET', `/reviews/${idOf(asked)}`)).body : {};
      const reviewers = objectsIn(review['review_groups_data']).map((one) => asText(one['group']));
      for (const verb of ['connect', 'exec']) {
        const same = rows.filter((row) => row['connection'] === connection && row['verb'] === verb);
        const can = same.find((row) => textsIn(row['groups'])[0] === group) ?? {};
        // Lists and reviews do not depend on what is closed: there only the answer does.
        const isOpen = verb === 'exec' || states[index]?.access_mode_connect === 'enabled';
        const tried = isOpen ? [listed.has(connection) ? 'yes' : 'no', reviewers.toSorted()] : ['no', []];
        const answers = can['answer'] === 'yes' ? textsIn(asObject(can['approval'])['groups']) : [];
        expect([group, connection, verb, can['answer'], answers.toSorted()]).toEqual([group, connection, verb, ...tried]);
        compared += 1;
      }
    }
  }
  expect(compared).toBe(160);
});
