import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { findOtherCheckout, isRepositoryTop, repositoryTopOf } from './other-checkout.ts';
import { isIgnored } from './walk.ts';
import { reasonOf, maxBytes } from './text-file.ts';
import { systemCodeOf } from '../model/errors.ts';

type Refusal = 'outside' | 'hidden' | 'ignored' | 'missing' | 'too-large';

/**
 * Reads a secret from a regular file below the root, with links followed; refuses dot-folders and files that git ignores. The
 * diagnostic quotes the path, never the content, and has no position: the caller knows it.
 */
export function readSecretFile(root: string, path: string): Checked<Buffer> {
  if (path === '' || path.includes('\0')) return refuse(path, 'missing', 'is not a path');
  const given = resolve(root, path);
  const refusal = isAbsolute(path) ? 'outside' : refusalOf(root, given);
  if (refusal !== undefined) return refuse(path, refusal);
  try {
    const realRoot = realpathSync.native(root);
    const real = realpathSync.native(given);
    if (isRepositoryTop(repositoryTopOf(realRoot)) && findOtherCheckout(realRoot, real) !== undefined)
      return refuse(path, 'outside', 'is in another checkout');
    const linked = refusalOf(realRoot, real) ?? (isIgnored(realRoot, real) || isIgnored(root, given) ? 'ignored' : undefined);
    return linked === undefined ? read(path, real) : refuse(path, linked);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse(path, 'missing');
    return failure('secret/unreadable-file', path, `cannot be read: ${reasonOf(error)}`, 'check its permissions');
  }
}

function refusalOf(root: string, path: string): Refusal | undefined {
  const segments = relative(root, path).split(sep);
  if (segments[0] === '..' || isAbsolute(relative(root, path))) return 'outside';
  return segments.some((segment) => segment.startsWith('.')) ? 'hidden' : undefined;
}

function read(path: string, real: string): Checked<Buffer> {
  const file = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return refuse(path, 'missing', 'is not a regular file');
    if (stats.size > maxBytes) return refuse(path, 'too-large');
    return { value: readFileSync(file), diagnostics: [] };
  } finally {
    closeSync(file);
  }
}

const words: Readonly<Record<Refusal, { readonly what: string; readonly hint: string }>> = {
  outside: { what: 'is not below the root of the manifests', hint: 'use the path of a file in the repository, relative to its root' },
  hidden: { what: 'is hidden: its name or a folder in its path begins with a dot', hint: 'move it to a visible folder' },
  ignored: { what: 'is ignored by git', hint: 'put a secret that git ignores into an environment variable: { valueFrom: { env: … } }' },
  missing: { what: 'does not exist', hint: 'paths are relative to the folder of ostiary.yaml' },
  'too-large': { what: 'is larger than 1 MiB', hint: 'check that it is the right file' },
};

function refuse(path: string, refusal: Refusal, what: string = words[refusal].what): Checked<Buffer> {
  return failure(`secret/file-${refusal}`, path, what, words[refusal].hint);
}

function failure(code: Diagnostic['code'], path: string, what: string, hint: string): Checked<Buffer> {
  const name = JSON.stringify(path.length > 120 ? `${path.slice(0, 119)}…` : path);
  return { diagnostics: [{ code, severity: 'error', message: `the secret file ${name} ${what}`, hint }] };
}
