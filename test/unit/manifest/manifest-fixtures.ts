import { registry } from '../../../src/kinds/index.ts';
import { loadManifests, type LoadInput } from '../../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../../src/model/desired.ts';
import type { Checked, Diagnostic } from '../../../src/model/diagnostic.ts';
import { digestKey } from '../../support/manifests.ts';

/** Loads files for the target prod; a text alone is the file a.yaml. */
export function load(files: string | Readonly<Record<string, string>>, options: Partial<LoadInput> = {}): Checked<DesiredState> {
  return loadManifests({
    files: sources(typeof files === 'string' ? { 'a.yaml': files } : files),
    overlays: [],
    target: 'prod',
    targets: ['prod', 'staging'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    registry,
    digestKey,
    ...options,
  });
}

export function sources(files: Readonly<Record<string, string>>): LoadInput['files'] {
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

/** Each diagnostic in one line: `a.yaml:3:5 error manifest/unknown-field`. */
export function toLines(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(
    ({ at, severity, code }) => `${at === undefined ? '-' : `${at.file}:${at.line}:${at.column}`} ${severity} ${code}`,
  );
}

/** A connection manifest; `spec` lines are added to the required ones, from line 11 on. */
export function connection(name: string, ...spec: readonly string[]): string {
  return [
    'apiVersion: ostiary/v1',
    'kind: Connection',
    'metadata:',
    `  name: ${name}`,
    'spec:',
    '  type: database',
    '  agent_id: prod-agent',
    '  access_mode_connect: enabled',
    '  access_mode_exec: enabled',
    '  access_mode_runbooks: disabled',
    ...spec.map((line) => `  ${line}`),
    '  access_schema: enabled',
    '',
  ].join('\n');
}

/** A guardrail manifest; its spec begins at line 6. */
export function guardrail(name: string, ...spec: readonly string[]): string {
  return manifest('GuardrailRule', name, ...spec);
}

/** A manifest of any kind; its spec begins at line 6. */
export function manifest(kind: string, name: string, ...spec: readonly string[]): string {
  const lines = spec.length === 0 ? ['spec: {}'] : ['spec:', ...spec.map((line) => `  ${line}`)];
  return ['apiVersion: ostiary/v1', `kind: ${kind}`, 'metadata:', `  name: ${name}`, ...lines, ''].join('\n');
}
