import { appendAll } from '../../model/collections.ts';
import type { Checked, Diagnostic, SourceFile } from '../../model/diagnostic.ts';
import { asObject, isObject, type Json, type JsonObject, parseJson, asArray, textsIn } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { LiveResource } from '../../model/live.ts';
import type { TerraformHandover, TerraformObject } from '../../model/result/outcome.ts';
import { fieldNodes, findNode } from '../schema-nodes.ts';

/** An object in a Terraform state. */
export type StateObject = {
  /** The address with instance keys. */
  readonly address: string;
  /** The address without instance keys, as a removed block names it. */
  readonly block: string;
  /** The kind of its type, if there is one. */
  readonly kind?: string;
  /** The id on the gateway, if the state contains its name. */
  readonly id?: ResourceId;
  /** The uid on the gateway. */
  readonly uid?: string;
  /** Set if the state marks the name as sensitive; reports print only the address then. */
  readonly secret?: true;
  /** Set for a deposed object, whose replacement only Terraform knows. */
  readonly deposed?: true;
  /** Set for a resource that is a field of an object with this uid. */
  readonly isPart?: true;
  /** The resources that it refers to, as removed blocks name them. */
  readonly needs: readonly string[];
};

/** A resource type that is a field of another object. */
type PartType = { readonly kind: string; readonly uid: string; readonly where: Readonly<Record<string, string>> };

/** The name of the gateway's Terraform provider, its resource types by kind, those that are fields of objects, and the kinds. */
type TerraformProvider = {
  readonly name: string;
  readonly kinds: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, PartType>>;
  readonly registry: Registry;
};

/** Reads the objects that a Terraform or OpenTofu state (version 4) owns by the provider. No other value of the state is read or repeated. */
export function readTerraformState(file: SourceFile, provider: TerraformProvider): Checked<readonly StateObject[]> {
  // The parser's message would repeat parts of the state.
  const state = parseJson(file.text);
  const wrong = isObject(state) ? checkFormat(state) : notJson;
  if (wrong !== undefined || !isObject(state)) return { diagnostics: [toDiagnostic(file, wrong ?? notJson)] };
  const objects: StateObject[] = [];
  for (const resource of asArray(state['resources'])) {
    if (!isObject(resource) || resource['mode'] === 'data' || !isFromProvider(resource['provider'], provider.name)) continue;
    const found = listInstances(resource, provider);
    if (found === undefined) return { diagnostics: [toDiagnostic(file, unknownAddress)] };
    appendAll(objects, found);
  }
  return objects.length === 0 ? { diagnostics: [toDiagnostic(file, nothingOwned(provider.name))] } : { value: objects, diagnostics: [] };
}

type StateProblem = { readonly message: string; readonly hint: string };

const pullHint = 'pass the output of "terraform state pull" or "tofu state pull"';
const notJson: StateProblem = { message: 'it is not JSON', hint: pullHint };
const unknownAddress: StateProblem = {
  message: 'a resource has an invalid address',
  hint: 'check that the file is unchanged since Terraform wrote it',
};

function nothingOwned(name: string): StateProblem {
  return { message: `it contains no resources of the provider "${name}"`, hint: 'check that it is the state of the right configuration' };
}

function checkFormat(state: JsonObject): StateProblem | undefined {
  if (state['encrypted_data'] !== undefined) return { message: 'it is encrypted', hint: pullHint };
  if (state['format_version'] !== undefined) return { message: 'it is the output of "show -json", not a state', hint: pullHint };
  const { version } = state;
  if (typeof version !== 'number') return { message: 'it is not a Terraform state', hint: pullHint };
  if (version < 4)
    return {
      message: `it has state version ${version}; Ostiary reads version 4`,
      hint: 'run Terraform 0.12 or later once; it writes version 4',
    };
  if (version > 4) return { message: `it has state version ${version}; Ostiary reads version 4`, hint: 'use a newer version of Ostiary' };
  return Array.isArray(state['resources']) ? undefined : { message: 'it has no list of resources', hint: pullHint };
}

function toDiagnostic(file: SourceFile, { message, hint }: StateProblem): Diagnostic {
  const at = { file: file.path, line: 1, column: 1 };
  return { code: 'terraform/not-a-state', severity: 'error', message: `the state cannot be used: ${message}`, hint, at };
}

/** Returns whether an address such as `provider["registry.terraform.io/NAMESPACE/NAME"]` (`provider.NAME` before 0.13) names the provider; it may have a module and an alias. */
function isFromProvider(provider: Json | undefined, name: string): boolean {
  if (typeof provider !== 'string') return false;
  const [, address] = /provider\["([^"]*)"\]/.exec(provider) ?? /(?:^|\.)provider\.([\w-]+)(?:\.[\w-]+)?$/.exec(provider) ?? [];
  return address?.split('/').at(-1) === name;
}

const word = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
const step = String.raw`module\.([\p{L}_][\p{L}\p{N}_-]*)(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?`;
const modules = new RegExp(String.raw`^${step}(?:\.${step})*$`, 'u');

/** Returns the instances of one resource; undefined if an address is not valid in a configuration. */
function listInstances(resource: JsonObject, { kinds, parts, registry }: TerraformProvider): readonly StateObject[] | undefined {
  const { module, type, name } = resource;
  if (typeof type !== 'string' || typeof name !== 'string' || !word.test(type) || !word.test(name)) return undefined;
  if (module !== undefined && (typeof module !== 'string' || !modules.test(module))) return undefined;
  const path = module === undefined ? '' : `${module}.`;
  const folders = [...path.matchAll(new RegExp(step, 'gu'))].map(([, folder]) => `module.${folder}.`);
  const block = `${folders.join('')}${type}.${name}`;
  const kind = Object.hasOwn(kinds, type) ? registry.get(kinds[type] ?? '') : undefined;
  return asArray(resource['instances']).flatMap((instance) => {
    if (!isObject(instance)) return [];
    const deposed = typeof instance['deposed'] === 'string';
    const address = `${path}${type}.${name}${formatKey(instance['index_key'])}`;
    const identity =
      kind === undefined ? readPart(Object.hasOwn(parts, type) ? parts[type] : undefined, instance) : readIdentity(kind, instance);
    const needs = textsIn(instance['dependencies']);
    return [{ address, block, needs, ...identity, ...(deposed ? { deposed: true as const } : {}) }];
  });
}

function formatKey(key: Json | undefined): string {
  return typeof key === 'string' || typeof key === 'number' ? `[${JSON.stringify(key)}]` : '';
}

/** Returns the field that identifies an object on the gateway. */
function identityField(kind: Kind): string {
  const fields = kind.named ? [] : Object.entries(fieldNodes(findNode(kind.schema, ['spec']) ?? {}));
  return fields.find(([, node]) => isObject(node) && node['x-ostiary-identity'] === true)?.[0] ?? 'name';
}

function readIdentity(kind: Kind, instance: JsonObject): Pick<StateObject, 'kind' | 'id' | 'uid' | 'secret'> {
  const attributes = asObject(instance['attributes']);
  const field = identityField(kind);
  const text = attributes[field];
  const uid = attributes['id'];
  const hidden = JSON.stringify(instance['sensitive_attributes'] ?? []).includes(`"${field}"`) || kind.check(attributes).length > 0;
  return {
    kind: kind.name,
    ...(typeof text === 'string' && text !== '' ? { id: resourceId(kind.name, kind.identity(text, attributes)) } : {}),
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(hidden ? { secret: true } : {}),
  };
}

/** Returns the object of which a resource is a field; nothing if it is none. */
function readPart(part: PartType | undefined, instance: JsonObject): Pick<StateObject, 'kind' | 'uid' | 'isPart'> {
  const attributes = asObject(instance['attributes']);
  const uid = part && attributes[part.uid];
  if (part === undefined || typeof uid !== 'string') return {};
  const isMeant = Object.entries(part.where).every(([name, value]) => attributes[name] === value);
  return isMeant ? { kind: part.kind, uid, isPart: true } : {};
}

/** The objects of a state, each with its live object if there is one. */
export type MatchedObjects = readonly (StateObject & { readonly live?: ResourceId })[];

/** Finds the live objects of a state by name, or by uid if the name is not known. A field is not matched without the object that has it. */
export function matchState(objects: readonly StateObject[], live: readonly LiveResource[]): MatchedObjects {
  const ids = new Set(live.map(({ id }) => id));
  const byUid = new Map(live.map(({ id, uid }) => [uid, id]));
  const matched = matchEach(objects, ids, byUid);
  const owned = new Set(matched.flatMap(({ isPart, live: found }) => (isPart === true ? [] : (found ?? []))));
  return matched.map((one) => {
    const { live: found, ...rest } = one;
    return one.isPart === true && found !== undefined && !owned.has(found) ? rest : one;
  });
}

function matchEach(objects: readonly StateObject[], ids: ReadonlySet<ResourceId>, byUid: ReadonlyMap<string, ResourceId>): MatchedObjects {
  return objects.map((one) => {
    const other = one.uid === undefined ? undefined : byUid.get(one.uid);
    const kind = one.id === undefined ? (one.isPart === true ? one.kind : undefined) : kindOf(one.id);
    const same = other !== undefined && (kind === undefined || kindOf(other) === kind) ? other : undefined;
    const found = one.id !== undefined && ids.has(one.id) ? one.id : same;
    return found === undefined ? one : { ...one, live: found };
  });
}

/**
 * Splits the objects of a state into those that Terraform can forget because they have a manifest, those that are gone,
 * and those that stay. A removed block names all instances of a resource, so an instance that stays keeps the others.
 */
export function handOverState(
  objects: MatchedObjects,
  declared: ReadonlySet<ResourceId>,
  reasons: ReadonlyMap<ResourceId, string>,
): Omit<TerraformHandover, 'file'> & { readonly blocks: readonly string[] } {
  const stays = new Map(objects.flatMap((one) => findReasonToStay(one, declared, reasons)));
  const held = new Set(objects.filter(({ address }) => stays.has(address)).map(({ block }) => block));
  const gone = objects.filter(({ address, live, id }) => live === undefined && id !== undefined && !stays.has(address));
  const ours = objects.filter(({ live, address }) => live !== undefined && !stays.has(address));
  const taken = ours.filter(({ block }) => !held.has(block));
  const siblings = ours.filter(({ block }) => held.has(block));
  const forgotten = new Set(taken.map(({ block }) => block));
  return {
    taken: taken.map(toOwned),
    gone: gone.map(toOwned),
    kept: [
      ...removeDoubles(objects).flatMap((one) => toKept(one, withReferences(stays.get(one.address), one, forgotten))),
      ...siblings.map((one) => ({ ...toOwned(one), reason: 'it has a manifest now, but another instance of its resource remains' })),
    ],
    blocks: [...forgotten].toSorted(),
  };
}

/** Keeps one object per address: a deposed object has the address of its replacement. */
function removeDoubles(objects: MatchedObjects): MatchedObjects {
  return [...new Map(objects.map((one) => [one.address, one])).values()];
}

function findReasonToStay(
  { address, kind, id, live, deposed, isPart }: MatchedObjects[number],
  declared: ReadonlySet<ResourceId>,
  reasons: ReadonlyMap<ResourceId, string>,
): readonly (readonly [string, string])[] {
  if (deposed === true) return [[address, 'it is being replaced: let Terraform finish first']];
  if (kind === undefined) return [[address, 'manifests do not support this type']];
  if (isPart === true && live === undefined) return [[address, `its ${kind} is not in this state`]];
  if (id === undefined && live === undefined) return [[address, 'the state does not name it']];
  return live === undefined || declared.has(live) ? [] : [[address, reasons.get(live) ?? 'it has no manifest']];
}

/** Adds to the reason what a resource that stays refers to and Terraform forgets: its configuration would no longer be valid. */
function withReferences(reason: string | undefined, { needs }: StateObject, forgotten: ReadonlySet<string>): string | undefined {
  const broken = needs.filter((block) => forgotten.has(block));
  if (reason === undefined || broken.length === 0) return reason;
  const what =
    broken.length === 1
      ? 'which Terraform forgets: replace the reference with its value'
      : 'which Terraform forgets: replace the references with their values';
  return `${reason}; it refers to ${broken.join(' and ')}, ${what}`;
}

function toKept(one: StateObject, reason: string | undefined): readonly (TerraformObject & { readonly reason: string })[] {
  return reason === undefined ? [] : [{ ...toOwned(one), reason }];
}

/** Returns the address and id for a report, without a sensitive id. */
function toOwned({ address, id, secret }: StateObject): TerraformObject {
  return { address, ...(id === undefined || secret === true ? {} : { id }) };
}
