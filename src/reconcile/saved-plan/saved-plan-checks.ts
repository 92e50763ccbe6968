import type { DesiredState } from '../../model/desired.ts';
import {
  type Diff,
  isWritten,
  noDigest,
  type Plan,
  type Refusal,
  type SecretProvenance,
  type TargetIdentity,
} from '../../model/plan/plan.ts';
import { sourcesOf } from './plan-digest.ts';
import { kindOf } from '../../model/resource.ts';

/** Refuses a saved plan of another format version. */
export function otherVersion(version: string): Refusal {
  return savedPlanRefusal(
    'plan/other-version',
    `the plan has version ${version}, but this Ostiary reads version 1`,
    'apply it with the Ostiary version that planned it, or plan again',
  );
}

/** Refuses a saved plan of another major or minor version of Ostiary: its meaning may differ. */
export function otherTool(then: string, now: string): Refusal | undefined {
  if (minorOf(then) === minorOf(now)) return undefined;
  return savedPlanRefusal(
    'plan/other-version',
    `the plan was made by Ostiary ${then}, but this is ${now}`,
    `apply it with ${minorOf(then)}, or plan again`,
  );
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** What a plan says besides its digest about whether it does or accepts anything. */
type Contents = Pick<Diff, 'seals' | 'changes' | 'unwrittenSecrets'> & Pick<Plan, 'accepted' | 'unwritten'>;

/**
 * Refuses a plan other than the reviewed one; without a reviewed plan, one that writes, accepts drift, or has manifests that changed without a
 * write. `applied` is the digest of the plan that was applied completely last: a plan without changes is what is left of it.
 */
export function differentPlan(
  wanted: string,
  { seals, changes, accepted, unwritten, unwrittenSecrets }: Contents,
  applied?: string,
): Refusal | undefined {
  const isEmpty = !changes.some(isWritten) && accepted.length + unwritten.length + unwrittenSecrets.length === 0;
  if (wanted === noDigest) return isEmpty ? undefined : unreviewedPlan(seals.digest);
  if (wanted === seals.digest) return undefined;
  if (wanted === applied && isEmpty && changes.length === 0) return undefined;
  return savedPlanRefusal(
    'plan/other-digest',
    `the plan differs from the approved plan: its digest is ${seals.digest}, expected ${wanted}`,
    'the manifests or the gateway changed since then: review this plan and pass its digest to approve it',
  );
}

function unreviewedPlan(digest: string): Refusal {
  return savedPlanRefusal(
    'plan/other-digest',
    `no plan was approved, but this plan has changes: its digest is ${digest}`,
    'review it and pass its digest to approve it',
  );
}

/** Refuses a saved plan for another gateway, name, URL or dialect. */
export function otherTarget(then: TargetIdentity, now: TargetIdentity): Refusal | undefined {
  const [planned, here] = [targetText(then), targetText(now)];
  if (planned === here) return undefined;
  return savedPlanRefusal(
    'plan/other-target',
    `the plan is for ${planned}, but this is ${here}`,
    'check --target, --url and the token, or plan again',
  );
}

function targetText({ name, url, dialect, organisation }: TargetIdentity): string {
  return `${name} (${url}, ${dialect}${organisation === undefined ? '' : `, organization ${organisation}`})`;
}

/** Refuses a saved plan of other manifests than the current ones. */
export function otherManifests(then: string, now: string): Refusal | undefined {
  if (then === now) return undefined;
  return savedPlanRefusal(
    'plan/other-manifests',
    `the manifests changed since the plan (${then.slice(0, 12)} then, ${now.slice(0, 12)} now)`,
    'check out the planned commit, or plan again',
  );
}

/** Refuses a saved plan if a committed file that a secret comes from changed since the plan. */
export function otherContents(sources: readonly SecretProvenance[], desired: DesiredState): Refusal | undefined {
  const now = new Map(sourcesOf(desired).map(({ id, path, content }) => [`${id}${path}`, content]));
  const changed = sources.find(({ id, path, content }) => now.get(`${id}${path}`) !== content);
  if (changed === undefined) return undefined;
  return savedPlanRefusal(
    'plan/other-manifests',
    `${changed.source} changed since the plan`,
    'check out the planned commit, or plan again',
  );
}

/** Refuses a saved plan of another repository, if both histories are known. */
export function otherRepository(then: readonly string[], now: readonly string[]): Refusal | undefined {
  if (then.length === 0 || now.length === 0 || then.some((commit) => now.includes(commit))) return undefined;
  return savedPlanRefusal(
    'plan/other-repository',
    `the plan was made in another repository, whose first commit is ${then[0]?.slice(0, 10) ?? ''}`,
    'run in a clone of that repository, or plan again',
  );
}

/** Refuses changes that do not follow from the manifests: writes of undeclared objects, and deletions of declared ones. */
export function undeclaredChanges({ changes }: Pick<Diff, 'changes'>, { resources }: DesiredState): readonly Refusal[] {
  const declared = new Set<string>(resources.map(({ id }) => id));
  const keys = new Set<string>(resources.map(({ key }) => key));
  const replaced = new Set<string>(resources.flatMap(({ id, replaces }) => (replaces === undefined ? [] : [`${kindOf(id)}/${replaces}`])));
  return changes.filter(isWritten).flatMap(({ id, key = id, action }): readonly Refusal[] => {
    const follows = action === 'delete' ? !keys.has(key) : declared.has(id) || (action === 'update' && replaced.has(id));
    if (follows) return [];
    const message = `the plan has a change (${action}) that does not follow from the manifests`;
    return [{ ...savedPlanRefusal('plan/other-manifests', message, 'plan again'), resource: id }];
  });
}

/** Returns a refusal that cannot be overridden. */
export function savedPlanRefusal(code: Refusal['code'], message: string, hint: string): Refusal {
  return { code, message, hint, allowable: false };
}
