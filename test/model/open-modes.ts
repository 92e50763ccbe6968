import { modes, type Mode } from './allowed-actions.ts';
import { reaching, textsOf, type ModelObject, type ModelState } from './gateway-objects.ts';

/** Lists the modes in which a person can use a connection. */
export function openModes(state: ModelState, id: string): readonly Mode[] {
  return modes.filter((mode) => state[id]?.spec?.[`access_mode_${mode}`] === 'enabled');
}

/** Returns whether a person can use a connection in any mode. */
export function isOpen(state: ModelState, id: string): boolean {
  return openModes(state, id).length > 0;
}

/** Lists the open modes that some sessions use without review: no reviewers, and no access-request rule that reviews all of them. */
export function unreviewedModes(state: ModelState, id: string): readonly Mode[] {
  if (textsOf(state[id]?.spec?.['reviewers']).length > 0) return [];
  return openModes(state, id).filter((mode) => {
    const governing = governingRules(state, id, mode);
    return governing.length === 0 || governing.some(({ spec }) => spec?.['reviewsAll'] !== true);
  });
}

/** Lists the rules of which one governs a mode: those by an attribute if there are any. */
function governingRules(state: ModelState, id: string, mode: Mode): readonly ModelObject[] {
  const rules = reaching(state, 'AccessRule', id).filter(({ spec }) => textsOf(spec?.['modes']).includes(mode));
  const attributes = textsOf(state[id]?.spec?.['attributes']);
  const byAttribute = rules.filter(({ spec }) => textsOf(spec?.['attributes']).some((one) => attributes.includes(one)));
  return byAttribute.length > 0 ? byAttribute : rules;
}
