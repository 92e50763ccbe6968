import { type Diagnostic, suggest } from '../../model/diagnostic.ts';

/** A flag, and the name in its argument. */
export type NamedByOption = readonly [flag: string, name: string];

/** Warns about names in flags that neither a manifest nor the gateway has: the flag has no effect. */
export function warnUnknownNames(named: readonly NamedByOption[], among: readonly { readonly id: string }[]): readonly Diagnostic[] {
  if (named.length === 0) return [];
  const known = new Set(among.map(({ id }) => id));
  return named
    .filter(([, name]) => !known.has(name))
    .map(([flag, name]): Diagnostic => {
      const near = suggest(name, known);
      const hint = near === undefined ? 'write KIND/NAME, as plan prints it' : `did you mean "${near}"?`;
      const message = `${flag} ${name} does nothing: neither a manifest nor the gateway has it`;
      return { code: 'plan/unknown-name', severity: 'warning', message, hint };
    });
}
