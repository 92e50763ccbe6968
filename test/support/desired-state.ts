import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Checked, SourceFile } from '../../src/model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Manifest } from './scenario.ts';

/** A selection, and whether sources of secrets stay unresolved. */
type LoadChoices = { readonly only?: readonly string[]; readonly isUnresolved?: boolean };

/** Loads the desired state of manifests; every secret source resolves to its own text. */
export function desiredState(manifests: readonly Manifest[], choices?: LoadChoices): DesiredState {
  const checked = loadState(manifests, choices);
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return checked.value;
}

/** Loads the desired state with its diagnostics; each manifest is a separate file. */
export function loadState(manifests: readonly Manifest[], { only, isUnresolved = false }: LoadChoices = {}): Checked<DesiredState> {
  return loadManifests({
    files: filesOf(manifests),
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    ...(isUnresolved ? {} : { resolve: (source) => ({ value: JSON.stringify(source), diagnostics: [] }) }),
    registry,
    ...(only === undefined ? {} : { selection: { only } }),
  });
}

/** Returns one file for each manifest. */
export function filesOf(manifests: readonly Manifest[]): readonly SourceFile[] {
  return manifests.map((manifest) => ({
    path: `access/${manifest.kind}-${manifest.metadata.name}.yaml`,
    text: `apiVersion: ostiary/v1\n${blockText({ ...manifest }, '')}`,
  }));
}

/** Prints a map with a line for each scalar, which the loader reads many times faster than JSON. */
function blockText(map: JsonObject, indent: string): string {
  const lines = Object.entries(map).map(([key, value]) => {
    if (isObject(value) && Object.keys(value).length > 0) return `${indent}${key}:\n${blockText(value, `${indent}  `)}`;
    if (Array.isArray(value) && value.length > 0) {
      const entries = value.map(
        (entry: Json) => `${indent}  - ${isObject(entry) ? blockText(entry, `${indent}    `).trimStart() : `${JSON.stringify(entry)}\n`}`,
      );
      return `${indent}${key}:\n${entries.join('')}`;
    }
    return `${indent}${key}: ${JSON.stringify(value)}\n`;
  });
  return lines.join('');
}
