import { equal, distinctSorted } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import type { WriteRequest } from '../model/gateway.ts';
import { liveKeyOf, otherEnd } from '../model/plan/plan.ts';
import type { Step } from '../model/plan/schedule.ts';
import { specAfterStep, writesOnlyPart } from '../model/plan/step-spec.ts';
import { isPointerWithin, tokensOf, type Pointer } from '../model/pointer.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { Secret } from '../model/secret.ts';
import { changedTools } from '../model/spec/tool-lists.ts';

/** Finds the value of a secret that a plan names by its source. */
export type SecretLookup = (id: ResourceId, path: Pointer) => Secret | undefined;

/** Returns the complete resource that the step writes, based on a fresh read; without one it is created. */
export function requestOf(step: Step, secretOf: SecretLookup, fresh?: LiveResource): WriteRequest {
  const { change, kind, part } = step;
  const fields = writesOnlyPart(part) ? [] : change.fields.filter((field) => field.held !== true);
  const given = fields.filter((field) => 'secret' in field.after);
  const spec = specAfterStep(step, fresh?.spec ?? {});
  const lists = changedTools(fresh?.spec ?? {}, spec);
  const dropped = fields.filter((field) => 'secret' in field.before && 'absent' in field.after).map(({ path }) => path);
  return {
    id: liveKeyOf(change),
    spec,
    secrets: { ...Object.fromEntries(given.map(({ path }) => [path, requireSecret(change.id, path, secretOf)])), ...lists.given },
    dropped: [...new Set([...dropped, ...lists.dropped])],
    edges: Object.fromEntries(
      kind.fields.flatMap((field) => {
        if (field.edge === undefined) return [];
        const ends = edgesOf(step, (id) => kindOf(id) === field.refers, fresh?.edges[field.name] ?? []);
        return [[field.name, ends] as const];
      }),
    ),
  };
}

function requireSecret(id: ResourceId, path: Pointer, secretOf: SecretLookup): Secret {
  const secret = secretOf(id, path);
  if (secret === undefined) throw new Error(`${id} has no value for ${path}`);
  return secret;
}

/** Returns all edges of one field after the step: the fresh ones and those that the plan attaches, without those that it detaches. */
function edgesOf({ change, edges, part }: Step, belongs: (id: ResourceId) => boolean, fresh: readonly ResourceId[]): readonly ResourceId[] {
  const mine = writesOnlyPart(part) ? [] : edges;
  const ends = (action: 'attach' | 'detach'): readonly ResourceId[] =>
    mine.filter((edge) => edge.action === action).map((edge) => otherEnd(edge, liveKeyOf(change)));
  const detached = new Set(part === 'gain' ? [] : ends('detach'));
  return distinctSorted([...fresh.filter((id) => !detached.has(id)), ...ends('attach').filter(belongs)]);
}

/** Returns whether the fresh object already matches the request; hidden secrets never match. */
export function isInSync(request: WriteRequest, kind: Kind, fresh: LiveResource): boolean {
  if (request.id !== fresh.id) return false;
  const edges = Object.entries(request.edges).every(([field, ends]) => sameIds(ends, fresh.edges[field] ?? []));
  const isReadable = Object.keys(request.secrets).every((path) => fresh.secrets[path]?.state === 'value');
  return edges && isReadable && differingPaths(request, kind, fresh).length === 0;
}

function sameIds(left: readonly ResourceId[], right: readonly ResourceId[]): boolean {
  const ids = new Set(right);
  return left.length === ids.size && left.every((id) => ids.has(id));
}

/** Returns the paths where a resource differs from the request, as far as the token may read them; edges are not compared. */
export function differingPaths(request: WriteRequest, { fields }: Pick<Kind, 'fields'>, found: LiveResource): readonly Pointer[] {
  const changed = fields.filter((field) => {
    const wanted = request.spec[field.name];
    return wanted !== undefined && !found.unknown.includes(`/${field.name}`) && !equal(wanted, found.spec[field.name] ?? field.empty);
  });
  const secrets = Object.entries(request.secrets).filter(([path, secret]) => {
    const live = found.secrets[path];
    return live === undefined ? !isUnknown(path, found) : live.state === 'value' && live.reveal() !== secret.reveal();
  });
  const kept = request.dropped.filter((path) => found.secrets[path] !== undefined);
  return [...changed.map((field) => `/${field.name}`), ...secrets.map(([path]) => path), ...kept];
}

/** Returns the paths of values that an object has, but the request that would create it does not have. */
export function findExtras(request: WriteRequest, { fields }: Kind, found: LiveResource): readonly Pointer[] {
  const more = fields.filter((field) => {
    const value = found.spec[field.name];
    const isOmitted = request.spec[field.name] === undefined && field.omitted === 'empty';
    return isOmitted && value !== undefined && !equal(value, field.empty);
  });
  const secrets = Object.keys(found.secrets).filter((path) => !Object.hasOwn(request.secrets, path));
  return [...more.map((field) => `/${field.name}`), ...secrets];
}

function isUnknown(path: Pointer, found: LiveResource): boolean {
  return found.unknown.some((prefix) => isPointerWithin(path, prefix));
}

/** A step that wrote, to be compared with a later read; `request` is missing after a deletion. */
export type WrittenStep = { readonly step: Step; readonly id: ResourceId; readonly request?: WriteRequest };

/** Returns the fields and edges that the gateway does not show as written; edges that others attached meanwhile do not count. */
export function findUnkept({ step, request }: WrittenStep, found: LiveResource | undefined): readonly string[] {
  if (request === undefined) return found === undefined ? [] : ['it still exists'];
  if (found === undefined) return ['the whole object'];
  const { change, kind } = step;
  const touched = new Set(change.fields.filter((field) => field.held !== true).map((field) => tokensOf(field.path)[0]));
  const fields = kind.fields.filter((field) => touched.has(field.name) || change.action === 'create');
  return [...differingPaths(request, { fields }, found), ...unkeptEdges(step, found)];
}

function unkeptEdges({ change, kind, edges, part }: Step, found: LiveResource): readonly string[] {
  if (writesOnlyPart(part)) return [];
  const key = liveKeyOf(change);
  const shown = new Set(kind.fields.flatMap((field) => found.edges[field.name] ?? []));
  return edges.flatMap((edge) => {
    const other = otherEnd(edge, key);
    const wrong = edge.action === 'attach' ? !shown.has(other) : part !== 'gain' && shown.has(other);
    return wrong ? [`the attachment to ${other}`] : [];
  });
}
