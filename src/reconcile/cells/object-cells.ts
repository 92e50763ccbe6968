import { onFirstUse } from '../../model/collections.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { defined, type Json, type JsonObject } from '../../model/json.ts';
import { comparedFields, type Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import { type FieldChange, isSecretChange } from '../../model/plan/plan.ts';
import { fieldAt, isWithinAny, type Pointer, pointer, tokensOf } from '../../model/pointer.ts';
import { specValueAt } from '../../model/spec/edit.ts';
import { mergedEntries, unmerge } from '../../model/spec/merge-strictest.ts';
import { knownFields } from '../../model/spec/normalize.ts';
import { causeOf, type Cell, isRotatable, originOf, type Side } from './cell.ts';
import { compareSpecs, skippedPaths } from './compare-specs.ts';
import { resolveDefaults, resolveReferences } from './resolve-specs.ts';
import { liveSecretSide, secretSide } from './secret-cells.ts';

/** One object in every state; undefined where a state does not have it, or is not known. */
export type ObjectStates = {
  readonly kind: Kind;
  readonly base: DesiredResource | undefined;
  readonly head: DesiredResource | undefined;
  readonly live: LiveResource | undefined;
  readonly written?: readonly DesiredResource[];
  /** The gateway, for the names that manifests refer to. */
  readonly state: LiveState;
};

/** The rows of an object. */
export type ObjectCells = {
  /** Returns the row of a path. */
  readonly at: (path: Pointer) => Cell;
  /** Returns the changes that would undo what was changed on the gateway since the base, where the base states it and the token may read it. */
  readonly undoing: () => readonly FieldChange[];
};

/** Returns the rows of an object. What is between two writes of its manifest did not change on the gateway. */
export function cellsOf({ kind, base, head, live, written = [], state }: ObjectStates): ObjectCells {
  const applied = onFirstUse((): JsonObject =>
    base === undefined ? {} : resolveDefaults(kind, { ...base, spec: resolveReferences(kind, base, live, state).spec }, live),
  );
  const found = onFirstUse((): JsonObject => {
    // What no manifest can state is not compared, and so did not drift.
    const spec = knownFields(kind.fields, live?.spec ?? {});
    return head === undefined ? spec : unmerge(kind.fields, head.spec, spec);
  });
  // Between the two writes of an entry the gateway has both forms, and both differences are of that apply.
  const merged = onFirstUse(() => (head === undefined ? [] : mergedEntries(kind.fields, head.spec, live?.spec ?? {})));
  const liveAt = (path: Pointer): Side => liveSide(kind, { live, spec: found() }, path);
  const baseAt = (resource: DesiredResource, path: Pointer): Side => {
    if (isWithinAny(path, merged())) return liveAt(path);
    const side = manifestSide(kind, { ...resource, spec: applied() }, path);
    if (side.is !== 'secret' || side.proof.state === 'keep') return side;
    // The value that a changing source had then is not known.
    const { source } = side;
    const proof = isChanging(side.proof) ? ({ state: 'unresolved', source } as const) : side.proof;
    return { ...side, proof, changed: live?.changedSecrets };
  };
  return {
    at: (path) => ({
      path,
      base: base && baseAt(base, path),
      head: manifestSide(kind, head, path),
      live: liveAt(path),
      written: written.map((form) => manifestSide(kind, form, path)),
    }),
    undoing: () => (base === undefined ? [] : compareSpecs(comparedFields(kind), applied(), found(), skippedPaths(base, live))),
  };
}

/** Marks each changed field with the side that changed it since the base. */
export function withOrigins(fields: readonly FieldChange[], cells: ObjectCells): readonly FieldChange[] {
  return fields.map((field): FieldChange => {
    const cell = cells.at(field.path);
    const origin = originOf(cell);
    const cause = isSecretChange(field) ? (field.cause ?? causeOf(cell)) : undefined;
    return { ...field, ...defined({ origin, cause }) };
  });
}

/** The side of a state without the object. */
const nothing: Side = { is: 'absent', at: '' };

function isChanging(proof: Extract<Side, { readonly is: 'secret' }>['proof']): boolean {
  return proof.state !== 'hidden' && isRotatable(proof);
}

/** Returns what a manifest states at a path: at the empty one, everything about the object itself. */
export function manifestSide(kind: Kind, manifest: DesiredResource | undefined, path: Pointer): Side {
  if (manifest === undefined) return nothing;
  const { spec, ignore } = manifest;
  if (path === '') return { is: 'value', value: termsOf(manifest) };
  if (isSecretPath(kind, path)) return secretSide(manifest, path);
  if (isWithinAny(path, ignore)) return { is: 'left' };
  if (spec[fieldAt(path)] === undefined) return { is: 'left' };
  return valueSide(kind, spec, path);
}

function termsOf({ key, protect, adopt, replaces = '', renamedFrom = '' }: DesiredResource): Json {
  return [key, protect, adopt, replaces, renamedFrom];
}

function liveSide(kind: Kind, { live, spec }: { readonly live: LiveResource | undefined; readonly spec: JsonObject }, path: Pointer): Side {
  if (live === undefined) return nothing;
  if (isSecretPath(kind, path)) return liveSecretSide(live, path);
  return isWithinAny(path, live.unknown) ? { is: 'unread' } : valueSide(kind, spec, path);
}

function valueSide(kind: Kind, spec: JsonObject, path: Pointer): Side {
  const value = specValueAt(kind.fields, spec, path) ?? emptyOf(kind, path);
  if (value !== undefined) return { is: 'value', value };
  const tokens = tokensOf(path);
  const containing = tokens.map((_, index) => pointer(...tokens.slice(0, index + 1)));
  return { is: 'absent', at: containing.find((one) => specValueAt(kind.fields, spec, one) === undefined) ?? path };
}

/** A field that the gateway does not report is empty; an element that it does not have is absent. */
function emptyOf({ fields }: Kind, path: Pointer): Json | undefined {
  const [name, ...rest] = tokensOf(path);
  return rest.length === 0 ? fields.find((field) => field.name === name)?.empty : undefined;
}

function isSecretPath({ fields }: Kind, path: Pointer): boolean {
  return fields.some(({ name, secret }) => name === fieldAt(path) && secret !== undefined);
}
