import type { Diagnostic } from '../model/diagnostic.ts';
import { diagnose, type Book } from './diagnose.ts';
import { locateIn, type Manifest } from './manifest.ts';

/** Keeps the first manifest of each identity and names both places of every other one; what has none is kept. */
export function withoutDuplicates(
  book: Book,
  manifests: readonly Manifest[],
  identityOf: (manifest: Manifest) => string | undefined,
  code: Diagnostic['code'],
): { readonly manifests: readonly Manifest[]; readonly diagnostics: readonly Diagnostic[] } {
  const first = new Map<string, Manifest>();
  const kept: Manifest[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const manifest of manifests) {
    const identity = identityOf(manifest);
    const known = identity === undefined ? undefined : first.get(identity);
    if (identity !== undefined && known === undefined) first.set(identity, manifest);
    if (known === undefined) kept.push(manifest);
    else diagnostics.push(declaredTwice(book, known, manifest, code));
  }
  return { manifests: kept, diagnostics };
}

function declaredTwice(book: Book, known: Manifest, manifest: Manifest, code: Diagnostic['code']): Diagnostic {
  const { file, line, column } = locateIn(known)('/metadata/name');
  const same = known.id === manifest.id;
  const message = same ? `${manifest.id} is declared twice` : `${manifest.id} and ${known.id} are the same thing on the gateway`;
  const hint = `the other one is at ${file}:${line}:${column}; keep one of them`;
  return diagnose(book, locateIn(manifest), { code, severity: 'error', at: '/metadata/name', message, hint }, manifest.id);
}
