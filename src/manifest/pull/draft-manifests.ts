import type { FieldRule } from '../../model/field.ts';
import type { DialectFields } from '../../model/gateway.ts';
import { compareText, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import type { EdgeEnds } from '../../model/edges.ts';
import type { LiveResource } from '../../model/live.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { UnstatedPart } from '../../model/result/pull-result.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { createSecretWriter, type SecretWriter, type SecretWriterOptions } from './secret-writer.ts';
import { dropInvalidParts } from './drop-invalid-parts.ts';
import { listStatableFields, listStatedFields } from './stated-values.ts';
import { toFileNameText } from './file-names.ts';
import { createKindView } from '../kind-view.ts';

/** A manifest to write. */
export type DraftManifest = {
  /** `Kind/metadata.name`. */
  readonly id: ResourceId;
  /** The id on the gateway. */
  readonly key: ResourceId;
  readonly value: JsonObject;
};

/** The live objects and the rules from which manifests are drafted. */
export type DraftInput = {
  /** The live objects that need a manifest. */
  readonly live: readonly LiveResource[];
  /** Live edges that no manifest declares. */
  readonly edges: readonly EdgeEnds[];
  readonly registry: Registry;
  readonly speech: DialectFields;
  readonly secrets: SecretWriterOptions;
  /** The targets of the manifests; empty for all. */
  readonly targets: readonly string[];
  /** The ids of other manifests. */
  readonly declared: ReadonlySet<ResourceId>;
  /** Paths that a manifest ignores because it cannot state their live values. */
  readonly ignored: ReadonlyMap<ResourceId, readonly Pointer[]>;
  /** Live objects without a possible manifest, and the reasons. */
  readonly excluded: ReadonlyMap<ResourceId, string>;
  /** Live objects whose manifests are validated, and reduced if necessary. */
  readonly doubtful: ReadonlySet<ResourceId>;
};

export type DraftResult = {
  readonly drafts: readonly DraftManifest[];
  readonly unstated: readonly UnstatedPart[];
  readonly excluded: ReadonlyMap<ResourceId, string>;
  readonly secrets: SecretWriter;
};

type DraftBody = { readonly live: LiveResource; readonly id: ResourceId; readonly metadata: JsonObject; readonly spec: JsonObject };

/** Drafts a manifest for each live object and lists the parts that no manifest can state. The order of the input does not matter. */
export function draftManifests(drafting: DraftInput): DraftResult {
  const { registry, secrets: writing, declared } = drafting;
  const secrets = createSecretWriter(writing);
  const views = new Map(
    [...registry].map(([name, kind]) => [name, { view: createKindView(kind), fields: listStatableFields(kind, drafting.speech) }]),
  );
  const excluded = new Map(drafting.excluded);
  const unstated: UnstatedPart[] = [];
  const labels = new Set<ResourceId>(declared);
  const sketches: DraftBody[] = [];
  for (const live of drafting.live.toSorted((left, right) => compareText(left.id, right.id))) {
    const { view, fields = [] } = views.get(kindOf(live.id)) ?? {};
    if (view === undefined || excluded.has(live.id)) continue;
    const id = chooseId(view.kind, live.id, labels);
    const body = {
      metadata: createMetadata(id, live.id, drafting),
      spec: createSpec(view.kind, live, { id, fields, writer: secrets }),
    };
    const rules = { secrets: { envPrefixes: [writing.prefix], referencePrefixes: writing.referencePrefixes }, targets: drafting.targets };
    const sound = drafting.doubtful.has(live.id) ? dropInvalidParts(view, body, rules) : { body, dropped: [] };
    if ('reason' in sound) excluded.set(live.id, sound.reason);
    else {
      labels.add(id);
      unstated.push(...sound.dropped.map((one) => ({ id, ...one })));
      sketches.push({ live, id, ...sound.body });
    }
  }
  const ends = listEdgesByField(drafting.edges, new Set(sketches.map(({ live }) => live.id)), registry);
  const drafts = sketches.map(({ live, id, metadata, spec }): DraftManifest => {
    const edges = ends.get(live.id);
    const whole = edges === undefined ? spec : sortFields(registry.get(kindOf(id)), { ...spec, ...Object.fromEntries(edges) });
    return { id, key: live.id, value: { apiVersion: 'ostiary/v1', kind: kindOf(id), metadata, spec: whole } };
  });
  return { drafts, unstated, excluded, secrets };
}

/** Returns the id of a manifest; a kind that the gateway does not name gets a short name. */
function chooseId(kind: Kind, id: ResourceId, taken: ReadonlySet<ResourceId>): ResourceId {
  if (kind.named) return id;
  const name = nameOf(id);
  const short = toFileNameText(name.slice(name.indexOf('/') + 1));
  return [short, toFileNameText(name)].map((label) => resourceId(kind.name, label)).find((one) => !taken.has(one)) ?? id;
}

function createMetadata(id: ResourceId, key: ResourceId, { ignored, targets }: DraftInput): JsonObject {
  const ignore = ignored.get(key) ?? [];
  return {
    name: nameOf(id),
    ...(ignore.length === 0 ? {} : { ignore: ignore.toSorted(compareText) }),
    ...(targets.length === 0 ? {} : { targets }),
  };
}

type SpecOptions = { readonly id: ResourceId; readonly fields: readonly FieldRule[]; readonly writer: SecretWriter };

function createSpec(kind: Kind, live: LiveResource, { id, fields, writer }: SpecOptions): JsonObject {
  const stated = listStatedFields(kind, live, fields);
  const spec: Record<string, Json> = {};
  for (const field of kind.fields) {
    const value = field.secret === undefined ? stated.get(field.name) : writer.write(id, live, field);
    if (value !== undefined) spec[field.name] = value;
  }
  return spec;
}

/** Sorts the fields in the order of the schema. */
function sortFields(kind: Kind | undefined, spec: JsonObject): JsonObject {
  const ordered: Record<string, Json> = {};
  for (const { name } of kind?.fields ?? []) {
    const value = spec[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}

/**
 * Returns the edges that each manifest lists, by field. Each edge is written once: by the connection if it has a manifest
 * and a field for it, because readers look there for its protections; else by the rule.
 */
function listEdgesByField(
  edges: readonly EdgeEnds[],
  ours: ReadonlySet<ResourceId>,
  registry: Registry,
): ReadonlyMap<ResourceId, ReadonlyMap<string, readonly string[]>> {
  const lists = new Map<ResourceId, Map<string, readonly string[]>>();
  for (const { rule, connection } of edges) {
    for (const [id, other] of [
      [connection, rule],
      [rule, connection],
    ] as const) {
      const field = registry.get(kindOf(id))?.fields.find((one) => one.edge !== undefined && one.refers === kindOf(other));
      if (field === undefined || !ours.has(id)) continue;
      const fields = lists.get(id) ?? new Map<string, readonly string[]>();
      fields.set(field.name, [...(fields.get(field.name) ?? []), nameOf(other)].toSorted(compareText));
      lists.set(id, fields);
      break;
    }
  }
  return lists;
}
