import type { Manifest } from '../support/scenario.ts';
import { isKept, stateOf } from './declared-state.ts';
import type { ModelObject, ModelState } from './gateway-objects.ts';

/** The fields that keep their value on the gateway where a manifest leaves them out. */
const keptFields = ['min_review_approvals', 'resource_name'];

/**
 * Returns what manifests declare on a gateway: fields that they leave to the gateway have its values, and the resources are there,
 * which no manifest declares.
 */
export function declaredOn(live: ModelState, manifests: readonly Manifest[]): ModelState {
  const resources = Object.entries(live).filter(([id]) => id.startsWith('Resource/'));
  const declared = stateOf(manifests).map((one): readonly [string, ModelObject] => {
    const { spec = {} } = live[one.id] ?? { id: one.id };
    const kept = keptFields.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]] as const]));
    return [one.id, { ...one, spec: { ...Object.fromEntries(kept), ...one.spec } }];
  });
  return Object.fromEntries([...resources, ...declared]);
}

/** Gives the secrets that manifests keep their live values; a secret that is kept and not live does not exist. */
export function withKeptSecrets(declared: ModelState, live: ModelState, manifests: readonly Manifest[]): ModelState {
  const stated = new Set(
    manifests.flatMap(({ kind, metadata, spec }) => (spec['secret'] === undefined ? [] : [`${kind}/${metadata.name}`])),
  );
  return Object.fromEntries(
    Object.values(declared).map((one) => {
      const found = live[one.id]?.secrets ?? {};
      const secrets = Object.entries(one.secrets ?? {}).flatMap(([path, value]) => {
        const own = isKept(value) ? found[path] : value;
        return own === undefined ? [] : [[path, own] as const];
      });
      const isOmitted = one.id.startsWith('Connection/') && !stated.has(one.id);
      return [one.id, { ...one, secrets: isOmitted ? found : Object.fromEntries(secrets) }];
    }),
  );
}

/** Returns whether a secret of an object has a value that this token cannot know. */
type IsUnknown = (id: string, path: string, value: string) => boolean;

/** Gives each live secret that is not known a value of its own: whoever does not know two cannot know that they are the same. */
export function withUnknownSecrets(live: ModelState, isUnknown: IsUnknown): ModelState {
  return Object.fromEntries(
    Object.entries(live).map(([id, one]) => {
      const secrets = Object.entries(one.secrets ?? {}).map(([path, value]) => [
        path,
        isUnknown(id, path, value) ? `unknown ${id} ${path}` : value,
      ]);
      return [id, { ...one, secrets: Object.fromEntries(secrets) }];
    }),
  );
}
