import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { firstsOfAlike } from '../../../../src/protection/posture/alike-connections.ts';
import { desiredSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, guardrailManifest, words } from '../../../support/risks.ts';

/** Returns the first alike connection of each, while the words of all rules change. */
function firstsOf(specs: readonly JsonObject[], matching: JsonObject): ReadonlyMap<string, string> {
  const snapshotWith = (word: string): ReturnType<typeof desiredSnapshot> =>
    desiredSnapshot(
      desiredState([
        ...specs.map((spec, index) => connectionManifest(`db-${index}`, spec)),
        ...['a', 'b', 'c'].map((name) => guardrailManifest(name, [words(word)], { connection_selector: { match_tags: matching } })),
      ]),
      registry,
      'interface',
    );
  const [before, after] = [snapshotWith('DROP'), snapshotWith('TRUNCATE')];
  const ids = specs.map((_, index) => `Connection/db-${index}` as const);
  return firstsOfAlike(ids, { before, after });
}

const prod = { env: 'prod' };

test('connections that share their rules are alike, so each set of rules is compared once', () => {
  const firsts = firstsOf(
    Array.from({ length: 30 }, () => ({ connection_tags: prod })),
    prod,
  );
  expect([firsts.size, new Set(firsts.values())]).toEqual([30, new Set(['Connection/db-0'])]);
});

test('connections with other rules, or with other fields that protect, are not alike', () => {
  const specs = [{ connection_tags: prod }, { connection_tags: {} }, { connection_tags: prod, reviewers: ['dba'] }];
  expect([...firstsOf(specs, prod).values()]).toEqual(['Connection/db-0', 'Connection/db-1', 'Connection/db-2']);
});
