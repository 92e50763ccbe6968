import { addToGroup } from '../collections.ts';
import type { Kind } from '../kind.ts';
import type { Change, EdgeChange, WriteSlot, SingleWrite, ExposureWindow } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { tokensOf, type Pointer } from '../pointer.ts';

const named = 3;

/** Describes an exposure window in one sentence: what has changed, and what has not yet, of the changes of a plan. */
export function exposureWindowText(window: ExposureWindow, changes: readonly Change[]): string {
  const { from, lost, until, missing, connections } = window;
  const shown = connections.slice(0, named).join(', ');
  const more = connections.length > named ? ` and ${connections.length - named} more` : '';
  const written = (id: ResourceId, paths: readonly Pointer[], ends: string): string => {
    const change = changes.find((one) => one.id === id);
    return `${id} ${change === undefined ? 'is written' : writtenText(change, paths, ends)}`;
  };
  const is = connections.length === 1 ? 'is' : 'are';
  const times = `after ${written(from, lost, 'removes')}, and before ${written(until, missing, 'adds')}`;
  return `${shown}${more} ${is} less protected ${times}`;
}

/** Returns what a write does to some fields, or to all that it changes; `ends` is what it does to an attachment, whose path is no changed field. */
function writtenText({ action, fields }: Change, paths: readonly Pointer[], ends: string): string {
  if (action === 'create') return 'is created';
  if (action === 'delete') return 'is deleted';
  const shown = paths.length === 0 ? fields.map(({ path }) => path) : paths;
  const byVerb = new Map<string, string[]>();
  for (const path of shown.slice(0, named)) {
    const { before, after } = fields.find((field) => field.path === path) ?? {};
    const [field = '', ...rest] = tokensOf(path);
    const isGroup = field === 'access_groups' && rest.length > 0;
    const name = isGroup ? rest.join('.') : [field, ...rest].join('.');
    if (before === undefined || after === undefined) addToGroup(byVerb, ends, 'an attachment');
    else if ('absent' in before) addToGroup(byVerb, isGroup ? 'grants access to' : 'adds', name);
    else addToGroup(byVerb, 'absent' in after ? (isGroup ? 'revokes access of' : 'removes') : 'changes', name);
  }
  const texts = [...byVerb].map(([verb, names]) => `${verb} ${names.join(', ')}`);
  const all = shown.length > named ? [...texts, `changes ${shown.length - named} more`] : texts;
  return all.length === 0 ? 'is written' : all.join(' and ');
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
