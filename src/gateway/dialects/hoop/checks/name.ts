import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';

/**
 * Applies the gateway's own rule for names (`ValidateResourceName` in its source) without its backtracking: blocks of word characters joined by
 * single - or . It holds for writes of existing objects as well, although other routes of the gateway create objects with any name.
 */
export function checkName(write: ProposedWrite): readonly Diagnostic[] {
  const { name } = write;
  const wordCharacters = name.replaceAll(/[-.]/g, '').length;
  if (/^\w+(?:[-.]\w+)*$/.test(name) && wordCharacters >= 3) return [];
  const hint = 'expected at least three letters, digits or _, separated by single - or .';
  return [diagnosticAt(write, '', { code: 'hoop/name', message: `the gateway rejects the name "${name}"`, hint })];
}
