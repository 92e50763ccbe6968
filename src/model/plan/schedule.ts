import type { Kind } from '../kind.ts';
import type { Change, EdgeChange, WriteSlot, SingleWrite, ExposureWindow } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { tokensOf, type Pointer } from '../pointer.ts';

const named = 3;

/** Describes an exposure window in one sentence. */
export function exposureWindowText({ from, lost, until, missing, connections }: ExposureWindow): string {
  const shown = connections.slice(0, named).join(', ');
  const more = connections.length > named ? ` and ${connections.length - named} more` : '';
  const [is, has] = connections.length === 1 ? ['is', 'has'] : ['are', 'have'];
  const taken = lost.length === 0 ? `${is} open` : `${has} lost ${pathsText(lost)}`;
  return `between the writes of ${from} and ${until}: ${shown}${more} ${taken} and ${has} not yet gained ${pathsText(missing)}`;
}

function pathsText(paths: readonly Pointer[]): string {
  return paths.map((path) => tokensOf(path).join('.')).join(', ');
}

/**
 * The stages of an apply, in their order; a stage begins when the one before is read back. Names change first, so that every
 * later write knows them. A connection that will be deleted, or that has no approval while it moves between rules, is closed before any rule changes;
 * then rules let go of what others take. Rules strengthen before the objects that need them change, and weaken after; a rule that the gateway
 * accepts only as one write is written just before or just after those objects. Deletions come last, protected objects before
 * the rules that protect them, and attributes after the rules that they link: what a step needs has an earlier stage. Closed
 * connections are opened again at the very end.
 */
export const stages = [
  'rename',
  'close-first',
  'release',
  'strengthen',
  'create',
  'strengthen-created',
  'before-objects',
  'update',
  'close',
  'after-objects',
  'weaken',
  'delete',
  'delete-rules',
  'delete-attributes',
  'reopen',
] as const;

export type Stage = (typeof stages)[number];

const positions: ReadonlyMap<Stage, number> = new Map(stages.map((stage, index) => [stage, index]));

/** Counts the stages from one to another; negative where the other comes first. */
export function stagesBetween(from: Stage, until: Stage): number {
  return (positions.get(until) ?? 0) - (positions.get(from) ?? 0);
}

/** The stage of a rule that is written once, by its slot. */
export const slotStages: Readonly<Record<WriteSlot, Stage>> = {
  first: 'strengthen',
  'before-objects': 'before-objects',
  'after-objects': 'after-objects',
  last: 'weaken',
};

/**
 * How much of its change a step writes: all of it, only the part that adds protection (live and desired joined), all of it with
 * access closed, the opening of an object that was closed, the new name alone, the closing of an object that is deleted or opened
 * later, or the deletion.
 */
export type StepPart = 'whole' | 'gain' | 'closed' | 'open' | 'name' | 'close' | 'delete';

/**
 * Which write of its change a step is: `rename` its new name, `release` what it leaves to others, `early` what later writes rely on, `open` the opening
 * of what was closed, `main` all others.
 */
type StepPhase = 'rename' | 'release' | 'early' | 'main' | 'open';

/** Identifies a step; `id` is the one under which live state knows the resource. */
export type StepKey = { readonly id: ResourceId; readonly phase: StepPhase };

/** Compares the times of two steps: negative if the first one is written before the other. */
export function compareTimes(one: Pick<Step, 'stage' | 'round'>, other: Pick<Step, 'stage' | 'round'>): number {
  return stagesBetween(other.stage, one.stage) || (one.round ?? 1) - (other.round ?? 1);
}

/** Returns one text for a step key, for maps and sets. */
export function stepKeyText({ id, phase }: StepKey): string {
  return `${phase} ${id}`;
}

/** Returns the keys, each once, in their first order. */
export function uniqueStepKeys(keys: readonly StepKey[]): readonly StepKey[] {
  return keys.length < 2 ? keys : [...new Map(keys.map((key) => [stepKeyText(key), key])).values()];
}

/** One write. Steps of a stage run together. */
export type Step = {
  readonly key: StepKey;
  readonly change: Change;
  readonly kind: Kind;
  readonly edges: readonly EdgeChange[];
  readonly part: StepPart;
  readonly stage: Stage;
  /** The order of steps that do not run together although they are of one stage; absent: the first. */
  readonly round?: number;
  /** Steps that must succeed before this one starts. */
  readonly needs: readonly StepKey[];
};

/** The writes of a plan in their order, and the rules that are written once although they both strengthen and weaken. */
export type Schedule = { readonly steps: readonly Step[]; readonly singleWrites: readonly SingleWrite[] };
