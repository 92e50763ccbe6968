import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Checked } from '../../src/model/diagnostic.ts';
import type { Manifest } from './scenario.ts';

/** The state that manifests want, through the loader; every secret source resolves to its own text. */
export function desiredState(manifests: readonly Manifest[], selection?: { readonly only: readonly string[] }): DesiredState {
  const checked = loadState(manifests, selection);
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return checked.value;
}

/** Like `desiredState`, with the diagnostics; each manifest is a file of its own, JSON being YAML. */
export function loadState(manifests: readonly Manifest[], selection?: { readonly only: readonly string[] }): Checked<DesiredState> {
  const files = manifests.map((manifest) => ({
    path: `access/${manifest.kind}-${manifest.metadata.name}.yaml`,
    text: `${JSON.stringify({ apiVersion: 'ostiary/v1', ...manifest })}\n`,
  }));
  return loadManifests({
    files,
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    resolve: (source) => ({ value: JSON.stringify(source), diagnostics: [] }),
    registry,
    ...(selection === undefined ? {} : { selection }),
  });
}
