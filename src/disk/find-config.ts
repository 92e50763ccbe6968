import { lstatSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Checked, Diagnostic, SourceFile } from '../model/diagnostic.ts';
import { isRepositoryTop } from './other-checkout.ts';
import { isPrivateLink, realOf, shower } from './walk.ts';
import { reasonOf, textReader } from './text-file.ts';
import { systemCodeOf } from '../model/errors.ts';

/** A config file, and the absolute folder that its paths are relative to. */
type FoundConfig = { readonly file: SourceFile; readonly folder: string };

/** Where the search starts, and the environment that names the home folder. */
type SearchPlace = { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> };

/** The names that a config file may have. */
export const configNames: readonly string[] = ['ostiary.yaml', 'ostiary.yml'];

/**
 * Finds the config file: the explicit one, otherwise the nearest one in this folder or above. The search ends at the top of the repository or at the
 * home folder, and outside both it covers the working directory alone. It ignores the files of other users with a warning, because
 * a config decides which gateway receives the token. Returns no value if there is none.
 */
export function findConfig(place: SearchPlace, explicit?: string): Checked<FoundConfig> {
  const { cwd } = place;
  if (explicit !== undefined) return readConfigFile(cwd, resolve(cwd, explicit), explicit);
  const ignored: Diagnostic[] = [];
  for (const folder of searchFolders(place)) {
    for (const name of configNames) {
      const path = join(folder, name);
      if (reasonWhyNoFile(path) !== undefined) continue;
      const owner = foreignOwner(path, place.env);
      if (owner === undefined) {
        const { value, diagnostics } = readConfigFile(cwd, path, name);
        return { value, diagnostics: [...ignored, ...diagnostics] };
      }
      ignored.push(foreignConfig(shower(cwd)(path), owner));
    }
  }
  return { diagnostics: ignored };
}

/** Lists the folders of the search, from the working directory upwards. */
function searchFolders({ cwd, env }: SearchPlace): readonly string[] {
  const folders = [resolve(cwd)];
  for (let folder = resolve(cwd); folder !== dirname(folder); folder = dirname(folder)) folders.push(dirname(folder));
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '';
  const realHome = home === '' ? undefined : realOf(home);
  const last = folders.findIndex((folder) => isRepositoryTop(folder) || realOf(folder) === realHome);
  return folders.slice(0, Math.max(last, 0) + 1);
}

/** Returns the id of another user who owns the file, or the link to it. As in git, root trusts the user behind sudo. */
function foreignOwner(path: string, env: SearchPlace['env']): number | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  const trusted = new Set([0, user, ...(user === 0 && /^\d+$/.test(env['SUDO_UID'] ?? '') ? [Number(env['SUDO_UID'])] : [])]);
  return [lstatSync(path).uid, statSync(path).uid].find((owner) => !trusted.has(owner));
}

function foreignConfig(file: string, owner: number): Diagnostic {
  const message = `the config file belongs to another user (id ${owner}) and is ignored`;
  return {
    code: 'config/foreign-owner',
    severity: 'warning',
    message,
    hint: `to use it, pass --config ${file}`,
    at: { file, line: 1, column: 1 },
  };
}

function readConfigFile(cwd: string, path: string, given: string): Checked<FoundConfig> {
  const name = JSON.stringify(given);
  const missing = reasonWhyNoFile(path);
  if (missing !== undefined) return failure('config/not-found', `the config file ${name} cannot be read: ${missing}`, 'check the path');
  const shown = shower(cwd)(path);
  const result = textReader()(path);
  if ('text' in result) {
    const file = { path: shown, text: result.text, ...(isPrivateLink(path) ? { isPrivate: true as const } : {}) };
    return { value: { file, folder: dirname(path) }, diagnostics: [] };
  }
  const { code, reason, line } = result.problem;
  const at = { file: shown, line, column: 1 };
  return failure(`config/${code}`, `the config file ${name} cannot be read: ${reason}`, 'a config is a UTF-8 file of at most 1 MiB', at);
}

function reasonWhyNoFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? undefined : 'it is not a regular file';
  } catch (error) {
    return systemCodeOf(error) === 'ENOENT' ? 'it does not exist' : reasonOf(error);
  }
}

function failure(code: Diagnostic['code'], message: string, hint: string, at?: Diagnostic['at']): Checked<FoundConfig> {
  return { diagnostics: [{ code, severity: 'error', message, hint, at }] };
}
