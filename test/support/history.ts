import * as fc from 'fast-check';
import { registry } from '../../src/kinds/index.ts';
import { emptyRecord, type Remembered } from '../../src/model/applied-record.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Checked, Diagnostic } from '../../src/model/diagnostic.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Diff, Plan } from '../../src/model/plan/plan.ts';
import type { ApplyResult } from '../../src/model/result/outcome.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { writesAfter } from '../../src/reconcile/record-content/record-changes.ts';
import type { Consent } from '../../src/reconcile/prepare/prepare.ts';
import { compareStates, type Comparison, draftPart, draftPlan, type PlanDraft, reviewPlan } from '../../src/reconcile/reconcile.ts';
import { desiredState } from './desired-state.ts';
import { memoryGateway, type MemoryGateway } from './memory-gateway.ts';
import { applyPlan, inputOf, reviewOf } from './run-pipeline.ts';
import { manifestId, scenario, selfContained, type Manifest, type Scenario } from './scenario.ts';

/** The manifests of the last apply, the current ones, and a gateway that has drifted. */
export type History = {
  readonly one: Scenario;
  readonly desired: DesiredState;
  readonly base: BaseState;
  readonly consent: Consent;
};

/** Returns the manifests with the first one of the kind renamed, and its previous name declared. */
function renamed(manifests: readonly Manifest[], kind: string, field: 'renamedFrom' | 'replaces'): readonly Manifest[] {
  const [first] = manifests.filter((one) => one.kind === kind);
  if (first === undefined) return manifests;
  const name = first.metadata.name;
  const copies: readonly Manifest[] = JSON.parse(JSON.stringify(manifests).replaceAll(`"${name}"`, '"renamed"'));
  return copies.map((one) =>
    one.kind === kind && one.metadata.name === 'renamed' ? { ...one, metadata: { ...one.metadata, [field]: name } } : one,
  );
}

/** Generates two sets of manifests and a gateway. */
export const history: fc.Arbitrary<History> = fc
  .record({
    one: scenario,
    past: scenario,
    prune: fc.boolean(),
    reverts: fc.boolean(),
    renames: fc.constantFrom('', 'rule', 'connection'),
    protect: fc.boolean(),
  })
  .map(({ one, past, prune, reverts, renames, protect }) => {
    const manifests = {
      '': one.manifests,
      rule: renamed(one.manifests, 'GuardrailRule', 'renamedFrom'),
      connection: renamed(one.manifests, 'Connection', 'replaces'),
    }[renames];
    const desired = desiredState(manifests);
    const applied = past.manifests.map((manifest, index) =>
      protect && index === 0 ? { ...manifest, metadata: { ...manifest.metadata, protect: true } } : manifest,
    );
    const ids = desired.resources.map(({ id }) => id);
    const base: BaseState = { commit: 'a'.repeat(40), desired: desiredState(applied), removedIn: new Map() };
    return { one, desired, base, consent: { imports: ids, revert: reverts && renames !== 'connection' ? ids : [], prune } };
  });

/** Manifests that are applied, then others, with everything pruned that the others leave out. */
export type Succession = { readonly before: readonly Manifest[]; readonly after: readonly Manifest[] };

const isConnection = ({ kind }: Manifest): boolean => kind === 'Connection';

/** Generates manifests of connections under the same rules, and other manifests that leave out at least one of them. */
export const succession: fc.Arbitrary<Succession> = fc
  .record({ past: scenario, one: scenario, kept: fc.nat({ max: 2 }) })
  .map(({ past, one, kept }) => {
    const before = selfContained(past);
    const left = new Set(before.filter(isConnection).slice(kept).map(manifestId));
    const after = one.manifests.filter((manifest) => !left.has(manifestId(manifest)));
    return { before: before.map(stripped), after: selfContained({ manifests: after, live: [] }).map(stripped), left };
  })
  .filter(({ left, after }) => left.size > 0 && after.length > 0);

/** Returns a manifest whose changes are all written. */
function stripped({ kind, metadata: { name }, spec }: Manifest): Manifest {
  return { kind, metadata: { name }, spec };
}

/** Returns the base and the consent with which the second half of a succession is planned. */
export function pruning({ before }: Pick<Succession, 'before'> & Partial<Succession>): {
  readonly base: BaseState;
  readonly consent: Consent;
} {
  const base: BaseState = { commit: 'a'.repeat(40), desired: desiredState(before), removedIn: new Map() };
  return { base, consent: { imports: [], revert: [], prune: true } };
}

/** Counts the open connections that a plan deletes while it weakens one of their rules. */
export function weakenedDeletions(plan: Plan, live: LiveState): number {
  const deleted = new Set(plan.changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  const weakened = new Set(plan.changes.flatMap(({ id, risks }) => (risks.some((risk) => risk.class === 'weakens') ? [id] : [])));
  const ends = live.resources.flatMap(({ id, edges }) => (weakened.has(id) ? (edges['connection_ids'] ?? []) : []));
  return ends.filter((id) => deleted.has(id)).length;
}

/** Creates the gateway of a history. */
export function gatewayOf({ one }: Pick<History, 'one'>, onWrite?: () => Promise<void>): MemoryGateway {
  const options = {
    registry,
    agents: ['default', 'other'],
    resources: one.live,
    reportsUntouched: true,
    listsVersions: one.live.length % 2 === 0,
  };
  return memoryGateway({ ...options, ...(onWrite === undefined ? {} : { onWrite }) });
}

/** The error codes of successors that cannot inherit every field. */
const impossible: ReadonlySet<string> = new Set(['plan/would-lose-secret', 'plan/edge-cannot-move']);

/** The error codes that a scenario cannot avoid: an edge of a rule without a manifest cannot move, and a kept secret may be missing. */
function isPossible(diagnostics: readonly Diagnostic[]): boolean {
  return !diagnostics.some(({ code, severity }) => severity === 'error' && impossible.has(code));
}

/** Applies a plan of a history, and returns what the record keeps of that apply. */
export async function applyRecorded(
  gateway: MemoryGateway,
  planned: Awaited<ReturnType<typeof planHistory>>,
  { desired }: Pick<History, 'desired'>,
): Promise<Remembered> {
  return rememberedAfter({ ...planned, desired }, await applyPlan({ gateway, ...planned }));
}

/** Returns what the record keeps of an apply of the manifests. */
export function rememberedAfter({ plan, base, desired }: Awaited<ReturnType<typeof planHistory>>, result: ApplyResult): Remembered {
  const commit = 'b'.repeat(40);
  const pending = [{ commit, ...writesAfter({ plan, steps: [] }, result, base) }];
  return recallObjects({ ...emptyRecord, pending }, new Map([[commit, desired]]));
}

/** Plans a history against its gateway, and skips a case that cannot be planned. */
export async function planHistory(
  gateway: MemoryGateway,
  { desired, base, consent, remembered }: Pick<History, 'desired' | 'base' | 'consent'> & { readonly remembered?: Remembered },
  part?: (whole: Diff) => Diff,
): Promise<{ readonly plan: Plan; readonly live: LiveState; readonly desired: DesiredState; readonly base: BaseState | undefined }> {
  const { value: live } = await gateway.readAll([...registry.keys()]);
  if (live === undefined) throw new Error('incomplete listing');
  const input = inputOf({ desired, live, base, consent, remembered });
  const draft = part === undefined ? draftPlan(input) : draftPartOf(compareStates(input), part);
  fc.pre(isPossible(draft.diagnostics));
  const reviewed = draft.value && reviewPlan(draft.value, reviewOf());
  if (draft.value === undefined || reviewed?.value === undefined)
    throw new Error([...draft.diagnostics, ...(reviewed?.diagnostics ?? [])].map(({ code, message }) => `${code} ${message}`).join('\n'));
  return { plan: reviewed.value.plan, live, desired: draft.value.prepared.desired, base: draft.value.prepared.base };
}

function draftPartOf({ value, diagnostics }: Checked<Comparison>, part: (whole: Diff) => Diff): Checked<PlanDraft> {
  return value === undefined ? { diagnostics } : { value: draftPart(value, part(value.states.diff)), diagnostics };
}
