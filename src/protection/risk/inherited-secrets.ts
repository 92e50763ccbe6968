import type { InheritedKeys } from '../../model/live.ts';
import { isCredential } from '../compare/secret-keys.ts';

/** A connection on one side of a change: the resource that it inherits from, and the keys of its own secrets. */
export type SecretUse = { readonly resource: string; readonly own: ReadonlySet<string> };

/** Whether something is certain, or cannot be known because the gateway does not show the secrets of resources. */
type Certainty = 'yes' | 'no' | 'unknown';

/** How a change affects the credentials that a connection inherits. An own secret with the same key takes precedence. */
type InheritedUse = {
  /** Sessions use a credential of the resource before and after the change. */
  readonly kept: Certainty;
  /** Sessions use a credential of the resource only after the change. */
  readonly begins: Certainty;
};

/** Compares the inherited credentials of a connection before and after a change; a new connection inherits nothing before. */
export function compareInherited(inherited: InheritedKeys | undefined, before: SecretUse | undefined, after: SecretUse): InheritedUse {
  if (inherited === undefined) return { kept: 'no', begins: 'no' };
  const stays = before?.resource === after.resource;
  if (inherited === 'hidden') {
    const uncovers = [...(before?.own ?? [])].some((key) => isCredential(key) && !after.own.has(key));
    return { kept: stays ? 'unknown' : 'no', begins: stays && !uncovers ? 'no' : 'unknown' };
  }
  const credentials = (inherited.get(after.resource) ?? []).filter((key) => isCredential(key) && !after.own.has(key));
  const isUsed = (key: string): boolean => stays && !before.own.has(key);
  return { kept: credentials.some(isUsed) ? 'yes' : 'no', begins: credentials.some((key) => !isUsed(key)) ? 'yes' : 'no' };
}
