import { modes, type Mode } from './allowed-actions.ts';
import { textsOf, type ModelState } from './gateway-objects.ts';

/** Lists the modes in which a person can use a connection. */
export function openModes(state: ModelState, id: string): readonly Mode[] {
  return modes.filter((mode) => state[id]?.spec?.[`access_mode_${mode}`] === 'enabled');
}

/** Returns whether a person can use a connection in any mode. */
export function isOpen(state: ModelState, id: string): boolean {
  return openModes(state, id).length > 0;
}

/** Lists the open modes that sessions use without review: a connection has reviewers, or not. */
export function unreviewedModes(state: ModelState, id: string): readonly Mode[] {
  return textsOf(state[id]?.spec?.['reviewers']).length > 0 ? [] : openModes(state, id);
}
