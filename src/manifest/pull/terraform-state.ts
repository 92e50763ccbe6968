import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { resourceId, type ResourceId, kindOf } from '../../model/resource.ts';
import type { SourceFile } from '../../model/source.ts';
import type { LiveResource } from '../../model/live.ts';
import type { TerraformHandover, TerraformObject } from '../../model/result/pull-result.ts';
import { fieldNodes, findNode } from '../validate/schema-nodes.ts';

/** An object that a state owns. */
export type StateObject = {
  /** Its address with the keys of instances. */
  readonly address: string;
  /** Its address without them: all that a removed block can name. */
  readonly block: string;
  /** The kind that its type stands for, if there is one. */
  readonly kind?: string;
  /** What the gateway knows it by, where the state says so. */
  readonly id?: ResourceId;
  /** The gateway's own id. */
  readonly uid?: string;
  /** Whether the state holds what names it as sensitive: then it is printed only by its address. */
  readonly secret?: true;
  /** It is about to be replaced, and only Terraform knows by what. */
  readonly deposed?: true;
};

/** How the gateway's provider spells things. */
export type TerraformProvider = { readonly name: string; readonly kinds: Readonly<Record<string, string>>; readonly registry: Registry };

/** Reads what a state of Terraform or OpenTofu (version 4) owns by the provider; nothing else of it is looked at or repeated. */
export function readTerraformState(file: SourceFile, provider: TerraformProvider): Checked<readonly StateObject[]> {
  const state = parseJson(file.text);
  const wrong = state === undefined ? notJson : checkFormat(state);
  if (wrong !== undefined || state === undefined) return { diagnostics: [toDiagnostic(file, wrong ?? notJson)] };
  const objects: StateObject[] = [];
  for (const resource of listOf(state['resources'])) {
    if (!isObject(resource) || resource['mode'] === 'data' || !isFromProvider(resource['provider'], provider.name)) continue;
    const found = listInstances(resource, provider);
    if (found === undefined) return { diagnostics: [toDiagnostic(file, unknownAddress)] };
    objects.push(...found);
  }
  return objects.length === 0 ? { diagnostics: [toDiagnostic(file, nothingOwned(provider.name))] } : { value: objects, diagnostics: [] };
}

type StateProblem = { readonly message: string; readonly hint: string };

const pullHint = 'give what "terraform state pull" or "tofu state pull" prints';
const notJson: StateProblem = { message: 'it is no JSON', hint: pullHint };
const unknownAddress: StateProblem = {
  message: 'it names a resource in a way that Terraform never does',
  hint: 'is the file as Terraform wrote it?',
};

function nothingOwned(name: string): StateProblem {
  return { message: `it owns nothing by the provider "${name}"`, hint: 'is it the state of the right configuration?' };
}

function checkFormat(state: JsonObject): StateProblem | undefined {
  if (state['encrypted_data'] !== undefined) return { message: 'it is encrypted', hint: pullHint };
  if (state['format_version'] !== undefined) return { message: 'it is what "show -json" prints, not a state', hint: pullHint };
  const { version } = state;
  if (typeof version !== 'number') return { message: 'it is no state of Terraform', hint: pullHint };
  if (version < 4)
    return {
      message: `it is a state of version ${version}, and 4 is read`,
      hint: 'run any Terraform from 0.12 on once; it writes version 4',
    };
  if (version > 4) return { message: `it is a state of version ${version}, and 4 is read`, hint: 'a later Ostiary may read it' };
  return Array.isArray(state['resources']) ? undefined : { message: 'it has no list of resources', hint: pullHint };
}

function toDiagnostic(file: SourceFile, { message, hint }: StateProblem): Diagnostic {
  const at = { file: file.path, line: 1, column: 1 };
  return { code: 'terraform/not-a-state', severity: 'error', message: `the state cannot be used: ${message}`, hint, at };
}

/** The words of the parser would repeat what is in the state. */
function parseJson(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** `provider["registry.terraform.io/NAMESPACE/NAME"]` (`provider.NAME` before 0.13), perhaps below a module and with an alias. */
function isFromProvider(provider: Json | undefined, name: string): boolean {
  if (typeof provider !== 'string') return false;
  const [, address] = /provider\["([^"]*)"\]/.exec(provider) ?? /(?:^|\.)provider\.([\w-]+)(?:\.[\w-]+)?$/.exec(provider) ?? [];
  return address?.split('/').at(-1) === name;
}

const word = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
const step = String.raw`module\.([\p{L}_][\p{L}\p{N}_-]*)(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?`;
const modules = new RegExp(String.raw`^${step}(?:\.${step})*$`, 'u');

/** The instances of one resource; undefined where an address could not be written into a configuration. */
function listInstances(resource: JsonObject, { kinds, registry }: TerraformProvider): readonly StateObject[] | undefined {
  const { module, type, name } = resource;
  if (typeof type !== 'string' || typeof name !== 'string' || !word.test(type) || !word.test(name)) return undefined;
  if (module !== undefined && (typeof module !== 'string' || !modules.test(module))) return undefined;
  const path = module === undefined ? '' : `${module}.`;
  const folders = [...path.matchAll(new RegExp(step, 'gu'))].map(([, folder]) => `module.${folder}.`);
  const block = `${folders.join('')}${type}.${name}`;
  const kind = Object.hasOwn(kinds, type) ? registry.get(kinds[type] ?? '') : undefined;
  return listOf(resource['instances']).flatMap((instance) => {
    if (!isObject(instance)) return [];
    const deposed = typeof instance['deposed'] === 'string';
    const address = `${path}${type}.${name}${formatKey(instance['index_key'])}`;
    return [
      { address, block, ...(kind === undefined ? {} : readIdentity(kind, instance)), ...(deposed ? { deposed: true as const } : {}) },
    ];
  });
}

function formatKey(key: Json | undefined): string {
  return typeof key === 'string' || typeof key === 'number' ? `[${JSON.stringify(key)}]` : '';
}

/** The field that the gateway knows an object by. */
function identityField(kind: Kind): string {
  const fields = kind.named ? [] : Object.entries(fieldNodes(findNode(kind.schema, ['spec']) ?? {}));
  return fields.find(([, node]) => isObject(node) && node['x-ostiary-identity'] === true)?.[0] ?? 'name';
}

function readIdentity(kind: Kind, instance: JsonObject): Pick<StateObject, 'kind' | 'id' | 'uid' | 'secret'> {
  const attributes = isObject(instance['attributes']) ? instance['attributes'] : {};
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

/** A state's objects, each with the live object that it is, if there is one. */
export type MatchedObjects = readonly (StateObject & { readonly live?: ResourceId })[];

/** Finds the live objects that a state owns: by their names, and by the gateway's own ids where a name is not known. */
export function matchState(objects: readonly StateObject[], live: readonly LiveResource[]): MatchedObjects {
  const ids = new Set(live.map(({ id }) => id));
  const byUid = new Map(live.map(({ id, uid }) => [uid, id]));
  return objects.map((one) => {
    const other = one.uid === undefined ? undefined : byUid.get(one.uid);
    const same = other !== undefined && (one.id === undefined || kindOf(other) === kindOf(one.id)) ? other : undefined;
    const found = one.id !== undefined && ids.has(one.id) ? one.id : same;
    return found === undefined ? one : { ...one, live: found };
  });
}

/**
 * Tells what Terraform may forget: what has a manifest now. A removed block names all instances of a resource, so a
 * resource with one that must stay stays whole.
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
  return {
    taken: taken.map(toOwned),
    gone: gone.map(toOwned),
    kept: [
      ...removeDoubles(objects).flatMap((one) => toKept(one, stays.get(one.address))),
      ...siblings.map((one) => ({ ...toOwned(one), reason: 'it has a manifest now, but another instance of its resource stays' })),
    ],
    blocks: [...new Set(taken.map(({ block }) => block))].toSorted(),
  };
}

/** One of each address: what is being replaced stands beside what it is replaced by. */
function removeDoubles(objects: MatchedObjects): MatchedObjects {
  return [...new Map(objects.map((one) => [one.address, one])).values()];
}

function findReasonToStay(
  { address, kind, id, live, deposed }: MatchedObjects[number],
  declared: ReadonlySet<ResourceId>,
  reasons: ReadonlyMap<ResourceId, string>,
): readonly (readonly [string, string])[] {
  if (deposed === true) return [[address, 'it is being replaced: let Terraform finish first']];
  if (kind === undefined) return [[address, 'no manifest stands for this type']];
  if (id === undefined && live === undefined) return [[address, 'the state does not name it']];
  return live === undefined || declared.has(live) ? [] : [[address, reasons.get(live) ?? 'it has no manifest']];
}

function toKept(one: StateObject, reason: string | undefined): readonly (TerraformObject & { readonly reason: string })[] {
  return reason === undefined ? [] : [{ ...toOwned(one), reason }];
}

/** What names it in a report: what the state holds as sensitive is not repeated. */
function toOwned({ address, id, secret }: StateObject): TerraformObject {
  return { address, ...(id === undefined || secret === true ? {} : { id }) };
}
