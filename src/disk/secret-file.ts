import ignore from 'ignore';
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, existsSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep, dirname, join } from 'node:path';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { isRepositoryTop } from './find-config.ts';
import { codeOf, reasonOf, maxBytes, textReader } from './text-file.ts';

/** Returns true if git ignores the file, by the `.gitignore` files from the top of the repository down to it. */
export function isIgnored(root: string, path: string): boolean {
  const top = topOf(root);
  const segments = relative(top, path).split(sep);
  const rules = new Map<string, ReturnType<typeof ignore>>();
  const rulesOf = (folder: string): ReturnType<typeof ignore> => {
    const known = rules.get(folder) ?? readRules(folder);
    rules.set(folder, known);
    return known;
  };
  // As in git, an ignored folder hides everything below it, whatever deeper rules say.
  return segments.some((_, index) => isMatched(top, segments.slice(0, index + 1), index === segments.length - 1, rulesOf));
}

/** Matches the rules of the nearest folder first; the first folder with a matching rule decides. */
function isMatched(
  top: string,
  segments: readonly string[],
  isFile: boolean,
  rulesOf: (folder: string) => ReturnType<typeof ignore>,
): boolean {
  for (let depth = segments.length - 1; depth >= 0; depth -= 1) {
    const name = segments.slice(depth).join('/');
    const { ignored, unignored } = rulesOf(join(top, ...segments.slice(0, depth))).test(isFile ? name : `${name}/`);
    if (ignored || unignored) return ignored;
  }
  return false;
}

function readRules(folder: string): ReturnType<typeof ignore> {
  const rules = ignore();
  const path = join(folder, '.gitignore');
  if (!existsSync(path)) return rules;
  const result = textReader()(path);
  // An unreadable rule file may ignore everything.
  return rules.add('text' in result ? result.text : '*');
}

/** Returns the nearest folder upward that contains `.git`; the root itself if there is none. */
function topOf(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (isRepositoryTop(folder)) return folder;
    if (folder === dirname(folder)) return root;
  }
}

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
    const linked = refusalOf(realRoot, real) ?? (isIgnored(realRoot, real) || isIgnored(root, given) ? 'ignored' : undefined);
    return linked === undefined ? read(path, real) : refuse(path, linked);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse(path, 'missing');
    return failure('secret/unreadable-file', path, `cannot be read: ${reasonOf(error)}`, 'check who may read it');
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
  outside: { what: 'does not lie below the root of the manifests', hint: 'name a file of the repository, relative to its root' },
  hidden: { what: 'lies in a folder, or is a file, whose name begins with a dot', hint: 'move it where everybody sees it' },
  ignored: { what: 'is ignored by git', hint: 'a secret that git ignores belongs into an environment variable: { valueFrom: { env: … } }' },
  missing: { what: 'does not exist', hint: 'the path is relative to the folder of ostiary.yaml' },
  'too-large': { what: 'is larger than 1 MiB', hint: 'secrets are small: is it the right file?' },
};

function refuse(path: string, refusal: Refusal, what: string = words[refusal].what): Checked<Buffer> {
  return failure(`secret/file-${refusal}`, path, what, words[refusal].hint);
}

function failure(code: Diagnostic['code'], path: string, what: string, hint: string): Checked<Buffer> {
  const name = JSON.stringify(path.length > 120 ? `${path.slice(0, 119)}…` : path);
  return { diagnostics: [{ code, severity: 'error', message: `the secret file ${name} ${what}`, hint }] };
}
