import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { digestKey, neededFields } from '../support/manifests.ts';

/** Files by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Makes folders with files for the tests of one file, and removes them after the last of them. */
export function useProjects(): (files: Files) => string {
  const root = mkdtempSync(join(tmpdir(), 'ostiary-e2e-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let made = 0;
  return (files) => {
    made += 1;
    const folder = join(root, `project-${made}`);
    mkdirSync(folder);
    writeFiles(folder, files);
    return folder;
  };
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Returns the relative paths of all files below a folder. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** A config file with one target, or with as many as there are urls. */
export function config(urls: string | Readonly<Record<string, string>>): string {
  const targets = typeof urls === 'string' ? { production: urls } : urls;
  const lines = Object.entries(targets).map(([name, url]) => `  ${name}: { url: '${url}' }\n`);
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ndigest_key: ${digestKey}\ntargets:\n${lines.join('')}`;
}

type Metadata = {
  readonly protect?: boolean;
  readonly ignore?: readonly string[];
  readonly replaces?: string;
  readonly renamedFrom?: string;
  readonly targets?: readonly string[];
  readonly adopt?: boolean;
};

/** A manifest's text; JSON is YAML. */
export function manifest(kind: string, name: string, spec: JsonObject, metadata: Metadata = {}): string {
  return `${JSON.stringify({ apiVersion: 'ostiary/v1', kind, metadata: { name, ...metadata }, spec }, null, 2)}\n`;
}

/** A connection's manifest with what every connection needs. */
export function connection(name: string, spec: JsonObject = {}, metadata: Metadata = {}): string {
  return manifest('Connection', name, { ...neededFields, subtype: 'postgres', ...spec }, metadata);
}

/** A guardrail's manifest that denies the words. */
export function guardrail(
  name: string,
  words: readonly string[] = ['xp_cmdshell'],
  spec: JsonObject = {},
  metadata: Metadata = {},
): string {
  return manifest('GuardrailRule', name, { input: { rules: [{ name: 'words', type: 'deny_words_list', words }] }, ...spec }, metadata);
}

/** A project with so many connections, named `PREFIX-01` and on. */
export function manyConnections(prefix: string, count: number, spec: JsonObject = {}): Files {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(2, '0')}`);
  return Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, spec)]));
}
