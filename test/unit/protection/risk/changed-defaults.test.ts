import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { loadManifests } from '../../../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { type Plan, planRisks } from '../../../../src/model/plan/plan.ts';
import { liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

type Files = Readonly<Record<string, JsonObject>>;

function load(files: Files): DesiredState {
  const { value, diagnostics } = loadManifests({
    files: Object.entries(files).map(([path, content]) => ({ path, text: JSON.stringify({ apiVersion: 'ostiary/v1', ...content }) })),
    overlays: [],
    target: 'prod',
    targets: ['prod'],
    secretPrefixes: [],
    referencePrefixes: [],
    registry,
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

/** Plans manifests over a gateway with the applied ones, or over one without the applied objects. */
function planOver(applied: Files, files: Files, isNew = false): Plan {
  const base = load(applied);
  const live = isNew ? { ...liveAs(base), resources: [] } : liveAs(base);
  const { value, diagnostics } = runReconcile({
    desired: load(files),
    live,
    ...(isNew ? {} : { base: { commit: 'a'.repeat(40), desired: base, removedIn: new Map() } }),
    borrowed: ['Connection.access_groups'],
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function effectsOf(plan: Plan): readonly string[] {
  const risks = planRisks(plan).map(({ risk }) => `${risk.class} ${risk.code}`);
  return [...risks, ...plan.protection.headlines.map(({ direction, text }) => `${direction}: ${text}`)];
}

const modes = { access_mode_connect: 'disabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled' };
const connection = (spec: JsonObject = {}): Files => ({
  'access/x/a.yaml': {
    kind: 'Connection',
    metadata: { name: 'a' },
    spec: { type: 'custom', agent_id: 'default', access_schema: 'disabled', ...modes, ...spec },
  },
});
const defaults = (spec: JsonObject, folder = 'access'): Files => ({
  [`${folder}/_defaults.yaml`]: { kind: 'Defaults', spec: { Connection: spec } },
});
const input = { rules: [{ name: 'w', type: 'deny_words_list', words: ['DROP'] }] };
const guard: Files = { 'access/g.yaml': { kind: 'GuardrailRule', metadata: { name: 'g' }, spec: { input } } };

test.each<[what: string, before: Files, after: Files, effects: readonly string[]]>([
  [
    'empty a list',
    defaults({ reviewers: ['dba'] }),
    defaults({ reviewers: [] }),
    ['weakens risk/review', 'weakens: 1 connection loses review'],
  ],
  ['are removed', defaults({ reviewers: ['dba'] }), {}, ['weakens risk/review', 'weakens: 1 connection loses review']],
  [
    'are overridden by new inner ones',
    defaults({ reviewers: ['dba'] }),
    { ...defaults({ reviewers: ['dba'] }), ...defaults({ reviewers: [] }, 'access/x') },
    ['weakens risk/review', 'weakens: 1 connection loses review'],
  ],
  [
    'are overridden by the manifest',
    defaults({ redact_types: ['EMAIL_ADDRESS'] }),
    { ...defaults({ redact_types: ['EMAIL_ADDRESS'] }), ...connection({ redact_types: [] }) },
    ['weakens risk/redaction', 'weakens: 1 connection loses redaction'],
  ],
  [
    'no longer attach a rule',
    { ...guard, ...defaults({ guardrail_rules: ['g'] }) },
    { ...guard, ...defaults({ guardrail_rules: [] }) },
    ['weakens risk/input', 'weakens: 1 connection loses guardrail g'],
  ],
  [
    'no longer state who sees it',
    defaults({ access_groups: ['dba'] }),
    {},
    ['weakens risk/field-left', 'weakens: access_groups are no longer watched'],
  ],
])('a connection whose defaults %s weakens', (_, before, after, effects) => {
  expect(effectsOf(planOver({ ...connection(), ...before }, { ...connection(), ...after }))).toEqual(effects);
});

test('a new connection that gives up the review of its defaults exposes', () => {
  const files = { ...defaults({ reviewers: ['dba'] }), ...connection({ reviewers: [] }) };
  expect(effectsOf(planOver(files, files, true))).toEqual([
    'exposes risk/exposed',
    'exposes: 1 connection becomes accessible without reviewers, guardrails or masking',
  ]);
});
