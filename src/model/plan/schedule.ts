import { addToGroup, firstOf } from '../collections.ts';
import type { Kind } from '../kind.ts';
import type { Change, EdgeChange, SingleWrite, ExposureWindow } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { tokensOf, type Pointer } from '../pointer.ts';

const named = 3;

/** Describes an exposure window in one sentence: what has changed, and what has not yet, of the changes of a plan. */
export function exposureWindowText(window: ExposureWindow, changes: readonly Change[]): string {
  const { from, lost, until, missing, connections } = window;
  const written = (id: ResourceId, paths: readonly Pointer[], ends: string): string => {
    const change = changes.find((one) => one.id === id);
    return `${id} ${change === undefined ? 'is written' : writtenText(change, paths, ends)}`;
  };
  const is = connections.length === 1 ? 'is' : 'are';
  const times = `after ${written(from, lost, 'removes')}, and before ${written(until, missing, 'adds')}`;
  return `${firstOf(connections, named)} ${is} less protected ${times}`;
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

/** Returns one text for a step key, for maps and sets. */
export function stepKeyText({ id, phase }: StepKey): string {
  return `${phase} ${id}`;
}

/** Returns the keys, each once, in their first order. */
export function uniqueStepKeys(keys: readonly StepKey[]): readonly StepKey[] {
  return keys.length < 2 ? keys : [...new Map(keys.map((key) => [stepKeyText(key), key])).values()];
}

/** One write. Steps of a round run together; a round begins when the one before is read back. */
export type Step = {
  readonly key: StepKey;
  readonly change: Change;
  readonly kind: Kind;
  readonly edges: readonly EdgeChange[];
  readonly part: StepPart;
  /** Counted from 1. */
  readonly round: number;
  /** Steps that must succeed before this one starts. */
  readonly needs: readonly StepKey[];
};

/** The writes of a plan in their order, and the changes that leave a connection exposed between two of them, or that the gateway accepts only as one write. */
export type Schedule = { readonly steps: readonly Step[]; readonly singleWrites: readonly SingleWrite[] };
