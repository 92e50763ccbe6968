import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { Pointer } from '../../../../model/pointer.ts';
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

/** Reports a name that is no part of a path: the gateway creates such an object, and no route reads, changes or deletes it again. */
export function checkPathName(write: ProposedWrite): readonly Diagnostic[] {
  const { name, liveName } = write;
  if (liveName !== undefined && !isPartOfPath(liveName)) {
    const message = `the gateway cannot change or delete the live "${liveName}": none of its routes reaches that name`;
    return [
      diagnosticAt(write, '', { code: 'hoop/name', message, hint: 'leave it out of the manifests, and use an object with another name' }),
    ];
  }
  if (isPartOfPath(name)) return [];
  return [unreachable(write, name, { path: '', what: 'name' })];
}

type UnreachableName = { readonly path: Pointer; readonly what: 'name' | 'attribute' };

/** Returns the error for a name of what a write would create. */
export function unreachable(write: ProposedWrite, name: string, { path, what }: UnreachableName): Diagnostic {
  const message = `no route of the gateway reaches the ${what} "${name}": once created, it cannot be changed or deleted`;
  return diagnosticAt(write, path, { code: 'hoop/name', message, hint: 'use a name without /' });
}

/** Returns whether a name is one part of a path, so that routes reach it. */
export function isPartOfPath(name: string): boolean {
  return !name.includes('/') && name !== '.' && name !== '..';
}
