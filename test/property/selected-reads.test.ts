import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { readableKinds } from '../../src/kinds/watched.ts';
import type { Checked } from '../../src/model/diagnostic.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import { openSnapshot } from '../../src/gateway/snapshot.ts';
import type { Gateway, GatewaySnapshot } from '../../src/model/gateway.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { compilePolicies } from '../../src/protection/policy/compile-policies.ts';
import { type NeededPart, partFor, proposedPart, selectedPart } from '../../src/reconcile/prepare/needed-objects.ts';
import { differencesBetweenStates } from '../../src/reconcile/explain/affected-by.ts';
import { digestOfWrites } from '../../src/reconcile/saved-plan/plan-digest.ts';
import { tokensOf } from '../../src/model/pointer.ts';
import { draftPlan, type PlanDraft, type ReviewedPlan, type ReviewInput, reviewPlan } from '../../src/reconcile/reconcile.ts';
import type { ReconcileInput } from '../../src/reconcile/prepare/prepare.ts';
import { desiredState } from '../support/desired-state.ts';
import { hoopWorld, onModel, openHoop, scenarioAuditor, scenarioToken } from '../support/hoop-scenario.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { runCount } from '../support/property-runs.ts';
import { inputOf, noLimits, reviewOf } from '../support/run-pipeline.ts';
import { loadText, someConnection } from '../support/policies.ts';
import type { Manifest } from '../support/scenario.ts';

const groups = ['dba', 'sre', 'security'];
const names = ['c-one', 'c-two', 'c-three'] as const;
/** A page of connections for each selected one, and one more: only then a part takes fewer requests than everything. */
const otherName = (index: number): string => `other-${index}`;
const mode = fc.constantFrom('enabled', 'disabled');

const randomFields = {
  access_mode_connect: mode,
  access_mode_exec: mode,
  access_mode_runbooks: mode,
  access_max_duration: fc.option(fc.constantFrom(60, 7200)),
  reviewers: fc.subarray(groups),
  force_approve_groups: fc.subarray(groups),
  min_review_approvals: fc.option(fc.constantFrom(1, 2)),
  mandatory_metadata_fields: fc.subarray(['ticket', 'reason']),
  redact_types: fc.subarray(['EMAIL_ADDRESS', 'PERSON']),
  attributes: fc.subarray(['pci', 'sox']),
  slack_channels: fc.subarray(['C01']),
};
const fields = fc.record(randomFields);
/** Fields that lead a connection elsewhere, or open it to others: rarely another value. */
const reaching = fc.record(
  {
    subtype: fc.constantFrom('postgres', 'mysql'),
    secret: fc.constantFrom({ 'envvar:HOST': 'db-1' }, { 'envvar:HOST': 'db-2' }),
    access_groups: fc.subarray(groups),
    guardrail_rules: fc.constantFrom(['no-drop'], []),
  },
  { requiredKeys: [] },
);

/** The rules of a gateway, and those of its connections that they name. */
const world = fc.record({
  connections: fc.tuple(fields, fields, fields),
  manifests: fc.tuple(fields, fields, fields),
  /** The only fields in which manifests may differ from the gateway, if not all. */
  differing: fc.option(fc.subarray(Object.keys(randomFields), { minLength: 1, maxLength: 2 }), { freq: 1 }),
  edits: fc.tuple(...names.map(() => fc.oneof(fc.constant({}), reaching))),
  /** What was applied last: nothing, what is live, or the manifests, so that every difference is drift. */
  base: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('none', 'live', 'manifests') },
    { weight: 1, arbitrary: fc.tuple(fields, fields, fields) },
  ),
  request: fc.record({
    connection_names: fc.subarray([...names]),
    attributes: fc.subarray(['pci']),
    reviewers_groups: fc.constantFrom(['sre']),
  }),
  runbook: fc.record({ connections: fc.subarray([...names, 'other-7']), user_groups: fc.subarray(groups) }),
  granted: fc.option(fc.tuple(fc.subarray(groups), fc.subarray(groups), fc.subarray(groups))),
  attribute: fc.subarray(groups),
  guarded: fc.subarray([...names, 'other-7']),
  analyzed: fc.subarray([...names]),
  packed: fc.subarray([...names]),
  auditors: fc.constantFrom('auditor', 'security'),
  machine: fc.record({ connection_names: fc.subarray([...names]), attributes: fc.subarray(['pci']) }),
  newAccess: fc.constantFrom('allow', 'refuse'),
  isChecked: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isInSync: fc.integer({ min: 0, max: 3 }).map((sort) => sort === 0),
  selected: fc.subarray([...names], { minLength: 1, maxLength: 2 }),
});
type World = typeof world extends fc.Arbitrary<infer One> ? One : never;

const isolated = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'enabled', command: ['psql'] };

async function send(model: HoopModel, path: string, body: Json): Promise<void> {
  const { status, body: answer } = await model.send('POST', path, scenarioToken, body);
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(answer)}`);
}

async function buildWorld(one: World): Promise<HoopModel> {
  const model = await hoopWorld({ manifests: [], live: [] });
  const { store } = model;
  const agent = store.agentNamed('default')?.id ?? '';
  await send(model, '/attributes', { name: 'pci', access_control_group_names: one.attribute });
  for (const [name, spec] of [...names.map((own, at) => [own, one.connections[at] ?? {}] as const), [otherName(0), {}] as const])
    await send(model, '/connections', {
      access_mode_connect: 'enabled',
      access_mode_exec: 'enabled',
      access_mode_runbooks: 'enabled',
      ...isolated,
      ...spec,
      agent_id: agent,
      name,
      secret: { 'envvar:HOST': Buffer.from(name.startsWith('c-') ? 'db-1' : 'db-2').toString('base64') },
    });
  const [row, resource] = [store.findConnection(otherName(0)), store.resources.get(otherName(0))];
  if (row === undefined || resource === undefined) throw new Error('no row');
  for (let index = 1; index <= 100 * one.selected.length; index += 1) {
    const name = otherName(index);
    store.saveConnection({ ...row, id: crypto.randomUUID(), name, resourceName: name });
    store.resources.set(name, { ...resource, id: crypto.randomUUID(), name });
  }
  const idOf = (name: string): string => store.findConnection(name)?.id ?? '';
  await send(model, '/guardrails', {
    name: 'no-drop',
    connection_ids: one.guarded.map(idOf),
    input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] },
  });
  if (one.request.connection_names.length + one.request.attributes.length > 0)
    await send(model, '/access-requests/rules', {
      name: 'ask',
      access_type: 'command',
      approval_required_groups: [],
      force_approval_groups: [],
      all_groups_must_approve: true,
      ...one.request,
    });
  if (one.analyzed.length > 0)
    await send(model, '/ai/session-analyzer/rules', {
      name: 'risky',
      connection_names: one.analyzed,
      risk_evaluation: { low_risk_action: 'allow_execution', medium_risk_action: 'allow_execution', high_risk_action: 'block_execution' },
    });
  if (one.packed.length > 0) {
    model.settings.rulepacks = true;
    const rules = [{ name: 'no-truncate', input: { rules: [{ type: 'deny_words_list', words: ['TRUNCATE'] }] } }];
    await send(model, '/rulepacks', { display_name: 'basics', guardrail_rules: rules });
    const [pack = ''] = store.rulepacks.keys();
    await send(model, `/rulepacks/${pack}/apply`, { connection_names: one.packed });
  }
  model.settings.roles = { admin: 'admin', auditor: one.auditors };
  model.settings.listeners = true;
  const isOpen = (name: string): boolean => one.connections[names.findIndex((own) => own === name)]?.access_mode_connect === 'enabled';
  const machine = { ...one.machine, connection_names: one.machine.connection_names.filter(isOpen) };
  if (machine.attributes.length + machine.connection_names.length > 0)
    await send(model, '/machineidentities', { name: 'deployer', ...machine });
  await send(model, '/runbooks/rules', { name: 'run', runbooks: [], ...one.runbook });
  if (one.granted !== null)
    await send(model, '/plugins', {
      name: 'access_control',
      connections: names.map((name, at) => ({ id: idOf(name), config: one.granted?.[at] ?? [] })),
    });
  return model;
}

function manifestsOf(specs: readonly JsonObject[], edits: readonly JsonObject[] = []): readonly Manifest[] {
  return names.map((name, at) => {
    const { secret = { 'envvar:HOST': 'db-1' }, ...edit } = edits[at] ?? {};
    const stated = Object.fromEntries(
      Object.entries(typeof secret === 'object' ? (secret ?? {}) : {}).map(([key, value]) => [key, { value }]),
    );
    return { kind: 'Connection', metadata: { name }, spec: { ...isolated, ...specs[at], ...edit, secret: stated } };
  });
}

const policyText = `apiVersion: ostiary/v1
kind: Policy
metadata: { name: checked }
spec:
  require: ['size(connection.reviewers) > 0', 'connection.min_review_approvals == 2']
  message: checked
  severity: warning
`;
const { rules } = compilePolicies(loadText(`${policyText}---\n${someConnection}`).value?.policies ?? [], registry);
if (rules.length === 0) throw new Error('no policy');
const checked = reviewOf({ policies: { rules, today: '2026-11-22' } });
const unchecked = reviewOf();

/** Returns the plan of a draft with what the gateway says of it. */
async function reviewed(gateway: Gateway, draft: PlanDraft, review: ReviewInput): Promise<Checked<ReviewedPlan>> {
  return reviewPlan(draft, { ...review, preflight: await gateway.preflight(draft.preflightRequest) });
}

function desiredOf({ isInSync, connections, manifests, differing, edits }: World): readonly Manifest[] {
  if (isInSync) return manifestsOf(connections);
  const isTaken = ([name]: readonly [string, unknown]): boolean => differing?.includes(name) ?? true;
  const stated = connections.map((spec, at) => ({ ...spec, ...Object.fromEntries(Object.entries(manifests[at] ?? {}).filter(isTaken)) }));
  return manifestsOf(stated, edits);
}

function baseOf({ base, connections, ...one }: World): ReconcileInput['base'] {
  if (base === 'none') return undefined;
  const applied =
    base === 'live' ? manifestsOf(connections) : base === 'manifests' ? desiredOf({ base, connections, ...one }) : manifestsOf(base);
  return { commit: 'a'.repeat(40), desired: desiredState(applied), removedIn: new Map() };
}

async function read(
  gateway: Gateway,
  desired: DesiredState,
  kinds: readonly string[],
  needed?: Parameters<Gateway['readAll']>[1],
): Promise<LiveState> {
  const { value, diagnostics } = await gateway.readAll(kinds, needed);
  if (value === undefined) throw new Error(JSON.stringify(diagnostics));
  const keys = needed?.objects ?? new Set<string>(desired.resources.map(({ key }) => key));
  const resources = await Promise.all(
    value.resources.map(async (live) => (keys.has(live.id) ? ((await gateway.readOne(live)) ?? live) : live)),
  );
  return { ...value, resources };
}

/** Plans as far as the gateway is asked about the draft. */
async function planOn(
  gateway: Gateway,
  desired: DesiredState,
  given: Partial<ReconcileInput>,
): Promise<{ readonly live: LiveState; readonly plan: unknown }> {
  const live = await read(gateway, desired, [...readableKinds.keys()]);
  const { value: draft, diagnostics } = draftPlan(inputOf({ desired, live, ...given }));
  if (draft === undefined) throw new Error(JSON.stringify(diagnostics));
  return { live, plan: JSON.parse(JSON.stringify(await reviewed(gateway, draft, checked))) };
}

test('the plan from a snapshot that was just taken is the one from the gateway', async () => {
  const seen = { changed: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(world, (one) =>
      onModel(buildWorld({ ...one, selected: [], auditors: 'auditor' }), async (model) => {
        const gateway = await openHoop(model, scenarioAuditor);
        try {
          const given: Partial<ReconcileInput> = {
            target: { name: 'test', url: 'http://hoop.test', dialect: 'hoop' },
            base: baseOf(one),
            limits: { ...noLimits, newAccess: one.newAccess },
          };
          const desired = desiredState(desiredOf(one));
          const { live, plan } = await planOn(gateway, desired, given);
          const taken: GatewaySnapshot = JSON.parse(JSON.stringify(await gateway.snapshot(live)));
          const { requests } = model.log;
          const before = requests.length;
          expect((await planOn(openSnapshot(taken), desired, given)).plan).toEqual(plan);
          expect(requests.length).toBe(before);
          const text = JSON.stringify(plan);
          seen.changed += Number(!text.includes('"changes":[]'));
          seen.refused += Number(!text.includes('"refusals":[]'));
        } finally {
          await gateway.close();
        }
      }),
    ),
    { numRuns: runCount(20) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(1);
});

test('the plan of a selection from the part that it needs is the one from everything', async () => {
  const seen = { whole: 0, within: 0, unjudged: 0, withoutPeople: 0, changed: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(world, (one) =>
      onModel(buildWorld(one), async (model) => {
        const desired = desiredState(desiredOf(one), { only: one.selected.map((name) => `Connection/${name}`) });
        const base = baseOf(one);
        const given: Partial<ReconcileInput> = {
          target: { name: 'test', url: 'http://hoop.test', dialect: 'hoop' },
          base,
          limits: { ...noLimits, newAccess: one.newAccess },
        };
        const isChecked = one.isChecked;
        let part = selectedPart(desired, { base: base?.desired, registry: readableKinds, isChecked });
        const [narrow, wide] = [await openHoop(model), await openHoop(model)];
        try {
          const whole = draftPlan(inputOf({ desired, live: await read(wide, desired, [...readableKinds.keys()]), ...given }));
          let drafted: PlanDraft | undefined;
          for (let next = part; next !== undefined && drafted === undefined;) {
            part = next;
            const draft = draftPlan(inputOf({ desired, live: await read(narrow, desired, part.kinds, part), ...given })).value;
            expect(draft?.prepared.live.partly ?? 0).toBe(draft && names.length + 1 + 99 * one.selected.length);
            next = draft && partFor(draft, part);
            drafted = next === part ? draft : undefined;
          }
          if (drafted === undefined || part === undefined) {
            seen.whole += 1;
            return;
          }
          if (whole.value === undefined) throw new Error(JSON.stringify(whole.diagnostics));
          const review = isChecked ? checked : unchecked;
          const [found, all] = [await reviewed(narrow, drafted, review), await reviewed(wide, whole.value, review)];
          expect(JSON.parse(JSON.stringify(found))).toEqual(JSON.parse(JSON.stringify(all)));
          seen.within += Number(part.lists === 'deciding');
          seen.unjudged += Number(part.lists === 'compared');
          seen.withoutPeople += Number(part.lists === 'deciding' && !part.kinds.includes('MachineIdentity'));
          seen.changed += Number((found.value?.plan.changes.length ?? 0) > 0);
          seen.refused += Number((found.value?.plan.refusals.length ?? 0) > 0);
        } finally {
          await Promise.all([narrow.close(), wide.close()]);
        }
      }),
    ),
    { numRuns: runCount(40) },
  );
  expect(Object.entries(seen).filter(([, count]) => count < 2)).toEqual([]);
});

const rowFields = ['access_max_duration', 'force_approve_groups', 'min_review_approvals', 'mandatory_metadata_fields'];
const { access_max_duration, force_approve_groups, min_review_approvals, mandatory_metadata_fields, reviewers } = randomFields;
/** What happened to a connection: its manifest changed, the gateway drifted in a field of its row, or in one that lists show. */
const happened = fc.record({
  proposed: fc.option(
    fc.oneof({ weight: 9, arbitrary: fields }, { weight: 1, arbitrary: fields.map((spec) => ({ ...spec, subtype: 'mysql' })) }),
    { freq: 1 },
  ),
  drift: fc.oneof(
    fc.constant({}),
    fc.record({ mandatory_metadata_fields: fc.subarray(['ticket', 'reason'], { minLength: 2 }) }),
    fc.record({ access_max_duration, force_approve_groups, min_review_approvals, mandatory_metadata_fields }, { requiredKeys: [] }),
    fc.record({ reviewers }),
  ),
});
const proposal = fc.record({
  world,
  happened: fc.tuple(happened, happened, happened),
  word: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: fc.constantFrom('DROP', 'TRUNCATE') }),
});

/** The manifest of the rule that the gateway has, with this word; none without one. */
function ruleOf(word: string | null): readonly Manifest[] {
  const input = { rules: [{ type: 'deny_words_list', words: [word] }] };
  return word === null ? [] : [{ kind: 'GuardrailRule', metadata: { name: 'no-drop' }, spec: { input } }];
}

test('the plan of a proposal from the rows that it needs is the one from everything, but for drift of other rows', async () => {
  const seen = { whole: 0, same: 0, held: 0, written: 0, widened: 0, changed: 0 };
  await fc.assert(
    fc.asyncProperty(proposal, ({ world: one, happened: changes, word }) => {
      const applied = one.manifests;
      const connections: World['connections'] = [
        { ...applied[0], ...changes[0].drift },
        { ...applied[1], ...changes[1].drift },
        { ...applied[2], ...changes[2].drift },
      ];
      return onModel(buildWorld({ ...one, connections, selected: [...names] }), async (model) => {
        const base = {
          commit: 'a'.repeat(40),
          desired: desiredState([...manifestsOf(applied), ...ruleOf(word && 'DROP')]),
          removedIn: new Map(),
        };
        const desired = desiredState([...manifestsOf(applied.map((spec, at) => changes[at]?.proposed ?? spec)), ...ruleOf(word)]);
        const given: Partial<ReconcileInput> = {
          target: { name: 'test', url: 'http://hoop.test', dialect: 'hoop' },
          base,
          start: base.desired,
          limits: { ...noLimits, newAccess: one.newAccess },
        };
        const touched = differencesBetweenStates(base.desired, desired).flatMap(({ names: changed }) => changed);
        const [narrow, wide] = [await openHoop(model), await openHoop(model)];
        try {
          const draft = async (gateway: Gateway, part?: NeededPart): Promise<PlanDraft> => {
            const live = await read(gateway, desired, part?.kinds ?? [...readableKinds.keys()], part);
            const { value, diagnostics } = draftPlan(inputOf({ desired, live, ...given }));
            if (value === undefined) throw new Error(JSON.stringify(diagnostics));
            return value;
          };
          let part: NeededPart | undefined = proposedPart(touched, readableKinds);
          let drafted = await draft(narrow, part);
          const wider = partFor(drafted, part);
          if (wider !== undefined && wider !== part) drafted = await draft(narrow, wider);
          part = wider !== undefined && partFor(drafted, wider) === wider ? wider : undefined;
          if (part === undefined || drafted.prepared.live.partly === undefined) {
            seen.whole += 1;
            return;
          }
          seen.widened += Number(part.objects.size > touched.length);
          const [whole, { objects }] = [await draft(wide), part];
          const plans = [await reviewed(narrow, drafted, unchecked), await reviewed(wide, whole, unchecked)];
          const [found, all] = plans.map(({ value, diagnostics }) => {
            if (value === undefined) throw new Error(JSON.stringify(diagnostics));
            return value.plan;
          });
          if (found === undefined || all === undefined) throw new Error('no plan');
          const others = all.changes.filter(({ id }) => !objects.has(id));
          expect(found.changes).toEqual(all.changes.filter(({ id }) => objects.has(id)));
          const unseen = others.flatMap((change) => change.fields);
          for (const { path } of unseen) expect(rowFields).toContain(tokensOf(path)[0]);
          const [shown, applying] = [digestOfWrites(found, drafted.prepared), digestOfWrites(all, whole.prepared)];
          const isHeld = unseen.every(({ held }) => held === true);
          expect(shown === applying).toBe(isHeld);
          const [narrowPlan, wholePlan] = [found, all].map((plan) => (others.length === 0 ? { ...plan, notCompared: [] } : {}));
          expect(JSON.parse(JSON.stringify(narrowPlan))).toEqual(JSON.parse(JSON.stringify(wholePlan)));
          seen.same += Number(others.length === 0);
          seen.held += Number(others.length > 0 && isHeld);
          seen.written += Number(!isHeld);
          seen.changed += Number(found.changes.length > 0);
        } finally {
          await Promise.all([narrow.close(), wide.close()]);
        }
      });
    }),
    { numRuns: runCount(30) },
  );
  expect(Object.entries(seen).filter(([, count]) => count < 2)).toEqual([]);
});
