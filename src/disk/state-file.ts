import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Checked } from '../model/diagnostic.ts';
import type { SourceFile } from '../model/source.ts';
import { reasonOf } from './reason.ts';

const maxBytes = 64 * 1024 * 1024;

/** Reads a Terraform state, which may be larger than a manifest (64 MiB). */
export function readStateFile(path: string, cwd: string): Checked<SourceFile> {
  const reason = reasonWhyNot(resolve(cwd, path));
  const text = reason === undefined ? textOf(resolve(cwd, path)) : { reason };
  if (typeof text === 'string') return { value: { path, text }, diagnostics: [] };
  const message = `the state ${JSON.stringify(path)} cannot be read: ${text.reason}`;
  return { diagnostics: [{ code: 'terraform/unreadable', severity: 'error', message, hint: 'check the path and who may read it' }] };
}

function reasonWhyNot(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return 'it is not a regular file';
    return stats.size > maxBytes ? 'it is larger than 64 MiB' : undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function textOf(path: string): string | { readonly reason: string } {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
