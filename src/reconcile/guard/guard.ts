import { addToGroup, joinWords } from '../../model/collections.ts';
import { desiredByKey, type DesiredResource, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { PreflightResult } from '../../model/gateway.ts';
import {
  type Allowance,
  type Change,
  type Diff,
  type OutsideReference,
  pluralOf,
  type Plan,
  type Refusal,
  type RiskClass,
} from '../../model/plan/plan.ts';
import type { Schedule } from '../../model/plan/schedule.ts';
import { riskRefusals } from '../../protection/risk/risk-codes.ts';
import type { AcceptedDiff } from '../accepted/accepted-drift.ts';
import type { Assessment } from '../assess/assess.ts';
import { losingIn } from '../../protection/compare/plan-differences.ts';
import { massChanges, type SortedRefusals, sortRefusals, unconfirmedImports, windowRefusals } from './refusals.ts';
import { canonical, compareText, equal, defined } from '../../model/json.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { comparedFields, isConnection, isOpen, type Kind, type Registry } from '../../model/kind.ts';
import { declaredKeys, type StateDiff } from '../diff/diff-states.ts';
import type { RemovedObject } from '../diff/removed-objects.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { sealsWithUnwritten } from '../saved-plan/plan-digest.ts';

/** The results of the stages before. */
export type GuardInput = {
  readonly desired: DesiredState;
  readonly diff: Diff;
  readonly schedule: Schedule;
  readonly assessment: Assessment;
  readonly limits: SortedRefusals;
  /** What refuses to switch on the access control of the gateway. */
  readonly accessRefusals: readonly Refusal[];
};

/** What may refuse a plan besides its limits and policies. */
type GuardOptions = {
  readonly preflight: Pick<PreflightResult, 'refusals' | 'references'>;
  readonly maxRisk: RiskClass | undefined;
  readonly allowed: readonly Allowance[];
};

/** Completes a plan with everything that `apply` would refuse it for, less what the user overrides. */
export function guard(parts: GuardInput, { preflight, maxRisk, allowed }: GuardOptions): Plan {
  const { desired, diff, schedule, assessment, limits } = parts;
  const references = sortReferences(preflight.references);
  const { refusals, used } = sortRefusals(
    [
      ...preflight.refusals,
      ...parts.accessRefusals,
      ...referenceRefusals(references, desired),
      ...assessment.refusals,
      ...riskRefusals(assessment, maxRisk),
      ...windowRefusals(diff, schedule.singleWrites),
    ],
    allowed,
  );
  return {
    ...diff,
    changes: assessment.changes,
    singleWrites: schedule.singleWrites,
    references,
    ...defined({ policies: assessment.policies }),
    protection: assessment.protection,
    ...(assessment.checks.length === 0 ? {} : { checks: assessment.checks }),
    unwritten: assessment.unwritten,
    accepted: assessment.accepted,
    unwrittenSecrets: unacceptedSecrets(diff, assessment),
    seals: sealsWithUnwritten(diff.seals, assessment),
    refusals: [...limits.refusals, ...refusals],
    allowed: [...limits.used, ...used],
  };
}

/** Leaves out secrets that accepted drift states already. */
function unacceptedSecrets({ unwrittenSecrets }: Diff, { accepted }: Assessment): Plan['unwrittenSecrets'] {
  const stated = new Set(accepted.flatMap(({ id, fields }) => fields.map(({ path }) => `${id} ${path}`)));
  return unwrittenSecrets.filter(({ id, path }) => !stated.has(`${id} ${path}`));
}

const maxShown = 5;

/** Sorts references independently of the order in which the gateway returns them. */
function sortReferences(references: readonly OutsideReference[]): readonly OutsideReference[] {
  const keyed = references.map((one) => [canonical([one.id, one.sort, one.name ?? '', one.how]), one] as const);
  return keyed.toSorted(([left], [right]) => compareText(left, right)).map(([, one]) => one);
}

/** Refuses each successor whose predecessor is named by an unmanaged object that would not apply to the successor. */
function referenceRefusals(references: readonly OutsideReference[], { resources }: DesiredState): readonly Refusal[] {
  const groups = new Map<ResourceId, OutsideReference[]>();
  for (const one of references) addToGroup(groups, one.id, one);
  return [...groups].map(([id, found]): Refusal => {
    const at = resources.find((resource) => resource.id === id)?.locate('');
    return {
      code: 'plan/replaces-references',
      message: messageOf(id, found),
      hint: hintOf(id, found),
      allowable: true,
      resource: id,
      at,
    };
  });
}

function messageOf(id: ResourceId, found: readonly OutsideReference[]): string {
  const predecessor = found[0]?.replaces ?? '';
  const known = found.filter(({ name }) => name !== undefined).map(({ sort, name = '' }) => `${sort} "${name}"`);
  const unseen = found.filter(({ name }) => name === undefined).map(({ sort }) => pluralOf(sort));
  const shown = known.length > maxShown ? [...known.slice(0, maxShown), `${known.length - maxShown} more`] : known;
  const [verb, tail] = known.length === 1 ? ['names', 'does'] : ['name', 'do'];
  return [
    ...(known.length === 0 ? [] : [`${joinWords(shown)} ${verb} ${predecessor}, and ${tail} not move to ${nameOf(id)}`]),
    ...(unseen.length === 0 ? [] : [`the token cannot see whether ${joinWords(unseen)} name ${predecessor}`]),
  ].join('; ');
}

/** Returns what to do. A gateway accepts the name of a connection that does not exist yet in some objects only. */
function hintOf(id: ResourceId, found: readonly OutsideReference[]): string {
  const isKnown = found.some(({ name }) => name !== undefined);
  const isUnseen = found.some(({ name }) => name === undefined);
  const name = nameOf(id);
  return [
    ...(isKnown ? [`add ${name} to them on the gateway; where it rejects the new name, allow this and add it right after the apply`] : []),
    ...(isUnseen ? ['plan with the token of an admin to see the rest'] : []),
  ].join('; ');
}

/** Refuses mass changes, unconfirmed imports, and changed names; measures all differences, even if the command applies only some. */
export function checkLimits(
  prepared: Prepared,
  { diff, removed }: StateDiff,
  planned: PlannedStates,
  accepted: AcceptedDiff | undefined,
): SortedRefusals {
  const { input, base, named, desired } = prepared;
  const { registry, limits, allowed, consent } = input;
  const { changes } = diff;
  let managed = removed.length;
  for (const id of declaredKeys(named.desired)) if (named.liveById.has(id)) managed += 1;
  const applied = new Set(base?.desired.resources.map(({ id }) => id));
  const created = changes.filter(({ id, action }) => action === 'create' && !applied.has(id));
  const resumed = findResumed(prepared);
  const connections = named.live.resources.filter(({ id }) => isConnection(id, registry)).length;
  const losing = new Set(
    [planned, ...(accepted === undefined ? [] : [accepted])].flatMap(({ differences }) => [...losingIn(differences())]),
  );
  const mass = massChanges(changes, {
    objects: { live: managed, settled: managed - resumed.length },
    connections: { live: connections, settled: connections - resumed.filter((id) => isConnection(id, registry)).length },
    losing: losing.size,
    limits,
  });
  const imports = unconfirmedImports(changes, desired, consent?.imports ?? []);
  return sortRefusals([...imports, ...changedNames(created, named.desired.resources, removed, registry), ...mass], allowed);
}

/**
 * Finds the live objects that an incomplete apply of the same manifests created or imported. They do not make a plan large enough for
 * limits: if that apply was allowed to start, the next one may continue.
 */
function findResumed({ input, own, named }: Prepared): readonly ResourceId[] {
  const applied = desiredByKey(input.base?.desired.resources ?? []);
  const manifests = desiredByKey(input.desired.resources);
  return [...own.values()].flatMap(({ key, resource, unfinished }) => {
    const manifest = manifests.get(key);
    if (manifest === undefined || applied.has(key) || !named.liveById.has(manifest.id)) return [];
    return unfinished === true || equal(resource?.spec, manifest.spec) ? [manifest.id] : [];
  });
}

/** Refuses new names for removed objects that are still live and the same otherwise. */
function changedNames(
  created: readonly Change[],
  resources: readonly DesiredResource[],
  removed: readonly RemovedObject[],
  registry: Registry,
): readonly Refusal[] {
  if (removed.length === 0 || created.length === 0) return [];
  const ids = new Set<ResourceId>(created.map(({ id }) => id));
  const taken = new Set(resources.map(formerIdOf));
  const free = removed.filter(({ live }) => !taken.has(live.id));
  return resources
    .filter(({ id }) => ids.has(id))
    .flatMap((resource) => {
      const kind = registry.get(kindOf(resource.id));
      return kind === undefined ? [] : (findChangedName(kind, resource, free) ?? []);
    });
}

/**
 * Refuses a new resource that equals a removed one except for its name, while the removed one is still live: the gateway cannot
 * change a name, so there would be two.
 */
function findChangedName(kind: Kind, desired: DesiredResource, removed: readonly RemovedObject[]): Refusal | undefined {
  if (!kind.named || desired.replaces !== undefined || desired.renamedFrom !== undefined) return undefined;
  const predecessor = removed.find(({ base }) => kindOf(base.id) === kind.name && isSameExceptName(kind, base, desired));
  if (predecessor === undefined) return undefined;
  const field = kind.renamable ? 'renamedFrom' : 'replaces';
  return {
    code: 'plan/immutable-name',
    message: `it looks like a rename of ${predecessor.base.id}; ${kind.renamable ? 'without its former name' : 'names are immutable, so'} the gateway would have both: ${costOf(kind, predecessor)}`,
    hint: `to ${kind.renamable ? 'rename' : 'replace'} it, set metadata.${field}: ${nameOf(predecessor.base.id)}; otherwise restore the old name`,
    allowable: true,
    resource: desired.id,
    at: desired.locate(''),
  };
}

/** Describes what happens to the removed object: it stays open, and its secrets do not move. */
function costOf(kind: Kind, { base: { id }, live }: RemovedObject): string {
  const hasSecrets = Object.keys(live.secrets).length > 0 || live.unknown.length > 0;
  return `${id} stays ${isOpen(kind, live.spec) ? 'accessible' : 'unchanged'}${hasSecrets ? ', and its secrets are not copied' : ''}`;
}

/** Returns whether two resources are the same except for values that follow from the name. */
function isSameExceptName(kind: Kind, base: DesiredResource, desired: DesiredResource): boolean {
  const named = Object.keys(kind.createDefaults(nameOf(desired.id)));
  const same = comparedFields(kind).every(({ name }) => named.includes(name) || equal(base.spec[name], desired.spec[name]));
  const ours = new Set(sourcesOf(base));
  const theirs = sourcesOf(desired);
  return same && theirs.length === ours.size && theirs.every((source) => ours.has(source));
}

function sourcesOf({ secrets }: DesiredResource): readonly string[] {
  return Object.entries(secrets).map(([path, { source }]) => `${path} ${source}`);
}
