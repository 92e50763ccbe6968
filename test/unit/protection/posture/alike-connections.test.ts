import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { groupAlike } from '../../../../src/protection/posture/alike-connections.ts';
import { readPostures } from '../../../../src/protection/posture/posture.ts';
import { desiredSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, guardrailManifest, words } from '../../../support/risks.ts';

test('connections that share their rules are one group, so each set of rules is compared once', () => {
  const count = 30;
  const snapshotWith = (word: string): ReturnType<typeof desiredSnapshot> =>
    desiredSnapshot(
      desiredState([
        ...Array.from({ length: count }, (_, index) => connectionManifest(`db-${index}`, { connection_tags: { env: 'prod' } })),
        ...['a', 'b', 'c'].map((name) => guardrailManifest(name, [words(word)], { connection_selector: { match_tags: { env: 'prod' } } })),
      ]),
      registry,
      'interface',
    );
  const [before, after] = [snapshotWith('DROP'), snapshotWith('TRUNCATE')];
  const snapshots = { before, after, postureBefore: readPostures(before), postureAfter: readPostures(after) };
  const ids = [...before.edges.keys()];
  expect(ids).toHaveLength(count);
  const [group, ...others] = groupAlike(ids, { snapshots, isChanged: () => false, writersOf: () => undefined });
  expect([group, others]).toEqual([{ members: ids, alike: [ids] }, []]);
});
