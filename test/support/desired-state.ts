import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load-manifests.ts';
import type { SecretSource } from '../../src/manifest/secrets/read-secret.ts';
import type { DesiredResource, DesiredState } from '../../src/model/desired.ts';
import type { Checked, SourceFile } from '../../src/model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { withContent } from '../../src/model/secret.ts';
import { digestKey } from './manifests.ts';
import type { Manifest } from './scenario.ts';

/** What a load depends on besides the manifests. */
type LoadChoices = {
  readonly only?: readonly string[];
  /** Sources of secrets stay unresolved. */
  readonly isUnresolved?: boolean;
  /** Returns the values of sources; by default, each is its own text. */
  readonly sourceValue?: (source: SecretSource) => string;
  /** The content of each committed file that a secret comes from; absent if none is committed. */
  readonly content?: string;
};

/** Loads the desired state of manifests; every secret source resolves to its own text. */
export function desiredState(manifests: readonly Manifest[], choices?: LoadChoices): DesiredState {
  const checked = loadState(manifests, choices);
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return checked.value;
}

/** Loads the desired state with its diagnostics; each manifest is a separate file. */
export function loadState(manifests: readonly Manifest[], choices: LoadChoices = {}): Checked<DesiredState> {
  const { only, isUnresolved = false, sourceValue = JSON.stringify, content } = choices;
  const { value, diagnostics } = loadManifests({
    files: filesOf(manifests),
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    ...(isUnresolved ? {} : { resolve: (source) => ({ value: sourceValue(source), diagnostics: [] }) }),
    registry,
    digestKey,
    ...(only === undefined ? {} : { selection: { only } }),
  });
  if (value === undefined || content === undefined) return { ...(value === undefined ? {} : { value }), diagnostics };
  return { value: { ...value, resources: value.resources.map((one) => withFiles(one, content)) }, diagnostics };
}

/** Returns a resource whose files are committed, all with one content. */
function withFiles(resource: DesiredResource, content: string): DesiredResource {
  const secrets = Object.entries(resource.secrets).map(([path, secret]) => [
    path,
    secret.source.startsWith('file:') ? withContent(secret, content) : secret,
  ]);
  return { ...resource, secrets: Object.fromEntries(secrets) };
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
