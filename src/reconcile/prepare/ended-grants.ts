import { type BaseState, desiredById, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { textsIn } from '../../model/json.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import { fieldAt } from '../../model/pointer.ts';
import type { TimedGrant } from '../../model/protection/timed-grants.ts';
import { hasEnded } from '../../model/time.ts';

/** The states of a plan, and the time that decides which access has ended. */
type DatedStates = {
  readonly desired: DesiredState;
  readonly base: BaseState | undefined;
  readonly start?: DesiredState | undefined;
  readonly live: LiveState;
  readonly now?: string | undefined;
};

/**
 * Returns the input as of `now`: the manifests no longer grant what has ended. The list stays restricted: without a group it admits only admins.
 * Of the base, it leaves out what the manifests still state, so that the ended access is drift and no intent, and what is no longer live.
 */
export function withoutEndedGrants<Input extends DatedStates>(given: Input): Input {
  const { now, base, live } = given;
  if (now === undefined) return given;
  const input = given.start === undefined ? given : { ...given, start: grantedAt(given.start, now) };
  const isOver = ({ until }: TimedGrant): boolean => hasEnded(until, now);
  const desired = grantedAt(input.desired, now);
  if (base === undefined) return { ...input, desired };
  if (base.desired === input.desired) return { ...input, desired, base: { ...base, desired } };
  const isLeft = leftGrants(desired, live);
  const applied = withoutGrants(base.desired, (resource) => (grant) => isOver(grant) && isLeft(resource, grant));
  return { ...input, desired, base: { ...base, desired: applied } };
}

/** Returns the manifests without what they no longer grant at a time. */
export function grantedAt(desired: DesiredState, now: string): DesiredState {
  return withoutGrants(
    desired,
    () =>
      ({ until }) =>
        hasEnded(until, now),
  );
}

/** Creates the test for applied grants that the manifests state as ended, or that are not live. */
function leftGrants(desired: DesiredState, live: LiveState): (resource: DesiredResource, grant: TimedGrant) => boolean {
  const [declared, found] = [desiredById(desired.resources), liveById(live.resources)];
  return ({ id, key }, { path, group }) => {
    if (declared.get(id)?.grants?.some((one) => one.ended === true && one.path === path) === true) return true;
    return !textsIn(found.get(key)?.spec[fieldAt(path)]).includes(group);
  };
}

/** Removes the grants that the test finds from the specs, and marks them as ended; the same state if there are none. */
function withoutGrants(state: DesiredState, testFor: (resource: DesiredResource) => (grant: TimedGrant) => boolean): DesiredState {
  let isSame = true;
  const resources = state.resources.map((resource): DesiredResource => {
    const ended = (resource.grants ?? []).filter(testFor(resource));
    if (ended.length === 0) return resource;
    isSame = false;
    const spec = { ...resource.spec };
    for (const { path, group } of ended) spec[fieldAt(path)] = textsIn(spec[fieldAt(path)]).filter((name) => name !== group);
    const grants = (resource.grants ?? []).map((grant) => (ended.includes(grant) ? { ...grant, ended: true as const } : grant));
    return { ...resource, spec, grants };
  });
  return isSame ? state : { ...state, resources };
}
