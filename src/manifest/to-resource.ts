import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { DesiredResource, Sample } from '../model/desired.ts';
import { equal, isObject, type Json, type JsonObject, textsIn } from '../model/json.ts';
import type { DesiredSecrets } from '../model/kind.ts';
import { normalizeValue } from '../model/spec/normalize.ts';
import { appendAll } from '../model/collections.ts';
import { isPointerWithin, pointer, type Pointer } from '../model/pointer.ts';
import { nameOf } from '../model/resource.ts';
import { timedGrants, withoutEnds } from '../model/protection/timed-grants.ts';
import { seal, type DesiredSecret } from '../model/secret.ts';
import { withTools } from '../model/spec/tool-lists.ts';
import { type KindView, type SecretField, toGatewayKey, createManifestLocate, locateInSpec, type Manifest } from './manifest.ts';
import { readSecret, type SecretSlot, type SecretRules } from './secrets/read-secret.ts';

/** The resource that a load made of a manifest, and the secrets that it read for it. */
type KnownResource = { readonly resource: DesiredResource; readonly given: ManifestSecrets['secrets'] };

/** By manifests, which loads of the same files share: what has the same secrets is the same resource. */
const knownResources = new WeakMap<Manifest, KnownResource>();

/** Converts a valid manifest to the normalized resource that plans compare; to the one of an earlier load where its secrets are the same. */
export function toResource(
  manifest: Manifest,
  rules: SecretRules,
): { readonly resource: DesiredResource; readonly problems: readonly DocumentDiagnostic[] } {
  const { view, metadata, id } = manifest;
  const { secrets, whole, problems } = readSecrets(view, manifest.spec, rules);
  const earlier = knownResources.get(manifest);
  if (earlier !== undefined && haveEqualValues(earlier.given, secrets)) return { resource: earlier.resource, problems };
  const raw = view.timed ? withoutEnds(view.plain, manifest.spec) : manifest.spec;
  const spec = normalizeSpec(view, nameOf(id), raw);
  const findings = view.kind.check(spec, raw);
  deriveOmitted(view, spec, { raw, given: { secrets, wholeSecrets: whole } });
  const resource: { -readonly [name in keyof DesiredResource]: DesiredResource[name] } = {
    id,
    key: toGatewayKey(manifest),
    spec: withTools(spec, secrets),
    stated: collectStated(view, raw),
    secrets: addDerivedSecrets(view, spec, secrets, whole),
    wholeSecrets: whole,
    ignore: textsIn(metadata['ignore']),
    protect: metadata['protect'] === true,
    adopt: metadata['adopt'] === true,
    locate: (path: Pointer) => (path === '' ? manifest.document.locate('') : locateInSpec(manifest, path)),
    locateIgnore: () => createManifestLocate(manifest)('/metadata/ignore'),
  };
  const { replaces, renamedFrom } = metadata;
  const selector = readSelector(view, raw);
  if (selector !== undefined) resource.selector = selector;
  if (typeof replaces === 'string') resource.replaces = replaces;
  if (typeof renamedFrom === 'string') resource.renamedFrom = renamedFrom;
  if (raw !== manifest.spec) resource.grants = timedGrants(view.plain, manifest.spec);
  if (view.sampled) Object.assign(resource, { written: raw, samples: readSamples(manifest) });
  if (findings.length > 0)
    return { resource, problems: [...findings.map((finding) => ({ ...finding, pointer: `/spec${finding.pointer}` })), ...problems] };
  knownResources.set(manifest, { resource, given: secrets });
  return { resource, problems };
}

/** Returns whether two loads read the same secrets of a manifest: each unresolved or kept in both, or with the same value. */
function haveEqualValues(one: KnownResource['given'], other: KnownResource['given']): boolean {
  if (one === other) return true;
  for (const path in other) {
    const [before, now] = [one[path], other[path]];
    if (before?.state !== now?.state || before?.source !== now?.source) return false;
    if (before?.state === 'value' && now?.state === 'value' && !before.equals(now)) return false;
  }
  return Object.keys(one).length === Object.keys(other).length;
}
function readSelector({ selectors: [selector] }: KindView, raw: JsonObject): DesiredResource['selector'] {
  const value = selector === undefined ? undefined : raw[selector.name];
  return selector === undefined || !isObject(value) ? undefined : { field: selector.name, value };
}

/** Reads the samples; positions are computed on request. */
function readSamples(manifest: Manifest): readonly Sample[] {
  return manifest.tests.map((given, index) => ({
    given,
    get at() {
      return createManifestLocate(manifest)(pointer('tests', String(index)), 'value');
    },
  }));
}

/** Adds the secrets that a gateway adds to a map of secrets that the manifest states as a whole. */
function addDerivedSecrets(
  view: KindView,
  spec: JsonObject,
  secrets: ManifestSecrets['secrets'],
  whole: ManifestSecrets['whole'],
): ManifestSecrets['secrets'] {
  const derived = whole.length === 0 ? {} : (view.kind.derivedSecrets?.(spec, { secrets, wholeSecrets: whole }) ?? {});
  const added = Object.entries(derived).filter(
    ([path]) => whole.some((map) => isPointerWithin(path, map)) && !Object.hasOwn(secrets, path),
  );
  if (added.length === 0) return secrets;
  return { ...secrets, ...Object.fromEntries(added.map(([path, value]) => [path, seal('derived', value)])) };
}

/** Returns the errors in the secrets of a manifest. */
export function checkSecrets({ view, spec }: Manifest, rules: SecretRules): readonly DocumentDiagnostic[] {
  return readSecrets(view, spec, rules).problems;
}

/** Returns every compared field: the stated value, else the empty value if omission means empty. Null resets a field. */
function normalizeSpec(view: KindView, name: string, raw: JsonObject): Record<string, Json> {
  const spec: Record<string, Json> = {};
  for (const field of view.plain) {
    const value = raw[field.name];
    if (field.omitted === 'empty') spec[field.name] = value === undefined ? field.empty : normalizeValue(field, value);
    else if (value === null && field.omitted === 'kept') spec[field.name] = view.kind.createDefaults(name)[field.name] ?? field.empty;
    else if (value !== undefined && value !== null) spec[field.name] = normalizeValue(field, value);
  }
  return spec;
}

/** Fills omitted, reset and empty fields with the values that a gateway would derive from the others. */
function deriveOmitted(
  view: KindView,
  spec: Record<string, Json>,
  { raw, given }: { readonly raw: JsonObject; readonly given: DesiredSecrets },
): void {
  let derived: JsonObject | undefined;
  for (const field of view.derived) {
    const said = spec[field.name];
    if (said !== undefined && !equal(said, field.empty)) continue;
    derived ??= view.kind.derived(spec, given);
    const value = derived[field.name];
    if (value !== undefined) spec[field.name] = normalizeValue(field, value);
    else if (raw[field.name] === null) spec[field.name] = field.empty;
  }
}

/** Returns the names of the stated fields. Manifests that state the same fields share one set, found by a bit mask. */
function collectStated(view: KindView, raw: JsonObject): ReadonlySet<string> {
  let bits = 0;
  for (const { name } of view.kind.fields) bits = bits * 2 + (raw[name] === undefined ? 0 : 1);
  const known = view.stated.get(bits);
  if (known !== undefined) return known;
  const names = new Set(Object.keys(raw));
  if (view.kind.fields.length < 53) view.stated.set(bits, names);
  return names;
}

type ManifestSecrets = {
  readonly secrets: Readonly<Record<Pointer, DesiredSecret>>;
  readonly whole: readonly Pointer[];
  readonly problems: readonly DocumentDiagnostic[];
};

const none: ManifestSecrets = { secrets: {}, whole: [], problems: [] };

function readSecrets(view: KindView, raw: JsonObject, rules: SecretRules): ManifestSecrets {
  if (!view.secrets.some((field) => raw[field.name] !== undefined)) return none;
  const secrets: Record<Pointer, DesiredSecret> = {};
  const problems: DocumentDiagnostic[] = [];
  let { whole } = none;
  for (const field of view.secrets) {
    const value = raw[field.name];
    if (value === undefined) continue;
    if (field.secret === 'base64' || value === null) whole = whole.length === 0 ? field.ownPath : [...whole, field.path];
    const keys = field.secret === 'plain' ? [undefined] : isObject(value) ? Object.keys(value) : [];
    for (const key of keys) {
      const { path, place } = findSlot(field, key);
      const { secret, problems: found } = readSecret(key === undefined ? value : valueAt(value, key), place, rules);
      if (secret !== undefined) secrets[path] = secret;
      if (found.length > 0) appendAll(problems, found);
    }
  }
  return { secrets, whole, problems };
}

function valueAt(value: Json, key: string): Json {
  return isObject(value) ? (value[key] ?? null) : null;
}

/** Returns the slot of a field's secret, or of one key of its map. Each slot is created once. */
function findSlot({ name, path, secret: mode, slots: places }: SecretField, key: string | undefined): { path: Pointer; place: SecretSlot } {
  const known = places.get(key ?? '');
  if (known !== undefined) return known;
  const found =
    key === undefined ? { path, place: { field: name, mode } } : { path: path + pointer(key), place: { field: name, key, mode } };
  places.set(key ?? '', found);
  return found;
}
