import { type DesiredResource, haveSameSecrets } from '../../model/desired.ts';
import { memoizeByKey } from '../../model/collections.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { compareText, equal, type Json, type JsonObject } from '../../model/json.ts';
import { closableFields, comparedFields, type FieldRule, isClosed, type Kind } from '../../model/kind.ts';
import { isMissingRow, type LiveResource, type LiveState, rowFieldsOf } from '../../model/live.ts';
import {
  type Change,
  type FieldChange,
  type FieldPositions,
  isSecretChange,
  shownValue,
  type UncomparedSecret,
  type UnwrittenSecret,
  type Value,
} from '../../model/plan/plan.ts';
import { isPointerWithin, overlaps, pointer, type Pointer, tokensOf } from '../../model/pointer.ts';
import { nameOf } from '../../model/resource.ts';
import type { TimedGrant } from '../../model/protection/timed-grants.ts';
import { compareSecrets } from '../cells/secret-cells.ts';
import { explainMissingSecrets } from '../cells/missing-secrets.ts';
import { compareSpecs, entryOf, skippedPaths } from '../cells/compare-specs.ts';
import { resolveDefaults, resolveReferences } from '../cells/resolve-specs.ts';
import { cellsOf, withOrigins } from '../cells/object-cells.ts';

/** The fields of a kind by use, computed once for many resources. */
export type KindFields = {
  readonly kind: Kind;
  readonly compared: readonly FieldRule[];
  /** Returns the compared fields beside unread ones; undefined if one of them is unread in part, or could follow from others. */
  readonly comparedBeside: (unread: LiveResource['unknown']) => readonly FieldRule[] | undefined;
  /** The compared fields whose empty value may mean another value. */
  readonly filledIn: readonly FieldRule[];
  /** Fields that protect, that a manifest may omit, and whose changes are not reported as those of objects without a manifest. */
  readonly silent: readonly FieldRule[];
};

/** Returns the fields of a kind by use. */
export function kindFields(kind: Kind, state: Pick<LiveState, 'rowFields'> = {}): KindFields {
  const rows = new Set(rowFieldsOf(state, kind.name).map(({ name }) => name));
  const compared = comparedFields(kind);
  return {
    kind,
    compared,
    // Thousands of objects of which only the list was read have the same unread fields.
    comparedBeside: memoizeByKey((unread) => fieldsBeside(compared, unread), { keyOf: (unread) => JSON.stringify(unread), longest: 1000 }),
    filledIn: compared.filter((field) => field.omitted !== 'empty'),
    silent: kind.fields.filter((field) => field.omitted === 'kept' && field.protects !== undefined && !rows.has(field.name)),
  };
}

/**
 * Returns true if a cheap comparison proves that a resource is in sync, as most are. Returns false when the full comparison is
 * needed, which may find no difference.
 */
export function isUnchanged(
  { comparedBeside, filledIn }: KindFields,
  desired: DesiredResource,
  live: LiveResource,
  base?: DesiredResource,
): boolean {
  const compared = comparedBeside(live.unknown);
  if (desired.ignore.length > 0 || compared === undefined) return false;
  if (live.unknown.length > 0 && (desired.wholeSecrets.length > 0 || Object.keys(desired.secrets).length > 0)) return false;
  if (base !== undefined && !haveSameSecrets(desired, base)) return false;
  for (const { name, empty } of compared) {
    const wanted = desired.spec[name];
    if (wanted !== undefined && !equal(wanted, live.spec[name] ?? empty)) return false;
  }
  if (filledIn.some(({ name, empty }) => desired.stated.has(name) && equal(desired.spec[name], empty))) return false;
  return sameSecrets(desired, live);
}

function fieldsBeside(compared: KindFields['compared'], unread: LiveResource['unknown']): KindFields['compared'] | undefined {
  const fields = compared.filter(({ name, omitted }) => omitted === 'derived' || !unread.includes(pointer(name)));
  const isPartly = unread.some((path) => path === '' || fields.some(({ name }) => isPointerWithin(path, pointer(name))));
  return isPartly ? undefined : fields;
}

function sameSecrets(desired: DesiredResource, live: LiveResource): boolean {
  for (const path in desired.secrets) {
    const wanted = desired.secrets[path];
    const found = live.secrets[path];
    if (wanted?.state === 'keep' && found !== undefined) continue;
    if (wanted?.state !== 'value' || found?.state !== 'value' || !wanted.equals(found)) return false;
  }
  for (const path in live.secrets) if (desired.secrets[path] === undefined && desired.wholeSecrets.length > 0) return false;
  return true;
}

/** The change of one resource before edges and order are known; `fields` may be empty. */
export type ChangeDraft = Omit<Change, 'needs' | 'action'> & {
  readonly action: 'create' | 'update' | 'rename' | 'delete';
};

export type DraftedChange = {
  readonly draft: ChangeDraft;
  readonly notCompared?: readonly UncomparedSecret[];
  readonly unwrittenSecrets?: readonly UnwrittenSecret[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * How far Ostiary manages the live object of a resource. `import`: not yet, because the last apply does not know it; `agreed-import`: not yet, and it is
 * imported whatever differs; `new`: an apply that did not complete created it, or it is a successor that is not opened; `opened`: it is a
 * successor that is as open as its manifest says; `known`: any other object.
 */
export type ObjectPhase = 'import' | 'agreed-import' | 'new' | 'opened' | 'known';

/** The live object of a resource, and its last applied form. */
export type ChangeContext = {
  readonly live: LiveResource | undefined;
  readonly state: LiveState;
  readonly past?: DesiredResource | undefined;
  /** The manifests that incomplete applies may have written. */
  readonly written?: readonly DesiredResource[];
  /** The paths of drift that stays as it is. */
  readonly held?: ReadonlySet<Pointer>;
  readonly phase: ObjectPhase;
  /** Nothing will be applied: a missing kept secret is a difference, not an error. */
  readonly previewOnly?: boolean;
};

const nothingHeld: ReadonlySet<Pointer> = new Set();

/** Compares one desired resource with the live one, and with its last applied form if that is known. */
export function draftChange(
  kind: Kind,
  desired: DesiredResource,
  { live, state, past, written = [], held = nothingHeld, phase, previewOnly = false }: ChangeContext,
): DraftedChange {
  const { spec, diagnostics } = resolveReferences(kind, desired, live, state);
  const resolved = { ...desired, spec };
  const settled = { ...resolved, spec: resolveDefaults(kind, resolved, live) };
  // The base has no manifest of an imported object, so every secret in it is new.
  const base = past ?? (phase === 'agreed-import' ? { ...desired, secrets: {}, wholeSecrets: [] } : undefined);
  const compared = compareSecrets(desired, live, base, written);
  const missing = explainMissingSecrets(desired, compared.missing, { isLive: live !== undefined, applied: past });
  const secrets = previewOnly && live !== undefined ? { ...compared, fields: [...compared.fields, ...compared.missing] } : compared;
  const addOrigins = (fields: readonly FieldChange[]): readonly FieldChange[] =>
    past === undefined
      ? fields
      : withHeld(withOrigins(fields, cellsOf({ kind, base: past, head: settled, live, written, state })), held, {
          kind,
          desired: settled,
          live,
        });
  const draft =
    live === undefined
      ? draftCreate(kind, settled, addOrigins(createFields(kind, settled, secrets.fields)), phase)
      : draftUpdate(kind, settled, live, { ...secrets, addOrigins, base: past, phase, state });
  return {
    draft: desired.grants === undefined ? draft : { ...draft, fields: withEnds(draft.fields, desired.grants) },
    notCompared: [
      ...[...compared.notCompared].map(([path, reason]) => ({ id: desired.id, path, reason })),
      ...(previewOnly ? [] : compared.missing.map(({ path }) => ({ id: desired.id, path, reason: 'missing' as const }))),
    ],
    unwrittenSecrets: compared.unwritten.map(({ path, before, after }) => ({ id: desired.id, path, before, after })),
    diagnostics: [...diagnostics, ...(previewOnly ? missing.map(asWarning) : missing)],
  };
}

type HeldSides = { readonly kind: Kind; readonly desired: DesiredResource; readonly live: LiveResource | undefined };

/** Marks the changes at the given paths as held; values that follow from other fields follow from the held ones. */
function withHeld(fields: readonly FieldChange[], held: ReadonlySet<Pointer>, { kind, desired, live }: HeldSides): readonly FieldChange[] {
  if (held.size === 0 || live === undefined) return fields;
  const marked = fields.map((field): FieldChange => (held.has(field.path) ? { ...field, held: true } : field));
  return updateDerived(kind, marked, desired, live.spec);
}

/** Derives fields again from the fields after the write: held fields keep their live value. */
function updateDerived(kind: Kind, fields: readonly FieldChange[], desired: DesiredResource, live: JsonObject): readonly FieldChange[] {
  const written = fields.filter(({ held }) => held !== true);
  if (written.length === fields.length) return fields;
  const edits = written.filter((field) => !isSecretChange(field)).map(({ path, after }) => ({ path, value: shownValue(after) }));
  const derived = kind.derived(editSpec(kind.fields, live, edits), desired);
  return fields.flatMap((field) => {
    const rule = kind.fields.find(({ name }) => pointer(name) === field.path);
    const value = rule?.omitted === 'derived' && !desired.stated.has(rule.name) ? derived[rule.name] : undefined;
    if (rule === undefined || value === undefined || field.held === true || equal(value, shownValue(field.after))) return [field];
    return equal(value, live[rule.name] ?? rule.empty) ? [] : [{ ...field, after: { value } }];
  });
}

/** Adds to each field the ends of its groups. */
function withEnds(fields: readonly FieldChange[], grants: readonly TimedGrant[]): readonly FieldChange[] {
  return fields.map((field) => {
    const ends = grants.flatMap(({ path, ...end }) =>
      isPointerWithin(path, field.path) && (end.ended !== true || path === field.path) ? [end] : [],
    );
    return ends.length === 0 ? field : { ...field, ends };
  });
}

function asWarning(one: Diagnostic): Diagnostic {
  return { ...one, severity: 'warning' };
}

/** Returns the fields of an object that is created: those that have a value, and its secrets. */
export function createFields(kind: Kind, desired: DesiredResource, secrets: readonly FieldChange[]): readonly FieldChange[] {
  const plain = comparedFields(kind).flatMap((field): readonly FieldChange[] => {
    const value = desired.spec[field.name];
    const isSet = value !== undefined && (field.required || !equal(value, field.empty));
    return isSet ? [{ path: pointer(field.name), before: { absent: true }, after: { value } }] : [];
  });
  return [...plain, ...secrets];
}

function draftCreate(kind: Kind, desired: DesiredResource, fields: readonly FieldChange[], phase: ObjectPhase): ChangeDraft {
  return {
    ...identity(desired),
    action: 'create',
    ...importing(phase),
    fields,
    positions: positionsOf(fields, desired),
    carried: desired.holds ?? [],
    touched: lazySides(
      () => ({}),
      () => touchedSide(kind, {}, fields, 'after'),
    ),
  };
}

type Comparison = Pick<ReturnType<typeof compareSecrets>, 'fields' | 'kept' | 'notCompared'> & {
  readonly addOrigins: (fields: readonly FieldChange[]) => readonly FieldChange[];
  readonly base: DesiredResource | undefined;
  readonly phase: ObjectPhase;
  readonly state: LiveState;
};

function draftUpdate(kind: Kind, desired: DesiredResource, live: LiveResource, secrets: Comparison): ChangeDraft {
  const differing = [...compareSpecs(comparedFields(kind), desired.spec, live.spec, skippedPaths(desired, live)), ...secrets.fields];
  const { phase, base, state } = secrets;
  const isNew = phase === 'known' ? live.untouched === true : phase !== 'opened';
  const unfinished = isNew && isUnfinished(kind, differing, { live, base: phase === 'known' ? base : undefined, state });
  const fields = unfinished ? differing : secrets.addOrigins(differing);
  const draft = {
    ...identity(desired),
    action: 'update',
    uid: live.uid,
    ...(live.managedBy === undefined ? {} : { managedBy: live.managedBy }),
    ...importing(phase),
  } as const;
  if (fields.length === 0) return { ...draft, fields, carried: [] };
  const written = fields.filter((field) => field.held !== true);
  const changed = new Set(written.map(({ path }) => path));
  const unsure = [...changed, ...secrets.notCompared.keys()];
  const held = fields.flatMap(({ path, held: isHeld }) => (isHeld === true ? [path] : []));
  return {
    ...draft,
    ...(unfinished ? { unfinished } : {}),
    fields,
    positions: positionsOf(fields, desired),
    carried: carriedPaths(kind, desired, live, [...secrets.kept, ...held, ...(desired.holds ?? [])]).filter(
      (path) => !changed.has(path) && !(live.unknown.includes(path) && unsure.some((other) => overlaps(path, other))),
    ),
    touched: lazySides(
      () => touchedSide(kind, live.spec, written, 'before'),
      () => touchedSide(kind, live.spec, written, 'after'),
    ),
  };
}

function importing(phase: ObjectPhase): Pick<ChangeDraft, 'adoption'> {
  return phase === 'import' || phase === 'agreed-import' ? { adoption: true } : {};
}

/**
 * Returns whether the creation of an object was interrupted: everything that can be closed is closed, and only its row and opening it remain.
 * The caller checks that the object is new; a successor may also be closed because its predecessor was.
 */
function isUnfinished(
  kind: Kind,
  fields: readonly FieldChange[],
  { live, base, state }: { readonly live: LiveResource; readonly base: DesiredResource | undefined; readonly state: LiveState },
): boolean {
  if (!isClosed(kind, live)) return false;
  const closable = closableFields(kind);
  const openings = new Set(closable.map(({ path }) => path));
  // A connection that the base declares closed is opened by the manifests, not by an apply that was interrupted.
  const wasOpen = base === undefined || closable.some(({ name, value }) => base.spec[name] !== undefined && base.spec[name] !== value);
  return wasOpen && fields.every(({ path }) => openings.has(path) || isMissingRow(path, live, state));
}

function identity(desired: DesiredResource): Pick<ChangeDraft, 'id' | 'key' | 'at'> {
  return { id: desired.id, ...(desired.key === desired.id ? {} : { key: desired.key }), at: desired.locate('') };
}

/** Returns the live values that a write keeps although the manifest does not set them: ignored, unknown, and kept ones that are no defaults. */
function carriedPaths(kind: Kind, desired: DesiredResource, live: LiveResource, others: readonly Pointer[]): readonly Pointer[] {
  const defaults = kind.createDefaults(nameOf(desired.id));
  const kept = comparedFields(kind).flatMap((field) => {
    const value = live.spec[field.name];
    const own = equal(value, field.empty) || equal(value, defaults[field.name]);
    const carries = desired.spec[field.name] === undefined && value !== undefined && !own;
    return carries ? [pointer(field.name)] : [];
  });
  const all = [...kept, ...skippedPaths(desired, live), ...others];
  return [...new Set(all)].filter((path) => !all.some((other) => other !== path && isPointerWithin(path, other))).toSorted(compareText);
}

/** Returns the positions of fields as data that is made on request: only reports show them. */
export function positionsOf(fields: readonly FieldChange[], { locate }: DesiredResource): FieldPositions {
  let known: FieldPositions['byPath'] | undefined;
  return {
    get byPath() {
      return (known ??= Object.fromEntries(fields.map(({ path }) => [path, locate(path)])));
    },
  };
}

/** Returns both sides as data that is made on request: only documents need it. */
function lazySides(before: () => JsonObject, after: () => JsonObject): NonNullable<Change['touched']> {
  return {
    get before() {
      return before();
    },
    get after() {
      return after();
    },
  };
}

/** Returns the touched top-level fields of one side as a document, with the sources of secrets. */
function touchedSide(kind: Kind, base: JsonObject, fields: readonly FieldChange[], side: 'before' | 'after'): JsonObject {
  const edits = fields.map((field) => ({ path: field.path, value: shown(field[side]) }));
  const spec = editSpec(kind.fields, base, edits);
  const tops = new Set(fields.flatMap((field) => tokensOf(field.path).slice(0, 1)));
  return Object.fromEntries([...tops].flatMap((top) => entryOf(spec, top)));
}

function shown(value: Value): Json | undefined {
  if ('secret' in value) return `(secret ${value.secret})`;
  return 'value' in value ? value.value : undefined;
}
