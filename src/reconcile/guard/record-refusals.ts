import { firstOf } from '../../model/collections.ts';
import type { Remembered } from '../../model/applied-record.ts';
import type { BaseState, DesiredState } from '../../model/desired.ts';
import { isWritten, liveKeyOf, type Plan, type Refusal } from '../../model/plan/plan.ts';
import type { LiveState } from '../../model/live.ts';
import type { ResourceId } from '../../model/resource.ts';
import { mergeBehind } from '../prepare/base-states.ts';

/** A HEAD without the applied commit: an ancestor of it, or with `fork` a commit that left its history there. */
type BehindCommit = { readonly head: string; readonly applied: string; readonly fork?: DesiredState };

type ComparedSides = { readonly desired: DesiredState; readonly base: BaseState; readonly target: string };

/** Refuses to apply an ancestor of the last applied commit, and a commit that diverged from it and does not have its changes. */
export function behindRefusals({ head, applied, fork }: BehindCommit, { desired, base, target }: ComparedSides): readonly Refusal[] {
  const [here, there] = [head.slice(0, 10), applied.slice(0, 10)];
  if (fork === undefined) {
    const message = `HEAD (${here}) is older than ${there}, which was last applied to "${target}": this reverts later changes`;
    const hint = 'check out the current branch; to go back permanently, revert the commits';
    return [{ code: 'git/older-commit', message, hint, allowable: true }];
  }
  const { behind } = mergeBehind(desired, fork, base.desired);
  if (behind.length === 0) return [];
  const message = `HEAD (${here}) does not contain ${there}, which was last applied to "${target}": this reverts its changes of ${firstOf(behind, shown)}`;
  return [{ code: 'git/diverged-commit', message, hint: `merge ${there} into this branch, then plan again`, allowable: true }];
}

type UnrecordedInput = {
  readonly target: string;
  readonly desired: DesiredState;
  readonly remembered: Remembered | undefined;
  /** Objects that may be imported although they differ. */
  readonly imports: readonly string[];
};

/**
 * Refuses to change live objects while no apply is recorded. That they are live shows that a record may be missing, which costs no request and
 * cannot be removed by pushing refs; without the record, changes of other people would be undone as if the manifests had changed.
 */
export function unrecordedRefusals(plan: Plan, { target, desired, remembered, imports }: UnrecordedInput): readonly Refusal[] {
  const agreed = new Set<string>([...imports, ...desired.resources.flatMap(({ id, adopt }) => (adopt ? [id] : []))]);
  const created = new Set(remembered?.objects.map(({ key }) => key));
  const written = plan.changes.filter((change) => isWritten(change) && change.action !== 'create' && !created.has(liveKeyOf(change)));
  const isDetached = plan.edges.filter(({ action }) => action === 'detach').flatMap(({ by, rule }) => by ?? rule);
  const detached = isDetached.filter((id) => !created.has(id));
  const ids = [...new Set([...written.map(({ id }) => id), ...detached])].filter((id) => !agreed.has(id));
  if (ids.length === 0) return [];
  const message = `no apply to "${target}" is recorded, but ${firstOf(ids, shown)} ${ids.length === 1 ? 'is' : 'are'} live and would change`;
  const hint =
    'if it was applied before, pass --base COMMIT with the commit that was applied last: the apply records it again; if not, review the changes and override, or pass --import KIND/NAME';
  return [{ code: 'git/no-record', message, hint, allowable: true }];
}

type ForgottenInput = { readonly target: string; readonly forgotten: readonly { readonly id: ResourceId; readonly commit: string }[] };

/** Refuses to plan without a record while objects are live that only earlier commits declare: they would be forgotten instead of removed. */
export function forgottenRefusals({ target, forgotten }: ForgottenInput): readonly Refusal[] {
  const [first] = forgotten;
  if (first === undefined) return [];
  const { commit } = first;
  const ids = forgotten.map(({ id }) => id);
  const [are, it, them] = ids.length === 1 ? ['is', 'it', 'it'] : ['are', first.id, 'them'];
  const message = `no apply to "${target}" is recorded, but ${firstOf(ids, shown)} ${are} live, and the manifests of ${commit.slice(0, 10)} declare ${it}`;
  const hint = `if it was applied, pass --base ${commit}, which plans the removal and records the apply again; if not, list ${them} under released, or override`;
  return [{ code: 'git/no-record', message, hint, allowable: true }];
}

/** The codes of refusals of a record that record keys do not prove. */
export const unprovenRecordCodes: ReadonlySet<string> = new Set(['git/unsigned-record', 'git/earlier-record']);

type UnsignedInput = { readonly target: string; readonly desired: DesiredState; readonly live: LiveState };

/** Refuses a missing record that needs a signature while objects of the manifests are live: without it, orphans are forgotten. */
export function unsignedRefusals({ target, desired, live }: UnsignedInput): readonly Refusal[] {
  const found = new Set(live.resources.filter(({ managedBy }) => managedBy === undefined).map(({ id }) => id));
  const ids = desired.resources.flatMap(({ id, key }) => (found.has(key) ? [id] : []));
  if (ids.length === 0) return [];
  const message = `no apply to "${target}" is recorded, but the config lists record keys, and ${firstOf(ids, shown)} ${ids.length === 1 ? 'is' : 'are'} live`;
  const hint = 'if it was applied before, find out who deleted the record, and restore it; if this is the first apply, override once';
  return [{ code: 'git/unsigned-record', message, hint, allowable: true }];
}

const shown = 5;
