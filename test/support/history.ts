import * as fc from 'fast-check';
import { registry } from '../../src/kinds/index.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import type { Consent, PlanFilter } from '../../src/reconcile/prepare/prepare.ts';
import { draftPlan, reviewPlan } from '../../src/reconcile/reconcile.ts';
import { desiredState } from './desired-state.ts';
import { memoryGateway, type MemoryGateway } from './memory-gateway.ts';
import { inputOf, reviewOf } from './run-pipeline.ts';
import { scenario, type Manifest, type Scenario } from './scenario.ts';

/** Manifests that were applied once, those of today, and a gateway that went its own way. */
export type History = {
  readonly one: Scenario;
  readonly desired: DesiredState;
  readonly base: BaseState;
  readonly consent: Consent;
};

/** The same manifests, their first one of the kind under another name, with a word of its former one. */
function renamed(manifests: readonly Manifest[], kind: string, field: 'renamedFrom' | 'replaces'): readonly Manifest[] {
  const [first] = manifests.filter((one) => one.kind === kind);
  if (first === undefined) return manifests;
  const name = first.metadata.name;
  const copies: readonly Manifest[] = JSON.parse(JSON.stringify(manifests).replaceAll(`"${name}"`, '"renamed"'));
  return copies.map((one) =>
    one.kind === kind && one.metadata.name === 'renamed' ? { ...one, metadata: { ...one.metadata, [field]: name } } : one,
  );
}

/** Any two sets of manifests, and any gateway. */
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
    return { one, desired, base, consent: { adopt: ids, revert: reverts && renames !== 'connection' ? ids : [], prune } };
  });

/** The gateway of a history. */
export function gatewayOf({ one }: Pick<History, 'one'>, onWrite?: () => Promise<void>): MemoryGateway {
  const options = { registry, agents: ['default', 'other'], resources: one.live, tellsUntouched: true };
  return memoryGateway({ ...options, ...(onWrite === undefined ? {} : { onWrite }) });
}

/** The errors of successors that cannot take over everything. */
const impossible: ReadonlySet<string> = new Set(['plan/would-lose-secret', 'plan/edge-cannot-move']);

/** What somebody cannot know beforehand: an edge of a rule without a manifest cannot move, a kept secret may be missing. */
function isPossible(diagnostics: readonly Diagnostic[]): boolean {
  return !diagnostics.some(({ code, severity }) => severity === 'error' && impossible.has(code));
}

/** Plans a history over its gateway, and skips what cannot be planned. */
export async function planAgainst(
  gateway: MemoryGateway,
  { desired, base, consent }: Pick<History, 'desired' | 'base' | 'consent'>,
  filter?: PlanFilter,
): Promise<{ readonly plan: Plan; readonly live: LiveState; readonly desired: DesiredState }> {
  const { value: live } = await gateway.readAll([...registry.keys()]);
  if (live === undefined) throw new Error('the list is not whole');
  const draft = draftPlan(inputOf({ desired, live, base, consent, filter }));
  fc.pre(isPossible(draft.diagnostics));
  const reviewed = draft.value && reviewPlan(draft.value, reviewOf());
  if (draft.value === undefined || reviewed?.value === undefined)
    throw new Error([...draft.diagnostics, ...(reviewed?.diagnostics ?? [])].map(({ code, message }) => `${code} ${message}`).join('\n'));
  return { plan: reviewed.value.plan, live, desired: draft.value.prepared.desired };
}
