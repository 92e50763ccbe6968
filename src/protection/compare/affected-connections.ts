import { addToGroup } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';
import { type Change, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Cause, ControlChange, ControlType, PostureChange } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import type { Difference } from '../access/terms.ts';
import {
  combineEffects,
  compareProtection,
  type ControlDifference,
  effectsOfDifferences,
  type ProtectionEffect,
} from '../controls/compare-protection.ts';
import { controlsOf, controlTexts, emptyPosture, enforcedTexts, type Posture, type ComparedPostures } from '../controls/control-row.ts';
import { everybodyControl } from '../controls/access-rows.ts';
import { noDifference } from '../controls/compare-controls.ts';
import { aspectTypes, controlRow, controlTable, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { isEnforcedControl, isSameEnforcement } from '../controls/enforcement.ts';
import { decidersFor } from '../effective/deciders.ts';
import { firstsOfAlike } from '../posture/alike-connections.ts';
import { isFirstOpening, type PlannedWrites, type PlanSnapshots, rulesOnEither } from '../posture/diff-postures.ts';
import { postureIn } from '../posture/posture.ts';
import type { AspectDifference } from './compare-aspects.ts';
import type { PlanCauses } from './plan-causes.ts';
import { controlsAbout, directionsOf, type PlanDifferences } from './plan-differences.ts';

/** One connection whose protection a plan changes, with the differences. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly differences: readonly ControlDifference[];
  readonly before: Posture;
  readonly after: Posture;
  /** The causes by control type and effect; of a connection that is created, its creation, and of one that is deleted, none. */
  readonly causes: ReadonlyMap<ControlType, CausesByEffect>;
  /** Another connection replaces the deleted one. */
  readonly isReplaced: boolean;
};

/** The causes of each effect of a difference, and of what is not enforced. */
type CausesByEffect = ReadonlyMap<ProtectionEffect | 'neutral', readonly Cause[]>;

/** What a plan writes, and two states of a gateway with what differs between them. */
type DiffedStates = {
  readonly plan: Pick<PlannedWrites, 'changes' | 'edges'>;
  readonly snapshots: PlanSnapshots;
  readonly differences: PlanDifferences;
  readonly causesOf: PlanCauses['causesOf'];
};

/** Lists the connections whose protection differs, directly or through a rule, and in which words; sorted by id. */
export function affectedConnections({ plan, snapshots, differences, causesOf }: DiffedStates): readonly AffectedConnection[] {
  const { before, after, predecessors } = snapshots;
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const attached = new Set(plan.edges.map(({ connection }) => connection));
  const lookup = lookUpDifferences(differences, causesOf);
  const whole = [...changes].flatMap(([id, change]) =>
    kindOf(id) === 'Connection' &&
    isWritten(change) &&
    (change.action === 'create' || change.action === 'delete' || isFirstOpening(change, before.resources.has(id)))
      ? [id]
      : [],
  );
  const ids = [...new Set([...whole, ...lookup.ids])].toSorted(compareText);
  const known = new Map<ResourceId, AffectedConnection | undefined>();
  const firstOf = firstsOfAlike(
    ids.filter((id) => !changes.has(id) && !attached.has(id) && before.resources.has(id) && after.resources.has(id)),
    snapshots,
  );
  return ids.flatMap((id) => {
    const [had, has] = [postureIn(before, id), postureIn(after, id)];
    const first = firstOf.get(id);
    if (first !== undefined && first !== id && had !== undefined && has !== undefined) {
      const one = known.get(first);
      return one === undefined ? [] : [alikeConnection(one, { id, before: had, after: has })];
    }
    const predecessor = predecessors.get(id);
    const replaced =
      predecessor === undefined ? {} : { replaced: { id: predecessor, posture: postureIn(before, predecessor) ?? emptyPosture } };
    const found = affectedConnection({ id, own: changes.get(id), before: had, after: has, ...replaced, lookup });
    known.set(id, found);
    return found ?? [];
  });
}

/** Returns for a connection what was found for one that the plan treats alike. */
function alikeConnection(
  one: AffectedConnection,
  { id, before, after }: { readonly id: ResourceId; readonly before: Posture; readonly after: Posture },
): AffectedConnection {
  const { rules: _, ...change } = one.change;
  const isSame = before.rules === one.before.rules && after.rules === one.after.rules;
  const rules = isSame ? (one.change.rules ?? []) : rulesOnEither(before, after);
  return {
    ...one,
    before,
    after,
    change: { ...change, connection: id, tags: after.tags, ...(rules.length === 0 ? {} : { rules }) },
  };
}

/** Finds what differs on a connection, and what the plan writes of what decides it. */
type DifferenceLookup = {
  readonly ids: readonly ResourceId[];
  readonly aboutOn: (connection: ResourceId, control: ControlType) => readonly Difference[];
  readonly aspectOn: (connection: ResourceId, control: ControlType) => AspectDifference | undefined;
  readonly causesOf: PlanCauses['causesOf'];
};

function lookUpDifferences({ access, aspects }: PlanDifferences, causesOf: PlanCauses['causesOf']): DifferenceLookup {
  const byControl = new Map<string, Difference[]>();
  for (const one of access) for (const control of controlsAbout(one)) addToGroup(byControl, `${one.connection} ${control}`, one);
  const byAspect = new Map(aspects.flatMap((one) => one.alike.map((id) => [`${id} ${one.part}`, one] as const)));
  return {
    ids: [...access.map(({ connection }) => connection), ...aspects.flatMap(({ alike }) => alike)],
    aboutOn: (connection, control) => byControl.get(`${connection} ${control}`) ?? [],
    aspectOn: (connection, control) => byAspect.get(`${connection} ${control}`),
    causesOf,
  };
}

/** Returns what decides the differences of a control on a connection, by their direction. */
function decidersOn(
  id: ResourceId,
  control: ControlType,
  { aboutOn, aspectOn }: DifferenceLookup,
): ReadonlyMap<AccessDirection, readonly Decider[]> {
  const found = new Map<AccessDirection, readonly Decider[]>();
  const aspect = aspectOn(id, control);
  for (const one of [...(aspect === undefined ? [] : [aspect]), ...aboutOn(id, control)]) {
    for (const direction of directionsOf(one)) {
      const by = decidersFor(id, one.causes[direction] ?? [], one.connection);
      const own = by.filter((decider) => formsControl(decider, control));
      found.set(direction, [...(found.get(direction) ?? []), ...(own.length > 0 ? own : by)]);
    }
  }
  return found;
}

/** Returns whether a decider forms a control, and not only another one that the same difference is about. */
function formsControl({ id, path, edge }: Decider, control: ControlType): boolean {
  return (path === '' || edge !== undefined ? ruleControlTypes(kindOf(id)) : controlTypesOf(kindOf(id), path)).includes(control);
}

type Sides = {
  readonly id: ResourceId;
  readonly own: Change | undefined;
  readonly before: Posture | undefined;
  readonly after: Posture | undefined;
  readonly replaced?: { readonly id: ResourceId; readonly posture: Posture };
  readonly lookup: DifferenceLookup;
};

/** Names the differences of a connection that both states have, by control. */
function orderedDifferences(
  id: ResourceId,
  sides: ComparedPostures,
  { aboutOn, aspectOn }: DifferenceLookup,
): readonly ControlDifference[] {
  return controlTable.flatMap((row): readonly ControlDifference[] => {
    const aspect = aspectOn(id, row.type);
    if (aspect !== undefined) return [aspect.compared];
    const about = row.moved === undefined ? [] : aboutOn(id, row.type);
    const found = about.length === 0 ? undefined : row.moved?.(sides, about);
    if (found === undefined || Object.values(found).every(({ length }) => length === 0)) return [];
    return [{ ...noDifference, control: row.type, ...found }];
  });
}

/** Returns the texts of a control that only one side has, as reports print them. */
export function changedTexts(control: ControlType, { before, after }: ComparedPostures): Pick<ControlChange, 'before' | 'after'> {
  const { textsOf = (posture: Posture) => controlTexts(controlsOf(posture, control)) } = controlRow(control);
  const isAlike = !isEnforcedControl(control) || isSameEnforcement(before.enforcement, after.enforcement, control);
  const [had, has] = [before, after].map((posture) => (isAlike ? textsOf(posture) : enforcedTexts(posture, control)));
  return { before: textsMissing(had, has), after: textsMissing(has, had) };
}

function textsMissing(texts: readonly string[] = [], others: readonly string[] = []): readonly string[] {
  const known = new Set(others);
  return texts.filter((text) => !known.has(text));
}

/** Lists the controls of a connection that only one state has, without an order. */
function unorderedDifferences(sides: ComparedPostures): readonly ControlDifference[] {
  const compared = new Map(compareProtection(sides.before, sides.after).map((one) => [one.control, one]));
  return controlTable.flatMap(({ type, moved }): readonly ControlDifference[] => {
    if (moved === undefined) return [compared.get(type) ?? []].flat();
    // That everybody sees a connection is no control of it.
    if (controlsOf(sides.before, type).concat(controlsOf(sides.after, type)).includes(everybodyControl)) return [];
    const texts = changedTexts(type, sides);
    return texts.before.length + texts.after.length === 0 ? [] : [{ ...noDifference, control: type }];
  });
}

function affectedConnection(sides: Sides): AffectedConnection | undefined {
  const { id, own, before, after, lookup } = sides;
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  const isCreated = isFirstOpening(own, before !== undefined);
  const replaced = isCreated ? sides.replaced : undefined;
  const isDeleted = after === undefined;
  const [first, last] = [(isCreated ? replaced?.posture : before) ?? emptyPosture, after ?? emptyPosture];
  const isOrdered = !isDeleted && (!isCreated || replaced !== undefined);
  const ends = { before: first, after: last };
  const differences = isOrdered ? orderedDifferences(id, ends, lookup) : unorderedDifferences(ends);
  if (differences.length === 0 && !isCreated && !isDeleted) return undefined;
  const controls = differences.map(({ control }) => control);
  const whole = lookup.causesOf([{ id, path: '' }]);
  const causes = isCreated
    ? new Map((['access', ...controls] as const).map((control) => [control, new Map([['weakens', whole] as const])] as const))
    : new Map(isDeleted ? [] : differences.map((one) => [one.control, causesOfDifference(id, one, lookup)] as const));
  const controlChanges = differences.map((difference): ControlChange => {
    const { control } = difference;
    return {
      control,
      direction: isOrdered ? combineEffects(effectsOfDifferences([difference])) : 'neutral',
      ...changedTexts(control, ends),
      ...(first.incomplete.has(control) || last.incomplete.has(control) ? { atLeast: true } : {}),
      causes: isCreated && replaced === undefined ? [] : [...new Set([...(causes.get(control)?.values() ?? [])].flat())],
    };
  });
  const rulesOnIt = rulesOnEither(isCreated ? emptyPosture : first, last);
  const change: PostureChange = {
    connection: id,
    direction: isOrdered ? combineEffects(effectsOfDifferences(differences)) : 'neutral',
    ...(isCreated ? { created: true } : {}),
    ...(isDeleted ? { deleted: true } : {}),
    ...(replaced === undefined ? {} : { replaces: replaced.id }),
    tags: isDeleted ? first.tags : last.tags,
    controls: controlChanges,
    ...(rulesOnIt.length === 0 ? {} : { rules: rulesOnIt }),
  };
  return {
    change,
    differences: isOrdered ? differences : [],
    before: first,
    after: last,
    causes,
    isReplaced: own?.replacedBy !== undefined,
  };
}

/** Returns what causes each effect of a difference; what nothing that decides it explains is caused by all that does. */
function causesOfDifference(id: ResourceId, difference: ControlDifference, lookup: DifferenceLookup): CausesByEffect {
  const { aspectOn, causesOf } = lookup;
  const deciders = decidersOn(id, difference.control, lookup);
  const { lost, gained, coexisting, incomparable } = difference;
  const effects = [
    ['weakens', 'more', lost],
    ['strengthens', 'less', [...gained, ...coexisting]],
    ['unknown', 'unclear', incomparable],
  ] as const;
  const { idle = [], connection = id } = aspectOn(id, difference.control) ?? {};
  return new Map([
    ...(idle.length === 0 ? [] : [['neutral', causesOf(decidersFor(id, idle, connection))] as const]),
    ...effects.flatMap(([effect, direction, controls]) => {
      const texts = new Set(controls.flatMap(({ name, content = name }) => [name, content]));
      const by = deciders.get(direction) ?? [...deciders.values()].flat();
      // What only rules bring is lost with an entry that had it, and gained with one that has it.
      const side = aspectTypes.has(difference.control) ? sides[effect] : {};
      return controls.length === 0 ? [] : [[effect, causesOf(by, { texts, ...side })] as const];
    }),
  ]);
}

const sides = { weakens: { side: 'before' }, strengthens: { side: 'after' }, unknown: {} } as const;
