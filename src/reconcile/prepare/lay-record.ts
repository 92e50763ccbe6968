import type { Remembered, RememberedObject, WrittenForm } from '../../model/applied-record.ts';
import { EdgeMap } from '../../model/collections.ts';
import {
  type BaseState,
  type DeclaredEdge,
  desiredByKey,
  type DesiredResource,
  formerIdOf,
  leftSecrets,
  withLeftFields,
} from '../../model/desired.ts';
import { defined, type JsonObject } from '../../model/json.ts';
import { closableFields, comparedFields, isClosed, type Kind, type Registry } from '../../model/kind.ts';
import { isMissingRow, liveById, liveEdges, type LiveResource, type LiveState } from '../../model/live.ts';
import { attributeRenames, type Renames, shownValue, withAttributeNames, withoutAttributes } from '../../model/plan/plan.ts';
import { fieldAt, isWithinAny, overlaps, type Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, edgeKey, kindOf, type ResourceId } from '../../model/resource.ts';
import type { DesiredSecret } from '../../model/secret.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { mergeStrictest, unmerge } from '../../model/spec/merge-strictest.ts';
import { compareSpecs, skippedPaths } from '../cells/compare-specs.ts';
import { resolveDefaults, resolveReferences } from '../cells/resolve-specs.ts';
import { withNewNames } from './base-states.ts';

/** What applies wrote beyond the last complete one, and what is live of it. */
type RememberedNames = Pick<Remembered, 'objects'> & { readonly live: LiveState };

type LayContext = { readonly live: LiveState; readonly registry: Registry };

/**
 * Returns the base with the new names of the objects that incomplete applies have renamed, and with the successors that they have created: the
 * earlier form of a successor is that of its predecessor.
 */
export function layNames(base: BaseState, own: readonly RememberedObject[], { objects, live }: RememberedNames): BaseState {
  const [applied, found] = [desiredByKey(base.desired.resources), liveById(live.resources)];
  const manifests = new Map(objects.map((one) => [one.key, one.resource]));
  const renames = new Map<ResourceId, DesiredResource>();
  const names = new Map(base.names);
  const successors: DesiredResource[] = [];
  for (const { key, resource, unfinished } of own) {
    const former = resource === undefined ? [] : formerNamesOf(resource, (id) => (applied.has(id) ? undefined : manifests.get(id)));
    const past = applied.get(former.at(-1) ?? key);
    if (resource === undefined || past === undefined || applied.has(key)) continue;
    if (resource.renamedFrom === undefined) {
      if (unfinished === true) successors.push({ ...past, id: resource.id, key });
    } else if (!found.has(past.key)) {
      renames.set(past.id, resource);
      names.set(key, [...former, ...(base.names?.get(past.key) ?? [])]);
    }
  }
  if (renames.size + successors.length === 0) return base;
  const { desired } = base;
  const named = renames.size === 0 ? desired : withNewNames(desired, renames, desired);
  const keys = new Map([...renames].map(([id, { key }]) => [id, key]));
  return withNamesInSpecs({ ...base, desired: { ...named, resources: [...named.resources, ...successors] }, names }, keys);
}

/** Lists the names that an object had before the last of several applies, the last one first; `manifestAt` has the manifests between. */
function formerNamesOf(resource: DesiredResource, manifestAt: (id: ResourceId) => DesiredResource | undefined): readonly ResourceId[] {
  const names = new Set<ResourceId>();
  for (let one: DesiredResource | undefined = resource; one !== undefined;) {
    const former = formerIdOf(one);
    one = former === undefined || names.has(former) ? undefined : manifestAt(former);
    if (former !== undefined) names.add(former);
  }
  return [...names];
}

/** Returns the base with new names of objects where its manifests state names as values. */
export function withNamesInSpecs(base: BaseState, renames: Renames): BaseState {
  const attributes = attributeRenames(renames);
  if (attributes.size === 0) return base;
  const resources = base.desired.resources.map((one) => ({ ...one, spec: withAttributeNames(one.spec, attributes) }));
  return { ...base, desired: { ...base.desired, resources } };
}

/**
 * Returns the base with the values that the gateway has because incomplete applies wrote them, and without the objects that they deleted: what
 * an apply was doing is no change that something else made.
 */
export function layWrites(base: BaseState, remembered: Remembered, { live, registry }: LayContext): BaseState {
  const { written, objects } = remembered;
  const created = new Map(objects.map((one) => [one.key, one]));
  const found = liveById(live.resources);
  const left = new Map(base.left);
  const replaced = new Set<ResourceId>();
  const deleted = new Set<ResourceId>();
  const laidResources = base.desired.resources.flatMap((resource): readonly DesiredResource[] => {
    const { key } = resource;
    const [kind, object, made] = [registry.get(kindOf(key)), found.get(key), created.get(key)];
    const forms = [...(written.get(key) ?? []), ...(made === undefined || made.resource === resource ? [] : creationOf(made))];
    const isSame = object !== undefined && object.uid === made?.uid;
    if (!isSame && (isGone(forms, object) || isReplaced(made, object))) {
      if (object !== undefined) replaced.add(key);
      else deleted.add(key);
      return [];
    }
    if (forms.length === 0 || kind === undefined || object === undefined) return [resource];
    const applied = forms.reduce((one, form) => (form.complete === true ? withForm(one, form.resource) : one), resource);
    const whole = withLeftFields(applied, left.get(key));
    const laid = layForms(kind, whole, { forms: forms.filter(({ complete }) => complete !== true), object, live });
    if (laid === whole) return [applied];
    const isLeft = (name: string): boolean => applied.spec[name] === undefined && laid.spec[name] !== undefined;
    if (left.has(key)) left.set(key, entriesThat(laid.spec, isLeft));
    return [{ ...laid, spec: entriesThat(laid.spec, (name) => !isLeft(name)) }];
  });
  const resources = laidResources.map((one) => {
    const spec = withoutAttributes(one.spec, deleted);
    return spec === one.spec ? one : { ...one, spec };
  });
  for (const [key, fields] of left) left.set(key, withoutAttributes(fields, deleted));
  const isBase =
    resources.length === base.desired.resources.length && resources.every((one, index) => one === base.desired.resources[index]);
  if (isBase) return base;
  // What is attached to another object of that name is not ours.
  const edges = base.desired.edges.filter(({ rule, connection }) => !replaced.has(rule) && !replaced.has(connection));
  return { ...base, desired: { ...base.desired, resources, edges }, left };
}

/** Returns whether incomplete applies have deleted an object: it is not live, or another object has its name since. */
export function isGone(forms: readonly WrittenForm[], object: LiveResource | undefined): boolean {
  return forms.some(({ deletes, uid }) => deletes === true && (object === undefined || (uid !== undefined && uid !== object.uid)));
}

/** Returns whether another object has the name of one that an apply has created; a rename knows its object before it is written. */
function isReplaced(made: RememberedObject | undefined, object: LiveResource | undefined): boolean {
  return object !== undefined && made?.uid !== undefined && made.resource !== undefined && formerIdOf(made.resource) === undefined;
}

/**
 * Returns the applied form of an object after an apply has written another one completely: what differs from that was changed by something
 * else. What the other form leaves to the gateway is as it was.
 */
function withForm(resource: DesiredResource, form: DesiredResource | undefined): DesiredResource {
  if (form === undefined) return resource;
  const stays = new Set(leftSecrets(form, resource));
  const secrets = Object.fromEntries(Object.entries(resource.secrets).filter(([path]) => stays.has(path)));
  return {
    ...resource,
    spec: { ...resource.spec, ...form.spec },
    stated: new Set([...resource.stated, ...form.stated]),
    secrets: { ...form.secrets, ...secrets },
  };
}

/** Returns the form of an object that an apply has created or renamed. */
function creationOf({ resource, unfinished, holds }: RememberedObject): readonly WrittenForm[] {
  return resource === undefined ? [] : [{ resource, ...defined({ unfinished, holds }) }];
}

function entriesThat(spec: JsonObject, has: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => has(name)));
}

type WrittenObject = { readonly forms: readonly WrittenForm[]; readonly object: LiveResource; readonly live: LiveState };

/** Returns the applied form of an object with what is live as one of the forms has it, and with the drift that an apply had begun to revert. */
function layForms(kind: Kind, resource: DesiredResource, { forms, object, live }: WrittenObject): DesiredResource {
  const fields = comparedFields(kind);
  const specOf = (one: DesiredResource): JsonObject =>
    resolveDefaults(kind, { ...one, spec: resolveReferences(kind, one, object, live).spec }, object);
  const closed = forms
    .filter((form) => form.resource === undefined || isClosed(kind, object))
    .map((form) => closedForm(resource, kind, form));
  const before = specOf(resource);
  // Of two writes of an object, the first one leaves what is as strict as both ends.
  const wrote = forms.flatMap((form) => (form.resource === undefined ? [] : [specOf(form.resource)]));
  const between = wrote.map((spec) => mergeStrictest(kind.fields, spec, before));
  const found = wrote.reduce((spec, form) => unmerge(kind.fields, form, spec), object.spec);
  const others = [...wrote, ...between, ...closed.map(specOf)].map((spec) => {
    const differing = compareSpecs(fields, spec, found, []);
    return (path: Pointer): boolean => spec[fieldAt(path)] !== undefined && !differing.some((field) => overlaps(field.path, path));
  });
  const reverts = forms.flatMap((form) => form.reverts ?? []);
  // A row may be missing because the predecessor had none.
  const isUnwritten = (path: Pointer): boolean =>
    isMissingRow(path, object, live) && forms.some(({ unfinished, holds = [] }) => unfinished === true && !isWithinAny(path, holds));
  const isOurs = (path: Pointer): boolean => isWithinAny(path, reverts) || isUnwritten(path) || others.some((isWritten) => isWritten(path));
  const edits = compareSpecs(fields, before, found, skippedPaths(resource, object)).filter(
    ({ path }) => resource.spec[fieldAt(path)] !== undefined && isOurs(path),
  );
  const secrets = laySecrets(resource, forms, object);
  if (edits.length === 0 && secrets === resource.secrets) return resource;
  return {
    ...resource,
    spec: editSpec(
      kind.fields,
      resource.spec,
      edits.map((field) => ({ path: field.path, value: shownValue(field.before) })),
    ),
    secrets,
  };
}

/** Returns the form of an object that an apply closed, because its manifest is gone, another object replaces it, or it moves between rules. */
function closedForm(resource: DesiredResource, kind: Kind, { holds = [] }: WrittenForm): DesiredResource {
  const closed = closableFields(kind).filter(({ path }) => !holds.includes(path));
  return { ...resource, spec: { ...resource.spec, ...Object.fromEntries(closed.map(({ name, value }) => [name, value])) } };
}

/** Returns the applied secrets with those that are live as one of the forms has them. */
function laySecrets({ secrets }: DesiredResource, forms: readonly WrittenForm[], object: LiveResource): DesiredResource['secrets'] {
  const laid = new Map<Pointer, DesiredSecret>(Object.entries(secrets));
  for (const { resource } of forms)
    for (const path of new Set([...Object.keys(secrets), ...Object.keys(resource?.secrets ?? {})])) {
      const [applied, wrote, found] = [secrets[path], resource?.secrets[path], object.secrets[path]];
      if (found?.state === 'value' && wrote?.state === 'value') {
        if (wrote.equals(found) && !(applied?.state === 'value' && applied.equals(found))) laid.set(path, wrote);
      } else if (found === undefined && wrote === undefined && isWithinAny(path, resource?.wholeSecrets ?? [])) {
        if (!isWithinAny(path, object.unknown)) laid.delete(path);
      }
    }
  const isSame = laid.size === Object.keys(secrets).length && [...laid].every(([path, secret]) => secrets[path] === secret);
  return isSame ? secrets : Object.fromEntries(laid);
}

/** The gateway under the names after the plan, and what gives ends these names. */
type EdgeContext = LayContext & {
  readonly resolve: (edges: readonly DeclaredEdge[]) => readonly DeclaredEdge[];
  readonly renames: Renames;
};

/** Returns the base with the attachments that incomplete applies made, and without those that they removed; all edges have resolved ends. */
export function layEdges(
  base: BaseState,
  { edges, attached, begun }: Remembered,
  { live, registry, resolve, renames }: EdgeContext,
): BaseState {
  if (edges.length + attached.length + begun.length === 0) return base;
  const present = new EdgeMap(liveEdges(live, registry));
  const named = (key: ResourceId): ResourceId => renames.get(key) ?? key;
  const applies = begun.map(({ keys, done, edges: declared }) => ({
    keys: new Set([...keys].map(named)),
    done: new Map([...done].map(([key, ends]) => [named(key), ends.map(named)])),
    declared: declared && new EdgeMap(resolve(declared)),
  }));
  // Whichever end writes it, that was written completely.
  const isMade = (edge: DeclaredEdge): boolean =>
    applies.some(({ keys, done, declared }) => {
      const ends = [edge.rule, edge.connection].filter((end) => keys.has(end));
      return declared?.has(edge) === true && ends.length > 0 && ends.every((end) => done.has(end));
    });
  const isLetGo = (edge: DeclaredEdge): boolean =>
    applies.some(({ keys, declared }) => (keys.has(edge.rule) || keys.has(edge.connection)) && declared?.has(edge) !== true);
  const attaching = resolve(attached.map((ends) => ({ ...ends, declarations: [] })));
  const made = new EdgeMap(attaching.filter((edge) => isMade(edge) && !isLetGo(edge)));
  // What an apply attaches it may have let go of before.
  const released = new EdgeMap(attaching.filter((edge) => !made.has(edge)));
  const isRemoved = ({ rule, connection }: EdgeEnds): boolean =>
    applies.some(({ done }) => done.get(rule)?.includes(connection) === true || done.get(connection)?.includes(rule) === true);
  // What one apply has removed, another one may have attached again.
  const isDetached = (edge: DeclaredEdge): boolean =>
    present.has(edge)
      ? isRemoved(edge) && applies.every(({ declared }) => declared?.has(edge) === false)
      : released.has(edge) || isLetGo(edge);
  const kept = base.desired.edges.filter((edge) => !isDetached(edge));
  const known = new Set(kept.map(edgeKey));
  const more = [...resolve(edges), ...attaching].filter((edge) => (present.has(edge) || made.has(edge)) && !known.has(edgeKey(edge)));
  if (more.length === 0 && kept.length === base.desired.edges.length) return base;
  return { ...base, desired: { ...base.desired, edges: [...kept, ...more] } };
}
