import { formatPosition } from '../../model/diagnostic.ts';
import { type BaseState, desiredById, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { compareText, equal, type Json } from '../../model/json.ts';
import type { FieldRule, Kind, Registry } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import {
  acceptedCause,
  type AcceptedDrift,
  type Change,
  type EdgeChange,
  type FieldChange,
  fieldPosition,
  highestRisk,
  otherEnd,
  type Plan,
  renamesOf,
  type UncomparedReason,
  type Value,
  withNames,
} from '../../model/plan/plan.ts';
import { reasonsIn } from '../../model/plan/reasons.ts';
import { notComparedText } from '../../model/plan/not-compared.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { isPointerWithin, pointer, type Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf, nameOf } from '../../model/resource.ts';
import type { ExplainedOrigin, ExplainedPart, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import { endText } from '../../model/protection/timed-grants.ts';
import type { Cell, Side } from '../cells/cell.ts';
import { edgeCell, type EdgeIndex, indexEdges } from '../cells/edge-cells.ts';
import { cellsOf, type ObjectCells } from '../cells/object-cells.ts';
import { declaringPlaces } from '../diff/diff-edges.ts';
import { lastAppliedLookup } from '../prepare/base-states.ts';
import { secretReason } from './secret-reason.ts';

type ExplainInput = {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The last applied manifests; undefined if they are not known. */
  readonly base: BaseState | undefined;
  readonly plan: Plan;
  readonly registry: Registry;
  readonly field?: string | undefined;
};

/** The resource as it is desired, live and last applied; undefined where it does not exist. */
type ExplainedSubject = ExplainInput & {
  /** The live key. */
  readonly key: ResourceId;
  readonly resource: DesiredResource | undefined;
  readonly found: LiveResource | undefined;
  readonly past: DesiredResource | undefined;
  readonly change: Change | undefined;
  readonly accepted: AcceptedDrift | undefined;
  readonly cells: ObjectCells;
};

/** Finds the resource in manifests, live state and base, by the name that it has there. */
function subjectOf(input: ExplainInput): ExplainedSubject {
  const { id, desired, base, plan } = input;
  const resource = desired.resources.find((one) => one.id === id);
  const key = resource?.key ?? id;
  const live = withNames(input.live, renamesOf(plan.changes));
  const found = live.resources.find((one) => one.id === key);
  const past =
    resource === undefined
      ? base?.desired.resources.find((one) => one.id === id || one.key === id)
      : lastAppliedLookup(base)(resource, found !== undefined);
  const change = plan.changes.find((one) => one.id === id);
  const accepted = plan.accepted.find((one) => one.id === id);
  const cells = cellsOf({ kind: input.kind, base: past, head: resource, live: found, state: live });
  return { ...input, live, key, resource, found, past, change, accepted, cells };
}

/** Returns the differing parts of a field with their origins; empty without a difference. */
function partsOf(change: Change | undefined, path: Pointer): readonly ExplainedPart[] {
  if (change === undefined) return [];
  return change.fields
    .filter((field) => isPointerWithin(field.path, path))
    .map((field): ExplainedPart => {
      const { path: place, before, after } = field;
      const at = fieldPosition(change, field);
      const origin = explainedOrigin(change, field);
      const expiry = expiryOf(field);
      const known = origin === undefined ? '' : originText(origin, change.id);
      const why = expiry === undefined ? known : `the access expired on ${expiry.until}; drift --expire removes it`;
      return { path: place, before, after, ...(origin === undefined ? {} : { origin }), ...(at === undefined ? {} : { at }), why };
    });
}

/** Returns the origin of a difference; undefined without a base. */
function explainedOrigin(
  { adoption, own }: Pick<Change, 'adoption' | 'own'>,
  field: Pick<FieldChange, 'origin' | 'own' | 'held'>,
): ExplainedOrigin | undefined {
  if (field.held === true) return 'held';
  if (adoption === true) return 'adoption';
  return field.origin === 'intent' && (field.own ?? own) === false ? 'pending' : field.origin;
}

function originText(origin: ExplainedOrigin, id: ResourceId): string {
  switch (origin) {
    case 'intent':
      return 'intent: the manifests changed it since the last apply';
    case 'pending':
      return 'pending: an earlier merge changed it; not applied yet';
    case 'drift':
      return 'drift: changed outside Ostiary since the last apply; apply reverts it';
    case 'both':
      return 'conflict: the manifests and the gateway changed it since the last apply; apply uses the manifest';
    case 'adoption':
      return 'import: it existed before the first apply';
    case 'held':
      return `held: changed outside Ostiary; apply keeps it; --revert ${id} reverts it`;
  }
}

const originWords: Readonly<Record<ExplainedOrigin, string>> = {
  intent: 'changed in the manifests',
  pending: 'pending',
  drift: 'drift',
  both: 'conflict',
  adoption: 'import',
  held: 'held',
};

/** Counts origins, as in `1 changed in the manifests, 2 drift, 1 held`. */
function countedOrigins(origins: readonly ExplainedOrigin[]): string {
  const counts = new Map<ExplainedOrigin, number>();
  for (const origin of origins) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return [...counts].map(([origin, count]) => `${count} ${originWords[origin]}`).join(', ');
}

/** Returns the applied, desired and live value of each field, and why it is a change or not; undefined for an unknown object. */
export function explain(input: ExplainInput): Explanation | undefined {
  const subject = subjectOf(input);
  const { id, base, kind, resource, found, past, accepted } = subject;
  if (resource === undefined && found === undefined && accepted === undefined) return undefined;
  const fields = kind.fields.filter((field) => field.manifestOnly !== true && (input.field === undefined || field.name === input.field));
  const rows = fields.flatMap((field) => {
    if (field.edge !== undefined) return edgeRows(field, subject);
    return field.secret === undefined ? [fieldRow(field, subject)] : secretRows(field, subject);
  });
  const at = (resource ?? past)?.locate('');
  return {
    id,
    ...(at === undefined ? {} : { at }),
    ...(base === undefined ? {} : { base: base.commit }),
    summary: [summaryOf(subject), ...acceptedTexts(subject), ...refusalsOf(subject)].join('; '),
    rows,
  };
}

/** Returns the rows whose desired, live or last applied values differ, and those that Ostiary cannot compare. */
export function differingRows(rows: readonly ExplanationRow[]): readonly ExplanationRow[] {
  return rows.filter(({ status, live, base }) => {
    if (!inSync.has(status)) return true;
    return live !== undefined && base !== undefined && 'value' in live && 'value' in base && !equal(live.value, base.value);
  });
}

const inSync: ReadonlySet<ExplanationRow['status']> = new Set(['same', 'derived', 'kept', 'ignored', 'secret']);

function refusalsOf({ id, plan }: ExplainedSubject): readonly string[] {
  return plan.refusals.filter(({ resource }) => resource === id).map(({ code, message }) => `refused, ${code}: ${message}`);
}

/** Returns what the manifests accept, with its highest risk and who did it. */
function acceptedTexts({ accepted }: ExplainedSubject): readonly string[] {
  if (accepted === undefined) return [];
  const risk = highestRisk(accepted.risks);
  const what = `the manifests accept drift: ${acceptedCause(accepted)}`;
  return [risk === undefined ? what : `${what}; ${risk}`];
}

function summaryOf(subject: ExplainedSubject): string {
  const { resource, found, past, change, accepted, plan, id } = subject;
  const orphan = plan.orphans.find((one) => one.id === id);
  if (orphan !== undefined && resource === undefined) return orphanWhy(orphan, change);
  if (resource === undefined && found === undefined) return 'it is not live, and no manifest declares it';
  if (resource === undefined) return undeclaredWhy(subject);
  if (found === undefined && past === undefined) return 'it is not live: apply creates it';
  if (found === undefined) {
    const isLost = Object.values(resource.secrets).some(({ state }) => state === 'keep');
    return `it was deleted outside Ostiary: ${isLost ? 'apply cannot create it again without the secrets that the manifest keeps' : 'apply creates it again'}`;
  }
  const uncompared = notComparedText(plan.notCompared.filter((one) => one.id === id));
  if (change === undefined && uncompared !== '') return `no change seen: ${uncompared}`;
  if (change === undefined && accepted !== undefined) return 'nothing to write: the gateway matches the manifest';
  if (change === undefined) return 'no change: the gateway matches the manifest';
  if (change.action === 'blocked') return `blocked: it is managed by ${change.managedBy ?? 'another manager'}, so Ostiary never writes it`;
  if (change.action === 'held') return 'held: changed outside Ostiary; apply keeps it; --revert reverts it';
  if (change.unfinished === true) return 'unfinished: an interrupted apply created it closed; apply opens it';
  return `apply ${change.action}s it: ${originsText(change, plan)}`;
}

function undeclaredWhy({ plan, id, found, change }: ExplainedSubject): string {
  if (change?.replacedBy !== undefined) return 'another object replaces it, so apply closes it';
  if (!plan.unmanaged.includes(id)) return 'its manifest is not selected, so this run does not change it';
  const whose = found?.managedBy === undefined ? 'unmanaged' : `managed by ${found.managedBy}`;
  return `${whose}: it exists on the gateway, and no manifest declares it; Ostiary does not change it`;
}

/** Counts the origins of all differences; without origins it lists the reasons of the change. */
function originsText(change: Change, { edges }: Plan): string {
  const written = edges.filter(({ by }) => by === change.id || by === change.key);
  const origins = [...change.fields, ...written].flatMap((one) => explainedOrigin(change, one) ?? []);
  return origins.length === 0 ? reasonsIn({ edges })(change).join(', ') : countedOrigins(origins);
}

function orphanWhy({ removedIn, subject, kept }: Plan['orphans'][number], change: Change | undefined): string {
  const since = removedIn === undefined ? '' : `, removed in ${removedIn.slice(0, 7)}`;
  const named = subject === undefined || subject === '' ? '' : ` "${subject}"`;
  const fate = change === undefined ? (kept ?? '--prune would delete it') : `apply ${change.action}s it`;
  return `orphan: removed from the manifests, still live${since}${named}; ${fate}`;
}

function fieldRow(field: FieldRule, subject: ExplainedSubject): ExplanationRow {
  const { resource } = subject;
  const path = pointer(field.name);
  const cell = subject.cells.at(path);
  const row = {
    path,
    ...sidesOf(cell),
    ...(resource?.stated.has(field.name) === true ? { at: resource.locate(path) } : {}),
  };
  if (resource === undefined) return { ...row, status: 'kept', why: 'no manifest declares the object' };
  if (cell.live.is === 'unread') return { ...row, status: 'not compared', why: 'this token may not read it' };
  if (resource.ignore.some((one) => isPointerWithin(path, one)))
    return { ...row, status: 'ignored', why: 'metadata.ignore excludes it: not compared, kept by every write' };
  const wanted = resource.spec[field.name];
  if (wanted === undefined) return { ...row, status: 'kept', why: 'omitted: apply keeps the live value' };
  const partly = resource.ignore.some((one) => isPointerWithin(one, path)) ? '; metadata.ignore excludes parts of it' : '';
  const stated = `${statedText(field, resource)}${partly}`;
  const parts = partsOf(subject.change, path);
  if (parts.length > 0) return { ...row, ...differenceOf(parts, { path, stated }) };
  const why = isAccepted(subject, path) ? `${stated}; ${acceptedWhy}` : stated;
  return { ...row, status: isDerived(field, resource, wanted) ? 'derived' : 'same', why };
}

const acceptedWhy = 'drift accepted in the manifests: the gateway had this value before';

function isAccepted({ accepted }: ExplainedSubject, path: Pointer): boolean {
  return accepted?.fields.some((field) => isPointerWithin(field.path, path)) === true;
}

/** Returns what the states have in a row, never the value of a secret; nothing where one has nothing. */
function sidesOf({ base, head, live }: Cell): Pick<ExplanationRow, 'desired' | 'live' | 'base'> {
  const [desired, found, applied] = [head, live, base].map(shownSide);
  return {
    ...(desired === undefined ? {} : { desired }),
    ...(found === undefined ? {} : { live: found }),
    ...(applied === undefined ? {} : { base: applied }),
  };
}

function shownSide(side: Side | undefined): Value | undefined {
  if (side?.is === 'value') return { value: side.value };
  if (side?.is !== 'secret') return undefined;
  const { source, proof } = side;
  if (source === 'live') return { secret: source, state: proof.state === 'hidden' ? 'unknown' : 'kept' };
  return { secret: source, state: proof.state === 'keep' ? 'kept' : 'set' };
}

type Difference = Pick<ExplanationRow, 'status' | 'why' | 'origin' | 'parts'>;

/** Describes a difference in one row if the whole field differs, otherwise with its parts. */
function differenceOf(parts: readonly ExplainedPart[], { path, stated }: { readonly path: Pointer; readonly stated: string }): Difference {
  const status = parts.every(({ origin }) => origin === 'held') ? 'held' : 'differs';
  const [only] = parts;
  if (parts.length > 1 || only?.path !== path) return { status, why: stated, parts };
  return {
    status,
    why: [stated, only.why].filter((text) => text !== '').join('; '),
    ...(only.origin === undefined ? {} : { origin: only.origin }),
  };
}

function isDerived(field: FieldRule, desired: DesiredResource, value: Json): boolean {
  return field.omitted === 'derived' && !desired.stated.has(field.name) && !equal(value, field.empty);
}

function statedText(field: FieldRule, desired: DesiredResource): string {
  const ends = (desired.grants ?? []).filter(({ path, ended }) => ended !== true && isPointerWithin(path, pointer(field.name)));
  if (desired.stated.has(field.name)) return ['declared in the manifest', ...ends.map((end) => `${end.group}${endText(end)}`)].join('; ');
  if (field.omitted === 'derived') return 'omitted: derived from other fields';
  return 'omitted: the desired value is empty, because manifests are complete';
}

function secretRows(field: FieldRule, subject: ExplainedSubject): readonly ExplanationRow[] {
  const { id, plan, resource, found, past } = subject;
  const prefix = pointer(field.name);
  const reasons = new Map(plan.notCompared.flatMap((one) => (one.id === id ? [[one.path, one.reason] as const] : [])));
  const accepted = subject.accepted?.fields.map(({ path }) => path) ?? [];
  const unwritten = new Set([...accepted, ...plan.unwrittenSecrets.flatMap((one) => (one.id === id ? [one.path] : []))]);
  const parts = subject.change?.fields.map(({ path }) => path) ?? [];
  const all = [...[resource, found, past].flatMap((one) => Object.keys(one?.secrets ?? {})), ...reasons.keys(), ...parts];
  const paths = all.filter((path) => isPointerWithin(path, prefix));
  return [...new Set(paths)].toSorted(compareText).map((path): ExplanationRow => {
    const cell = subject.cells.at(path);
    const [part] = partsOf(subject.change, path);
    const reason = reasons.get(path);
    const why = secretReason(path, {
      desired: resource,
      found: found?.secrets[path]?.state,
      change: subject.change?.fields.find((one) => one.path === path),
      reason,
      isUnwritten: unwritten.has(path),
    });
    return {
      path,
      ...sidesOf(cell),
      ...(resource?.secrets[path] === undefined ? {} : { at: resource.locate(path) }),
      status: part === undefined ? unplannedStatus(reason, unwritten.has(path)) : part.origin === 'held' ? 'held' : 'differs',
      ...(part?.origin === undefined ? {} : { origin: part.origin }),
      why: part === undefined || part.why === '' ? why : `${why}; ${part.why}`,
    };
  });
}

function unplannedStatus(reason: UncomparedReason | undefined, isUnwritten: boolean): ExplanationRow['status'] {
  if (reason !== undefined) return 'not compared';
  return isUnwritten ? 'not written' : 'secret';
}

/** Returns a row for each live or declared edge of a field, with the reason. */
function edgeRows(field: FieldRule, subject: ExplainedSubject): readonly ExplanationRow[] {
  const { key, plan, resource, found } = subject;
  const self = resource?.key ?? key;
  const facts = collectEdgeFacts(subject);
  const mine = plan.edges.filter(
    (edge) => (field.edge === 'rule' ? edge.rule : edge.connection) === self && kindOf(otherEnd(edge, self)) === field.refers,
  );
  const planned = new Map(mine.map((edge) => [otherEnd(edge, self), edge]));
  const attached = new Set(found?.edges[field.name]);
  return [...new Set([...attached, ...planned.keys()])].toSorted(compareText).map((other): ExplanationRow => {
    const edge = planned.get(other);
    const ends = field.edge === 'rule' ? { rule: self, connection: other } : { rule: other, connection: self };
    const wanted = edge === undefined ? resource !== undefined : edge.action === 'attach' || edge.action === 'blocked';
    const cell = edgeCell(ends, wanted, facts.index);
    return {
      path: pointer(field.name, nameOf(other)),
      ...sidesOf(cell),
      ...reasonOf({ edge, ends, other, field, declared: facts.declared(ends) }, subject),
    };
  });
}

/** Where manifests declare an edge: `file:line:column`, and whether by a selector. */
type EdgeFacts = { readonly index: EdgeIndex; readonly declared: (ends: EdgeEnds) => readonly string[] };

/** Collects where edges are declared, and which of them were applied. */
function collectEdgeFacts({ desired, live, base, registry }: ExplainedSubject): EdgeFacts {
  const index = indexEdges({ desired, live, registry, base: base?.desired });
  const manifests = desiredById(desired.resources);
  const places = new Map<string, readonly string[]>();
  for (const edge of desired.edges) {
    const found = declaringPlaces(edge, manifests).toSorted((left, right) =>
      compareText(formatPosition(left.at), formatPosition(right.at)),
    );
    places.set(
      edgeKey(edge),
      found.map(({ how, at }) => `${formatPosition(at)}${how === 'selector' ? ', by a selector' : ''}`),
    );
  }
  return { index, declared: (ends) => places.get(edgeKey(ends)) ?? [] };
}

type EdgeCase = {
  /** The planned change; undefined if the edge is as declared. */
  readonly edge: EdgeChange | undefined;
  readonly ends: EdgeEnds;
  readonly other: ResourceId;
  readonly field: FieldRule;
  readonly declared: readonly string[];
};

type EdgeReason = Pick<ExplanationRow, 'status' | 'origin' | 'why'>;

function reasonOf({ edge, ends, other, field, declared }: EdgeCase, subject: ExplainedSubject): EdgeReason {
  if (edge === undefined && subject.resource === undefined) return { status: 'kept', why: 'no manifest declares the object' };
  const places = declared.length === 0 ? '' : ` (${declared.join('; ')})`;
  if (edge === undefined) return { status: 'same', why: `declared${places} and live` };
  if (edge.action === 'foreign') return { status: 'foreign', why: foreignReason({ ends, other, field }, subject) };
  const origin = edge.action === 'held' ? 'held' : edge.action === 'blocked' ? undefined : explainedOrigin({}, edge);
  const why = [edgeText(edge, places), origin === undefined ? '' : originText(origin, other)].filter((text) => text !== '').join('; ');
  const statuses = { attach: 'differs', detach: 'differs', held: 'held', blocked: 'blocked' } as const;
  return { status: statuses[edge.action], ...(origin === undefined ? {} : { origin }), why };
}

function edgeText({ action, by }: EdgeChange, places: string): string {
  if (action === 'attach') return `declared${places}, not live: attached by ${by ?? 'apply'}`;
  if (action === 'detach') return `live, no longer declared on either side: detached by ${by ?? 'apply'}`;
  return action === 'blocked' ? `declared${places}, but one end is managed` : '';
}

/** Returns why this plan may not remove an edge: whose it is. */
function foreignReason({ ends, other, field }: Pick<EdgeCase, 'ends' | 'other' | 'field'>, subject: ExplainedSubject): string {
  const { plan, live, resource } = subject;
  const orphan = plan.orphans.find(({ id }) => id === ends.rule || id === ends.connection);
  if (orphan !== undefined) return `live, and ${orphan.id} is an orphan: the attachment is kept until the orphan is deleted`;
  const managed = live.resources.find(({ id, managedBy }) => managedBy !== undefined && (id === ends.rule || id === ends.connection));
  if (managed !== undefined) return `live, and ${managed.id} is managed by ${managed.managedBy ?? ''}: never removed`;
  const place = pointer(field.name, nameOf(other));
  if (resource?.ignore.some((one) => isPointerWithin(place, one)) === true)
    return 'live, excluded by metadata.ignore: kept by every write, never removed';
  const why = plan.unmanaged.includes(other) ? `unmanaged: no manifest declares ${other}` : 'unmanaged';
  return `live, ${why}: kept by every write`;
}
