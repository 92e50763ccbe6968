import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import type { SourceFile } from '../model/source.ts';
import { codeOf, reasonOf } from './reason.ts';
import { textReader } from './text-file.ts';
import { shower } from './walk.ts';

/** A config file, and the absolute folder that its paths are relative to. */
export type FoundConfig = { readonly file: SourceFile; readonly folder: string };

const names = ['ostiary.yaml', 'ostiary.yml'];

/**
 * Finds the config file: the explicit one, otherwise the nearest one upward from the folder. Returns neither a value nor a
 * diagnostic if there is none.
 */
export function findConfig(cwd: string, explicit?: string): Checked<FoundConfig> {
  if (explicit !== undefined) return readConfig(cwd, resolve(cwd, explicit), explicit);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    for (const name of names) {
      const path = join(folder, name);
      if (reasonWhyNoFile(path) === undefined) return readConfig(cwd, path, name);
    }
    if (folder === dirname(folder)) return { diagnostics: [] };
  }
}

function readConfig(cwd: string, path: string, given: string): Checked<FoundConfig> {
  const name = JSON.stringify(given);
  const missing = reasonWhyNoFile(path);
  if (missing !== undefined) return failure('config/not-found', `the config file ${name} cannot be read: ${missing}`, 'check the path');
  const shown = shower(cwd)(path);
  const result = textReader()(path);
  if ('text' in result) return { value: { file: { path: shown, text: result.text }, folder: dirname(path) }, diagnostics: [] };
  const { code, reason, line } = result.problem;
  const at = { file: shown, line, column: 1 };
  return failure(`config/${code}`, `the config file ${name} cannot be read: ${reason}`, 'a config is a small UTF-8 file', at);
}

function reasonWhyNoFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? undefined : 'it is not a regular file';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'it does not exist' : reasonOf(error);
  }
}

function failure(code: Diagnostic['code'], message: string, hint: string, at?: Diagnostic['at']): Checked<FoundConfig> {
  return { diagnostics: [{ code, severity: 'error', message, hint, ...(at === undefined ? {} : { at }) }] };
}
