import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { loadManifests } from '../../../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { SourceFile } from '../../../../src/model/diagnostic.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { planRisks } from '../../../../src/model/plan/plan.ts';
import { liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

type Files = Readonly<Record<string, JsonObject>>;

function sources(files: Files): readonly SourceFile[] {
  return Object.entries(files).map(([path, content]) => ({ path, text: JSON.stringify({ apiVersion: 'ostiary/v1', ...content }) }));
}

function load(files: Files, overlay: Files = {}): DesiredState {
  const { value, diagnostics } = loadManifests({
    files: sources(files),
    overlays: Object.keys(overlay).length === 0 ? [] : [sources(overlay)],
    target: 'prod',
    targets: ['prod'],
    secretPrefixes: [],
    referencePrefixes: [],
    registry,
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function planOf(desired: DesiredState, live?: DesiredState): Plan {
  const state = live === undefined ? { ...liveAs(load(other)), resources: [] } : liveAs(live);
  const { value, diagnostics } = runReconcile({ desired, live: state, borrowed: ['Connection.access_groups'] });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function headlinesOf({ protection }: Plan): readonly string[] {
  return protection.headlines.map(({ direction, text }) => `${direction}: ${text}`).filter((text) => text.includes(' give'));
}

function classOf(plan: Plan): string | undefined {
  return planRisks(plan).find(({ risk }) => risk.code === 'risk/given-up')?.risk.class;
}

const closed = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
const needed = { type: 'custom', agent_id: 'default', access_schema: 'disabled' };
const open = { access_mode_connect: 'disabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled' };

function connection(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { kind: 'Connection', metadata: { name: 'a', ...metadata }, spec: { ...needed, ...spec } };
}

function rule(spec: JsonObject, kind = 'GuardrailRule'): JsonObject {
  return { kind, metadata: { name: 'r' }, spec };
}

function defaults(spec: JsonObject, kind = 'Connection'): JsonObject {
  return { kind: 'Defaults', spec: { [kind]: spec } };
}

const other: Files = { 'access/other.yaml': { kind: 'Connection', metadata: { name: 'other' }, spec: { ...needed, ...closed } } };
const blocks = (...words: readonly string[]): JsonObject => ({ rules: [{ name: 'w', type: 'deny_words_list', words: [...words] }] });
const guard = { 'access/g.yaml': { kind: 'GuardrailRule', metadata: { name: 'g' }, spec: { input: blocks('DROP') } } };

type Row = readonly [what: string, lower: JsonObject, own: JsonObject, headlines: readonly string[], more?: Files];

const rows: readonly Row[] = [
  ['no reviewers', { reviewers: ['dba'] }, { ...open, reviewers: [] }, ['reviewers']],
  ['a null for reviewers', { reviewers: ['dba'] }, { ...open, reviewers: null }, ['reviewers']],
  ['another reviewer', { reviewers: ['dba'] }, { ...open, reviewers: ['team'] }, ['reviewers']],
  ['no redaction', { redact_types: ['EMAIL_ADDRESS'] }, { ...open, reviewers: ['dba'], redact_types: [] }, ['redaction']],
  [
    'redaction switched off',
    { redact_types: ['EMAIL_ADDRESS'] },
    { ...open, reviewers: ['dba'], redact_types: [], redact_enabled: false },
    ['redaction'],
  ],
  ['everybody', { access_groups: ['a'] }, { ...open, reviewers: ['dba'], access_groups: null }, ['limits on access groups']],
  ['one more access group', { access_groups: [] }, { ...open, reviewers: ['dba'], access_groups: ['a'] }, ['limits on access groups']],
  ['an open mode', { ...closed }, { ...open, reviewers: ['dba'] }, ['limits on access modes']],
  ['no guardrails', { guardrail_rules: ['g'] }, { ...open, reviewers: ['dba'], guardrail_rules: [] }, ['guardrails'], guard],
  ['an open schema', { access_schema: 'disabled' }, { ...open, reviewers: ['dba'], access_schema: 'enabled' }, ['limits on schema access']],
  [
    'one more force group',
    { force_approve_groups: [] },
    { ...open, reviewers: ['dba'], force_approve_groups: ['boss'] },
    ['limits on force-approvers'],
  ],
];

const cases = rows.map(([what, lower, own, headlines, more = {}]) => ({ what, lower, own, headlines, more }));

describe('a new connection', () => {
  test.each(cases)('that overrides its defaults with $what weakens', ({ lower, own, headlines, more }) => {
    const plan = planOf(load({ ...more, 'access/_defaults.yaml': defaults(lower), 'access/a.yaml': connection(own) }));
    expect(headlinesOf(plan)).toEqual(headlines.map((one) => `weakens: 1 new connection gives up ${one} that access/_defaults.yaml gives`));
    expect(classOf(plan)).toBe('weakens');
  });

  test.each(cases)('whose overlay overrides its manifest with $what weakens', ({ lower, own, headlines, more }) => {
    const base = { ...more, 'access/a.yaml': connection({ ...open, reviewers: ['dba'], ...lower }) };
    const plan = planOf(load(base, { 'overlay/a.yaml': { kind: 'Connection', metadata: { name: 'a' }, spec: own } }));
    expect(headlinesOf(plan)).toEqual(headlines.map((one) => `weakens: 1 new connection gives up ${one} that access/a.yaml gives`));
    expect(classOf(plan)).toBe('weakens');
  });

  test.each([
    ['repeats its defaults', { reviewers: ['dba'] }, { ...open, reviewers: ['dba'] }],
    ['states nothing of its own', { ...open, reviewers: ['dba'], redact_types: ['EMAIL_ADDRESS'] }, {}],
    ['adds a reviewer', { reviewers: ['dba'] }, { ...open, reviewers: ['dba', 'sec'] }],
    ['closes a mode', { ...open }, { ...closed, reviewers: ['dba'] }],
    ['changes a tag', { connection_tags: { env: 'dev' } }, { ...open, reviewers: ['dba'], connection_tags: { env: 'prod' } }],
  ])('that %s gives up nothing', (_, lower, own) => {
    const plan = planOf(load({ 'access/_defaults.yaml': defaults(lower), 'access/a.yaml': connection(own) }));
    expect([headlinesOf(plan), classOf(plan)]).toEqual([[], undefined]);
  });

  test('whose inner defaults empty the outer ones gives up what the outer ones give', () => {
    const outer = { 'access/_defaults.yaml': defaults({ reviewers: ['dba'] }) };
    const plan = planOf(load({ ...outer, 'access/x/_defaults.yaml': defaults({ reviewers: [] }), 'access/x/a.yaml': connection(open) }));
    expect(headlinesOf(plan)).toEqual(['weakens: 1 new connection gives up reviewers that access/_defaults.yaml gives']);
  });

  test('keeps a guardrail that the rule itself attaches', () => {
    const attached = { 'access/g.yaml': rule({ input: blocks('DROP'), connection_ids: ['a'] }) };
    const lower = { 'access/_defaults.yaml': defaults({ guardrail_rules: ['r'] }) };
    const own = { 'access/a.yaml': connection({ ...open, reviewers: ['dba'], guardrail_rules: [] }) };
    expect(classOf(planOf(load({ ...attached, ...lower, ...own })))).toBeUndefined();
  });

  test('that is live already is compared with itself', () => {
    const files = { 'access/_defaults.yaml': defaults({ reviewers: ['dba'] }), 'access/a.yaml': connection({ ...open, reviewers: [] }) };
    const desired = load(files);
    expect(classOf(planOf({ ...desired, tree: 'other' }, desired))).toBeUndefined();
  });
});

const masks = { supported_entity_types: [{ name: 'pii', entity_types: ['EMAIL_ADDRESS', 'PERSON'] }] };

describe('a new rule', () => {
  test.each<[what: string, kind: string, lower: JsonObject, own: JsonObject, headlines: readonly string[]]>([
    ['no words', 'GuardrailRule', { input: blocks('DROP') }, { input: { rules: [] } }, ['guardrail patterns']],
    ['other words', 'GuardrailRule', { input: blocks('DROP') }, { input: blocks('zzzz') }, ['guardrail patterns']],
    ['no connections', 'GuardrailRule', { connection_ids: ['other'] }, { input: blocks('DROP'), connection_ids: [] }, ['connections']],
    ['fewer types', 'DataMaskingRule', masks, { supported_entity_types: [] }, ['masking']],
    ['a higher threshold', 'DataMaskingRule', { ...masks, score_threshold: 0.2 }, { score_threshold: 0.9 }, ['masking']],
    ['no masked connections', 'DataMaskingRule', { connection_ids: ['other'] }, { ...masks, connection_ids: [] }, ['connections']],
  ])('that overrides its defaults with %s weakens', (_, kind, lower, own, what) => {
    const plan = planOf(load({ ...other, 'access/_defaults.yaml': defaults(lower, kind), 'access/r.yaml': rule(own, kind) }));
    expect(headlinesOf(plan)).toEqual(what.map((one) => `weakens: 1 new rule gives up ${one} that access/_defaults.yaml gives`));
    expect(classOf(plan)).toBe('weakens');
  });
});
