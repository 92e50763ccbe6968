import { stateOf } from './declared-state.ts';
import { textOf, textsOf, type Fields, type ModelGateway, type ModelState } from './gateway-objects.ts';
import type { Pair } from './pairs.ts';

export const modes: readonly ['connect', 'exec', 'runbooks'] = ['connect', 'exec', 'runbooks'];
export type Mode = (typeof modes)[number];

/** The subtypes of applications that the public gateway takes for a shell or a port (`ToConnectionType` in `common/proto/types.go`). */
const forwarded = ['ssh', 'ssh-local', 'git', 'github', 'tcp'];

/** Returns whether the public gateway rejects commands, and runbooks, which run as commands (`validateConnectionType` in `gateway/transport/client.go`). */
function onlyForwards(spec: Fields): boolean {
  const [type, subtype] = [textOf(spec['type']), textOf(spec['subtype'])];
  return ['ssh', 'tcp'].includes(type) || (type === 'application' && forwarded.includes(subtype));
}

/** Returns whether people can use a connection in a mode. */
export function isModeOpen(spec: Fields, mode: Mode, isPublic: boolean): boolean {
  if (isPublic && mode !== 'connect' && onlyForwards(spec)) return false;
  return spec[`access_mode_${mode}`] === 'enabled';
}

type On = { readonly gateway?: ModelGateway };

/** Lists the modes in which a person can use a connection. */
export function openModes(state: ModelState, id: string, { gateway }: On): readonly Mode[] {
  return modes.filter((mode) => isModeOpen(state[id]?.spec ?? {}, mode, gateway !== undefined));
}

/** Returns whether a person can use a connection in any mode. */
export function isOpen(state: ModelState, id: string, on: On): boolean {
  return openModes(state, id, on).length > 0;
}

/** Lists the open modes that sessions use without review: a connection has reviewers, or not. */
export function unreviewedModes(state: ModelState, id: string, on: On): readonly Mode[] {
  return textsOf(state[id]?.spec?.['reviewers']).length > 0 ? [] : openModes(state, id, on);
}

/**
 * Returns whether the plan opens a connection that an interrupted apply created closed. Its opening belongs to its creation, unless the
 * applied manifests state no open mode: an apply opens what they state, whether or not the gateway rejects that for the type.
 */
export function isUnfinished(pair: Pair, before: ModelState, id: string): boolean {
  if (!pair.untouched.includes(id) || isOpen(before, id, pair)) return false;
  const applied = stateOf(pair.base ?? []).find((one) => one.id === id);
  return applied === undefined || modes.some((mode) => applied.spec?.[`access_mode_${mode}`] === 'enabled');
}
