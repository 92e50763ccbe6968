import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Protection } from '../../../../src/model/protection/protection.ts';
import { protectionOfDrift } from '../../../../src/protection/protection.ts';
import { desiredState } from '../../../support/desired-state.ts';
import {
  connectionManifest as connection,
  guardrailManifest as guardrail,
  liveAs,
  maskingManifest,
  planWithRisks,
} from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

const pattern = (regex: string, more: JsonObject = {}): JsonObject => ({ type: 'pattern_match', pattern_regex: regex, ...more });
const words = (...list: readonly string[]): JsonObject => ({ type: 'deny_words_list', words: list });

function blocking(...rules: readonly JsonObject[]): readonly Manifest[] {
  return [connection('a'), guardrail('g', rules, { connection_ids: ['a'] })];
}

/** Lists the direction of each cause of each headline. */
function causedBy({ headlines }: Pick<Protection, 'headlines'>): readonly string[] {
  return headlines.flatMap(({ direction, causes }) => causes.map(() => direction));
}

test.each<readonly [string, readonly JsonObject[], readonly JsonObject[], readonly string[]]>([
  ['a pattern without a name', [pattern('(?i)drop')], [pattern('zzzz')], ['weakens']],
  ['a narrower pattern', [pattern('drop')], [pattern('drop table')], ['weakens']],
  ['a wider pattern', [pattern('drop table')], [pattern('drop')], ['strengthens']],
  ['one of two patterns', [pattern('drop'), pattern('grant')], [pattern('drop'), pattern('zzzz')], ['weakens']],
  ['both of two patterns', [pattern('drop'), pattern('grant')], [pattern('xxxx'), pattern('zzzz')], ['weakens', 'weakens']],
  ['words without a name', [words('DROP')], [words('DROP', 'GRANT')], ['strengthens']],
  ['a pattern that gets a name', [pattern('drop')], [pattern('drop table', { name: 'ddl' })], ['weakens']],
  ['a pattern with a name', [pattern('drop', { name: 'ddl' })], [pattern('zzzz', { name: 'ddl' })], ['weakens']],
  ['a pattern for another with another name', [pattern('drop', { name: 'ddl' })], [pattern('zzzz', { name: 'zzz' })], ['weakens']],
  ['an entry moves and another one goes', [pattern('drop'), pattern('grant')], [pattern('grant')], ['weakens']],
])('an edited entry is one cause: %s', (_, before, after, ways) => {
  expect(causedBy(planWithRisks(blocking(...before), blocking(...after)).protection)).toEqual(ways);
});

test('a drift has the verdict of the change that was made on the gateway, not of its revert', () => {
  const [desired, live] = [desiredState(blocking(pattern('(?i)drop'))), liveAs(desiredState(blocking(pattern('zzzz'))))];
  const plan = planWithRisks(blocking(pattern('zzzz')), blocking(pattern('(?i)drop')));
  const found = protectionOfDrift(plan, live, registry, { desired });
  expect(found.headlines.map(({ direction }) => direction)).toEqual(['weakens']);
  expect(causedBy(found)).toEqual(['weakens']);
  expect((found.parts ?? []).map(({ direction }) => direction)).toEqual(['weakens']);
});

const masked = (regex: string): readonly Manifest[] => [
  connection('a'),
  maskingManifest('m', { connection_ids: ['a'], score_threshold: 0.4, custom_entity_types: [{ name: 'EMP', regex, score: 0.9 }] }),
];

test.each([
  ['E[0-9]+', 'zzzz', ['weakens']],
  ['E[0-9]+', '(?i)e[0-9]+', ['unknown']],
])('a custom masking pattern for another: %s → %s', (before, after, classes) => {
  const { changes } = planWithRisks(masked(before), masked(after));
  expect([...new Set(changes.flatMap(({ risks }) => risks.map((risk) => risk.class)))]).toEqual(classes);
});

test('a loss that another rule of the connection makes up for is none', () => {
  const other = guardrail('other', [pattern('drop', { name: 'd' })], { connection_ids: ['a'] });
  const plan = planWithRisks([...blocking(pattern('drop table')), other], [...blocking(pattern('zzzz')), other]);
  expect(plan.protection.headlines.map(({ direction }) => direction)).toEqual(['strengthens']);
});
