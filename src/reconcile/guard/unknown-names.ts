import type { Diagnostic } from '../../model/diagnostic.ts';
import { suggest } from '../../model/suggest.ts';

/** A flag, and the name that was given to it. */
export type NamedByOption = readonly [flag: string, name: string];

/** A name that nothing has is a slip, and the run would do without what was asked. */
export function warnUnknownNames(asked: readonly NamedByOption[], among: readonly { readonly id: string }[]): readonly Diagnostic[] {
  if (asked.length === 0) return [];
  const known = new Set(among.map(({ id }) => id));
  return asked
    .filter(([, name]) => !known.has(name))
    .map(([flag, name]): Diagnostic => {
      const near = suggest(name, known);
      const hint = near === undefined ? 'write KIND/NAME, as plan prints it' : `did you mean "${near}"?`;
      const message = `${flag} ${name} does nothing: neither a manifest nor the gateway has it`;
      return { code: 'plan/unknown-name', severity: 'warning', message, hint };
    });
}
