import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { resourceId } from '../../../../src/model/resource.ts';
import { specAfter } from '../../../../src/model/spec/edit.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../../../support/memory-gateway.ts';
import { applyPlan, planOf, runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
const connection: JsonObject = { type: 'custom', agent_id: 'default', ...open };
const words = (...list: readonly string[]): JsonObject => ({ name: 'words', type: 'deny_words_list', words: list });
const pattern = (regex: string): JsonObject => ({ name: 'pattern', type: 'pattern_match', pattern_regex: regex });
const input = (...rules: readonly JsonObject[]): JsonObject => ({ input: { rules } });
const masks = (spec: JsonObject): JsonObject => ({
  supported_entity_types: [{ name: 'people', entity_types: ['PERSON'] }],
  ...spec,
});
const employee = (score: number): JsonObject => ({ custom_entity_types: [{ name: 'EMP', regex: 'E[0-9]+', score }] });

const by = (...reviewers: readonly string[]): JsonObject => ({ reviewers });
const side = (applied: JsonObject, live: JsonObject, desired = applied): Side => ({ applied, live, desired });

type Side = { readonly applied: JsonObject; readonly live: JsonObject; readonly desired?: JsonObject };

type Options = { readonly others?: readonly Manifest[]; readonly attached?: boolean; readonly revert?: boolean };
type Result = { readonly plan: Plan; readonly held: readonly string[]; readonly after: JsonObject };

const borrowed = ['Connection.min_review_approvals', 'Connection.access_groups'];

/** Plans manifests over a gateway that changed since they were applied; a rule is attached to one connection. */
async function planDrift(
  kind: 'Connection' | 'GuardrailRule' | 'DataMaskingRule',
  { applied, live, desired = applied }: Side,
  { others = [], attached = true, revert = false }: Options = {},
): Promise<Result> {
  const isRule = kind !== 'Connection';
  const own = (spec: JsonObject): Manifest => ({
    kind,
    metadata: { name: 'one' },
    spec: isRule ? { ...spec, connection_ids: attached ? ['db'] : [] } : { ...connection, ...spec },
  });
  const rest: readonly Manifest[] = [...others, ...(isRule ? [{ kind: 'Connection', metadata: { name: 'db' }, spec: connection }] : [])];
  const [base, manifests, found] = [applied, desired, { ...applied, ...live }].map((spec) => desiredState([...rest, own(spec)]));
  if (base === undefined || manifests === undefined || found === undefined) throw new Error('a side is missing');
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const before = await liveOf(gateway);
  await applyPlan({ gateway, plan: planOf(found, before), live: before, desired: found });
  const id = resourceId(kind, 'one');
  const state = await liveOf(gateway);
  // The gateway in memory has no fields of dialects.
  const extra = Object.fromEntries(Object.entries(live).filter(([name]) => borrowed.includes(`Connection.${name}`)));
  const resources = state.resources.map((one) => (one.id === id ? { ...one, spec: { ...one.spec, ...extra } } : one));
  const checked = runReconcile({
    desired: manifests,
    live: { ...state, resources },
    base: { commit: 'a'.repeat(40), desired: base, removedIn: new Map() },
    borrowed,
    consent: { imports: [], revert: revert ? [id] : [], prune: false },
  });
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ message }) => message).join('\n'));
  const change = checked.value.changes.find((one) => one.id === id);
  const spec = resources.find((one) => one.id === id)?.spec ?? {};
  const fields = registry.get(kind);
  if (fields === undefined) throw new Error('the kind is unknown');
  return {
    plan: checked.value,
    held: change?.fields.flatMap(({ path, held }) => (held === true ? [path] : [])) ?? [],
    after: change === undefined ? spec : specAfter(change, fields, spec),
  };
}

async function liveOf(gateway: MemoryGateway): Promise<LiveState> {
  const { value } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error('the list is not complete');
  return value;
}

const counted = (reviewers: readonly string[], min: Json): JsonObject => ({ reviewers, min_review_approvals: min });

const closed: JsonObject = { access_mode_connect: 'disabled', access_mode_exec: 'disabled' };

const reached = (groups: Json): JsonObject => ({ access_groups: groups });

describe('a drift of a connection is held only if it is provably stricter', () => {
  test.each<readonly [string, Side, readonly string[], JsonObject]>([
    ['a second group', side(by('a'), by('a', 'b')), ['/reviewers/b'], by('a', 'b')],
    ['a second group beside one that a merge adds', side(by('a'), by('a', 'b'), by('a', 'c')), ['/reviewers/b'], by('a', 'b', 'c')],
    ['no group, where two of two must approve', side(counted(['dba', 'security'], 2), counted([], 2)), [], by('dba', 'security')],
    ['a group that can reach it', side(reached(['a']), reached(['a', 'b'])), [], reached(['a'])],
    ['one group less that can reach it', side(reached(['a', 'b']), reached(['a'])), ['/access_groups/b'], reached(['a'])],
    ['everybody', side(reached(['a']), reached(null)), [], reached(['a'])],
    ['only one group', side(reached(null), reached(['a'])), ['/access_groups'], reached(['a'])],
    ['only admins', side(reached(null), reached([])), ['/access_groups'], reached([])],
    ['everybody instead of admins', side(reached([]), reached(null)), [], reached([])],
    ['no group', side(by('dba'), by()), [], by('dba')],
    ['a third group that can approve alone', side(counted(['a', 'b'], 1), counted(['a', 'b', 'x'], 1)), [], counted(['a', 'b'], 1)],
    [
      'one group less of those that can approve alone',
      side(counted(['a', 'b'], 1), counted(['a'], 1)),
      ['/reviewers/b'],
      counted(['a'], 1),
    ],
    ['another group that can approve alone', side(counted(['a'], 1), counted(['x'], 1)), [], counted(['a'], 1)],
    [
      'a third group, and one approval more',
      side(counted(['a', 'b'], 2), counted(['a', 'b', 'c'], 3)),
      ['/reviewers/c', '/min_review_approvals'],
      counted(['a', 'b', 'c'], 3),
    ],
    ['one approval less', side(counted(['a', 'b'], 2), counted(['a', 'b'], 1)), [], counted(['a', 'b'], 2)],
    [
      'a redacted type',
      side({ redact_types: ['PERSON'] }, { redact_types: ['PERSON', 'US_SSN'] }),
      ['/redact_types/US_SSN'],
      { redact_types: ['PERSON', 'US_SSN'] },
    ],
    [
      'the first redacted type',
      side({}, { redact_types: ['US_SSN'] }),
      ['/redact_enabled', '/redact_types/US_SSN'],
      { redact_types: ['US_SSN'], redact_enabled: true },
    ],
    [
      'a second group on a connection that was closed, too',
      side(by('a'), { ...closed, reviewers: ['a', 'b'] }),
      ['/access_mode_connect', '/access_mode_exec', '/reviewers/b'],
      { ...closed, reviewers: ['a', 'b'] },
    ],
    [
      'a second group on a connection that its manifest closes',
      side({ ...closed, reviewers: ['a'] }, { ...closed, reviewers: ['a', 'b'] }),
      [],
      by('a'),
    ],
    [
      'one mode closed, one opened',
      side({}, { access_mode_exec: 'disabled', access_mode_runbooks: 'enabled' }),
      ['/access_mode_exec'],
      { access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' },
    ],
    ['a longest session', side({}, { access_max_duration: 600 }), [], {}],
    ['no longest session', side({ access_max_duration: 600 }, {}), [], { access_max_duration: 600 }],
    ['a tag', side({ connection_tags: { env: 'prod' } }, { connection_tags: { env: 'dev' } }), [], { connection_tags: { env: 'prod' } }],
  ])('%s', async (_, given, held, after) => {
    const result = await planDrift('Connection', given);
    expect(result.held).toEqual(held);
    expect(result.after).toMatchObject(after);
    expect((await planDrift('Connection', given, { revert: true })).held).toEqual([]);
  });
});

describe('a drift of a rule is held only if a connection is provably better protected by it', () => {
  test.each<readonly [string, 'GuardrailRule' | 'DataMaskingRule', Side, readonly string[]]>([
    ['a word', 'GuardrailRule', side(input(words('DROP')), input(words('DROP', 'GRANT'))), ['/input/rules/words/words/GRANT']],
    [
      'a word beside one that a merge adds',
      'GuardrailRule',
      side(input(words('DROP')), input(words('DROP', 'GRANT')), input(words('DROP', 'ALTER'))),
      ['/input/rules/words/words/GRANT'],
    ],
    ['one word for another', 'GuardrailRule', side(input(words('DROP')), input(words('GRANT'))), []],
    ['an entry', 'GuardrailRule', side(input(words('DROP')), input(words('DROP'), pattern('GRANT'))), ['/input/rules/pattern']],
    ['no entry', 'GuardrailRule', side(input(words('DROP')), input()), []],
    ['a pattern that never matches', 'GuardrailRule', side(input(pattern('(?i)drop')), input(pattern('zzzz'))), []],
    [
      'a pattern in the entry that had words',
      'GuardrailRule',
      side(input(words('DROP')), input({ name: 'words', type: 'pattern_match', pattern_regex: 'zzzz' })),
      [],
    ],
    ['a word that contains one of the rule', 'GuardrailRule', side(input(words('DROP')), input(words('DROP', 'DROP TABLE'))), []],
    ['a threshold that nothing reaches', 'DataMaskingRule', side(masks({}), masks({ score_threshold: 1 })), []],
    ['a higher threshold', 'DataMaskingRule', side(masks({ score_threshold: 0.5 }), masks({ score_threshold: 1 })), []],
    ['a lower threshold', 'DataMaskingRule', side(masks({ score_threshold: 0.5 }), masks({ score_threshold: 0.4 })), ['/score_threshold']],
    ['no threshold', 'DataMaskingRule', side(masks({ score_threshold: 0.5 }), masks({ score_threshold: null })), []],
    [
      'a higher score',
      'DataMaskingRule',
      side(masks({ ...employee(0.5), score_threshold: 0.6 }), masks({ ...employee(0.6), score_threshold: 0.6 })),
      ['/custom_entity_types/EMP/score'],
    ],
    [
      'a higher score than the threshold needs',
      'DataMaskingRule',
      side(masks({ ...employee(0.7), score_threshold: 0.6 }), masks({ ...employee(0.9), score_threshold: 0.6 })),
      [],
    ],
    ['a higher score without a threshold', 'DataMaskingRule', side(masks(employee(0.5)), masks(employee(0.6))), []],
    ['a lower score', 'DataMaskingRule', side(masks(employee(0.5)), masks(employee(0.4))), []],
  ])('%s', async (_, kind, given, held) => {
    expect((await planDrift(kind, given)).held).toEqual(held);
    expect((await planDrift(kind, given, { revert: true })).held).toEqual([]);
  });

  test.each([
    ['(?i)é+', 'unknown', '1 connection changes guardrail patterns in a way that cannot be compared'],
    ['zzzz', 'weakens', '1 connection no longer blocks all of /zzzz/'],
  ])('a drift that is no pure gain is reverted with its risk and a headline: %s', async (regex, risk, headline) => {
    const { plan, after, held } = await planDrift('GuardrailRule', side(input(pattern('(?i)drop')), input(pattern(regex))));
    expect(held).toEqual([]);
    expect(after).toMatchObject(input(pattern('(?i)drop')));
    expect(plan.changes.flatMap(({ risks }) => risks.map((one) => one.class))).toEqual([risk]);
    expect(plan.protection.headlines.map(({ text, direction }) => [direction, text])).toEqual([[risk, headline]]);
  });

  test('a word that another rule of the connection blocks is not held', async () => {
    const given = side(input(words('DROP')), input(words('DROP', 'GRANT')));
    const other: Manifest = {
      kind: 'GuardrailRule',
      metadata: { name: 'other' },
      spec: { ...input(words('GRANT')), connection_ids: ['db'] },
    };
    expect((await planDrift('GuardrailRule', given, { others: [other] })).held).toEqual([]);
    expect((await planDrift('GuardrailRule', given, { others: [{ ...other, spec: input(words('GRANT')) }] })).held).toHaveLength(1);
  });

  test('a word of a rule on no connection is not held', async () => {
    const given = side(input(words('DROP')), input(words('DROP', 'GRANT')));
    expect((await planDrift('GuardrailRule', given, { attached: false })).held).toEqual([]);
  });
});
