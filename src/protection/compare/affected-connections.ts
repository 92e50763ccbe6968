import { addToGroup } from '../../model/collections.ts';
import { distinctSorted } from '../../model/json.ts';
import { type Change, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Cause, ControlChange, ControlType, PostureChange } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import type { Difference } from '../access/terms.ts';
import { combineEffects, compareProtection, type ProtectionEffect } from '../controls/compare-protection.ts';
import {
  type Control,
  type ControlComparison,
  type ControlRow,
  controlsOf,
  controlTexts,
  emptyPosture,
  enforcedTexts,
  missingFrom,
  type Posture,
  type ComparedPostures,
} from '../controls/control-row.ts';
import { everybodyControl } from '../controls/access-rows.ts';
import { noDifference } from '../controls/compare-controls.ts';
import { controlRow, controlTable, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { isEnforcedControl, isSameEnforcement } from '../controls/enforcement.ts';
import { decidersFor } from '../effective/deciders.ts';
import { firstsOfAlike } from '../posture/alike-connections.ts';
import { isFirstOpening, type PlannedWrites, type PlanSnapshots, rulesOnEither } from '../posture/diff-postures.ts';
import { postureIn } from '../posture/posture.ts';
import type { AspectDifference } from './compare-aspects.ts';
import type { PlanCauses } from './plan-causes.ts';
import { controlsAbout, directionsOf, type PlanDifferences } from './plan-differences.ts';

/** What a control of a connection loses or gains, or what cannot be compared or is not enforced, and its causes. */
export type Statement = {
  readonly control: ControlType;
  readonly effect: ProtectionEffect | 'neutral';
  readonly controls: readonly Control[];
  readonly causes: readonly Cause[];
};

/** One connection whose protection a plan changes, with what is stated about it; of one that is created or deleted, nothing. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly statements: readonly Statement[];
  readonly before: Posture;
  readonly after: Posture;
  /** The causes of its creation. */
  readonly creation: readonly Cause[];
  /** Another connection replaces the deleted one. */
  readonly isReplaced: boolean;
};

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
  const ids = distinctSorted([...whole, ...lookup.ids]);
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
    change: { ...change, connection: id, tags: after.tags, rules: rules.length === 0 ? undefined : rules },
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

/** Returns what decides differences about a control of a connection, by their direction. */
function decidersOf(
  id: ResourceId,
  control: ControlType,
  differences: readonly (AspectDifference | Difference)[],
): ReadonlyMap<AccessDirection, readonly Decider[]> {
  const found = new Map<AccessDirection, readonly Decider[]>();
  for (const one of differences) {
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

/** States the differences of a connection that both states have, by control; what nothing that decides an effect explains is caused by all that does. */
function statementsOn(id: ResourceId, sides: ComparedPostures, { aboutOn, aspectOn, causesOf }: DifferenceLookup): readonly Statement[] {
  return controlTable.flatMap((row): readonly Statement[] => {
    const { type: control, moved } = row;
    const aspect = aspectOn(id, control);
    const about = moved === undefined ? [] : aboutOn(id, control);
    if (aspect === undefined && about.length === 0) return [];
    const { lost, gained, coexisting, incomparable, unenforced } = aspect?.compared ?? movedControls(row, about, sides);
    const deciders = decidersOf(id, control, aspect === undefined ? about : [aspect]);
    const effects = [
      ['weakens', 'more', lost, 'before'],
      ['strengthens', 'less', [...gained, ...coexisting], 'after'],
      ['unknown', 'unclear', incomparable, undefined],
    ] as const;
    const stated = effects.map(([effect, direction, controls, side]): Statement => {
      const texts = new Set(controls.flatMap(({ name, content = name }) => [name, content]));
      const by = deciders.get(direction) ?? [...deciders.values()].flat();
      // What only rules bring is lost with an entry that had it, and gained with one that has it.
      return { control, effect, controls, causes: causesOf(by, { texts, side: aspect && side }) };
    });
    const idle = aspect === undefined ? [] : decidersFor(id, aspect.idle, aspect.connection);
    return [{ control, effect: 'neutral' as const, controls: unenforced, causes: causesOf(idle) }, ...stated].filter(
      ({ controls }) => controls.length > 0,
    );
  });
}

/** Compares the controls of a row by what people may do. */
function movedControls(
  { type, moved = () => [], isAbout = () => true, isWhole }: ControlRow,
  differences: readonly Difference[],
  sides: ComparedPostures,
): ControlComparison {
  const own = differences.filter((one) => isAbout(one, sides));
  const towards = (direction: AccessDirection): readonly Difference[] => own.filter(({ causes }) => causes[direction] !== undefined);
  const [had, has] = [controlsOf(sides.before, type), controlsOf(sides.after, type)];
  const parts = isWhole === true ? [{ name: type }] : [...missingFrom(had, has), ...missingFrom(has, had)];
  return {
    ...noDifference,
    lost: moved(towards('more'), 'more', sides),
    gained: moved(towards('less'), 'less', sides),
    incomparable: towards('unclear').length > 0 ? parts : [],
  };
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
function unorderedControls(sides: ComparedPostures): readonly ControlType[] {
  const compared = new Set(compareProtection(sides.before, sides.after).map(({ control }) => control));
  return controlTable.flatMap(({ type, moved }): readonly ControlType[] => {
    if (moved === undefined) return compared.has(type) ? [type] : [];
    // That everybody sees a connection is no control of it.
    if (controlsOf(sides.before, type).concat(controlsOf(sides.after, type)).includes(everybodyControl)) return [];
    const texts = changedTexts(type, sides);
    return texts.before.length + texts.after.length === 0 ? [] : [type];
  });
}

function affectedConnection({ id, own, before, after, lookup, ...sides }: Sides): AffectedConnection | undefined {
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  const isCreated = isFirstOpening(own, before !== undefined);
  const replaced = isCreated ? sides.replaced : undefined;
  const isDeleted = after === undefined;
  const ends = { before: (isCreated ? replaced?.posture : before) ?? emptyPosture, after: after ?? emptyPosture };
  const creation = isCreated ? lookup.causesOf([{ id, path: '' }]) : [];
  const isOrdered = !isDeleted && (!isCreated || replaced !== undefined);
  const statements = isOrdered ? statementsOn(id, ends, isCreated ? { ...lookup, causesOf: () => creation } : lookup) : [];
  const controls = isOrdered ? [...new Set(statements.map(({ control }) => control))] : unorderedControls(ends);
  if (controls.length === 0 && !isCreated && !isDeleted) return undefined;
  const rules = rulesOnEither(isCreated ? emptyPosture : ends.before, ends.after);
  const change: PostureChange = {
    connection: id,
    direction: directionOf(statements),
    created: isCreated || undefined,
    deleted: isDeleted || undefined,
    replaces: replaced?.id,
    tags: (isDeleted ? ends.before : ends.after).tags,
    controls: controls.map((control): ControlChange => {
      const about = statements.filter((one) => one.control === control);
      return {
        control,
        direction: directionOf(about),
        ...changedTexts(control, ends),
        atLeast: ends.before.incomplete.has(control) || ends.after.incomplete.has(control) || undefined,
        causes: [...new Set(about.flatMap(({ causes }) => causes))],
      };
    }),
    rules: rules.length === 0 ? undefined : rules,
  };
  return { change, statements, ...ends, creation, isReplaced: own?.replacedBy !== undefined };
}

function directionOf(statements: readonly Statement[]): PostureChange['direction'] {
  return combineEffects(new Set(statements.map(({ effect }) => effect)));
}
