import { groupBy } from '../../model/collections.ts';
import { comparePositions, formatPosition, type Position } from '../../model/diagnostic.ts';
import {
  type BaseState,
  type DeclaredEdge,
  desiredById,
  type DesiredResource,
  type DesiredState,
  edgesByEnds,
} from '../../model/desired.ts';
import { defined, equal, distinctSorted } from '../../model/json.ts';
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
  type Value,
  withNames,
} from '../../model/plan/plan.ts';
import { reasonsIn } from '../../model/plan/reasons.ts';
import { notComparedText } from '../../model/plan/not-compared.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { isPointerWithin, isWithinAny, pointer, type Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf } from '../../model/resource.ts';
import type { ExplainedOrigin, ExplainedPart, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import { endText } from '../../model/protection/timed-grants.ts';
import type { Cell, Side } from '../cells/cell.ts';
import { edgeCell, indexEdges } from '../cells/edge-cells.ts';
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
      const origin = explainedOrigin(change, field);
      const expiry = expiryOf(field);
      const why = expiry === undefined ? originText(origin, change.id) : `the access expired on ${expiry.until}; drift --expire removes it`;
      return { path: place, before, after, ...defined({ origin, at: fieldPosition(change, field) }), why };
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

/** What a summary calls differences of an origin, and what the reason of one says. */
const origins: Readonly<Record<ExplainedOrigin, readonly [word: string, text: string]>> = {
  intent: ['changed in the manifests', 'intent: the manifests changed it since the last apply'],
  pending: ['pending', 'pending: an earlier merge changed it; not applied yet'],
  drift: ['drift', 'drift: changed outside Ostiary since the last apply; apply reverts it'],
  both: ['conflict', 'conflict: the manifests and the gateway changed it since the last apply; apply uses the manifest'],
  adoption: ['import', 'import: it existed before the first apply'],
  held: ['held', 'held: changed outside Ostiary; apply keeps it'],
};

function originText(origin: ExplainedOrigin | undefined, id: ResourceId): string {
  if (origin === undefined) return '';
  const [, text] = origins[origin];
  return origin === 'held' ? `${text}; --revert ${id} reverts it` : text;
}

/** Counts origins, as in `1 changed in the manifests, 2 drift, 1 held`. */
function countedOrigins(found: readonly ExplainedOrigin[]): string {
  return [...groupBy(found, (origin) => origin)].map(([origin, { length }]) => `${length} ${origins[origin][0]}`).join(', ');
}

/** What is said of a row beside what the states have there. */
type Reason = Pick<ExplanationRow, 'status' | 'why' | 'origin' | 'parts'>;

/** Returns a row of the table with its reason, never the value of a secret. */
function explainedRow({ path, head, live, base }: Cell, reason: Reason, at?: Position): ExplanationRow {
  return { path, ...defined({ desired: shownSide(head), live: shownSide(live), base: shownSide(base), at }), ...reason };
}

function shownSide(side: Side | undefined): Value | undefined {
  if (side?.is === 'value') return { value: side.value };
  if (side?.is !== 'secret') return undefined;
  const { source, proof } = side;
  if (source === 'live') return { secret: source, state: proof.state === 'hidden' ? 'unknown' : 'kept' };
  return { secret: source, state: proof.state === 'keep' ? 'kept' : 'set' };
}

function joinClauses(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('; ');
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
  const summary = joinClauses([summaryOf(subject), ...acceptedTexts(subject), ...refusalsOf(subject)]);
  return { id, ...defined({ at: (resource ?? past)?.locate(''), base: base?.commit }), summary, rows };
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
  const found = [...change.fields, ...written].flatMap((one) => explainedOrigin(change, one) ?? []);
  return found.length === 0 ? reasonsIn({ edges })(change).join(', ') : countedOrigins(found);
}

function orphanWhy({ removedIn, subject, kept }: Plan['orphans'][number], change: Change | undefined): string {
  const since = removedIn === undefined ? '' : `, removed in ${removedIn.slice(0, 7)}`;
  const named = subject === undefined || subject === '' ? '' : ` "${subject}"`;
  const fate = change === undefined ? (kept ?? '--prune would delete it') : `apply ${change.action}s it`;
  return `orphan: removed from the manifests, still live${since}${named}; ${fate}`;
}

function fieldRow(field: FieldRule, subject: ExplainedSubject): ExplanationRow {
  const { resource } = subject;
  const cell = subject.cells.at(pointer(field.name));
  const at = resource?.stated.has(field.name) === true ? resource.locate(cell.path) : undefined;
  return explainedRow(cell, fieldReason(field, cell, subject), at);
}

const undeclared: Reason = { status: 'kept', why: 'no manifest declares the object' };
const ignored = 'metadata.ignore excludes it: not compared, kept by every write';

function fieldReason(field: FieldRule, { path, live }: Cell, { resource, change, accepted }: ExplainedSubject): Reason {
  if (resource === undefined) return undeclared;
  if (live.is === 'unread') return { status: 'not compared', why: 'this token may not read it' };
  if (isWithinAny(path, resource.ignore)) return { status: 'ignored', why: ignored };
  const wanted = resource.spec[field.name];
  if (wanted === undefined) return { status: 'kept', why: 'omitted: apply keeps the live value' };
  const partly = resource.ignore.some((one) => isPointerWithin(one, path)) ? 'metadata.ignore excludes parts of it' : '';
  const stated = joinClauses([statedText(field, resource), partly]);
  const parts = partsOf(change, path);
  const [only] = parts;
  if (only !== undefined) {
    const status = parts.every(({ origin }) => origin === 'held') ? 'held' : 'differs';
    // One row if the whole field differs, otherwise one with its parts.
    if (parts.length > 1 || only.path !== path) return { status, why: stated, parts };
    return { status, why: joinClauses([stated, only.why]), ...defined({ origin: only.origin }) };
  }
  const isAccepted = accepted?.fields.some((one) => isPointerWithin(one.path, path)) === true;
  const isDerived = field.omitted === 'derived' && !resource.stated.has(field.name) && !equal(wanted, field.empty);
  const why = joinClauses([stated, isAccepted ? 'drift accepted in the manifests: the gateway had this value before' : '']);
  return { status: isDerived ? 'derived' : 'same', why };
}

function statedText({ name, omitted }: FieldRule, { stated, grants = [] }: DesiredResource): string {
  if (!stated.has(name))
    return omitted === 'derived'
      ? 'omitted: derived from other fields'
      : 'omitted: the desired value is empty, because manifests are complete';
  const ends = grants.filter(({ path, ended }) => ended !== true && isPointerWithin(path, pointer(name)));
  return joinClauses(['declared in the manifest', ...ends.map((end) => `${end.group}${endText(end)}`)]);
}

function secretRows(field: FieldRule, subject: ExplainedSubject): readonly ExplanationRow[] {
  const { id, plan, resource, found, past, change } = subject;
  const reasons = new Map(plan.notCompared.flatMap((one) => (one.id === id ? [[one.path, one.reason] as const] : [])));
  const unwritten = new Set(
    [...(subject.accepted?.fields ?? []), ...plan.unwrittenSecrets.filter((one) => one.id === id)].map(({ path }) => path),
  );
  const changed = new Map(change?.fields.map((one) => [one.path, one]));
  const secrets = [resource, found, past].flatMap((one) => Object.keys(one?.secrets ?? {}));
  const paths = [...secrets, ...reasons.keys(), ...changed.keys()].filter((path) => isPointerWithin(path, pointer(field.name)));
  return distinctSorted(paths).map((path): ExplanationRow => {
    const cell = subject.cells.at(path);
    const [part] = partsOf(change, path);
    const reason = reasons.get(path);
    const isUnwritten = unwritten.has(path);
    const isIgnored = isWithinAny(path, resource?.ignore ?? []);
    const why = isIgnored ? ignored : secretReason(cell, { change: changed.get(path), reason, isUnwritten });
    const unplanned = reason === undefined ? (isUnwritten ? 'not written' : 'secret') : 'not compared';
    const status = part === undefined ? unplanned : part.origin === 'held' ? 'held' : 'differs';
    const at = resource?.secrets[path] === undefined ? undefined : resource.locate(path);
    return explainedRow(cell, { status, ...defined({ origin: part?.origin }), why: joinClauses([why, part?.why ?? '']) }, at);
  });
}

/** Returns a row for each live or declared edge of a field, with the reason. */
function edgeRows(field: FieldRule, subject: ExplainedSubject): readonly ExplanationRow[] {
  const { key, plan, resource, found, desired, live, base, registry } = subject;
  const self = resource?.key ?? key;
  const index = indexEdges({ desired, live, registry, base: base?.desired });
  const mine = plan.edges.filter(
    (edge) => (field.edge === 'rule' ? edge.rule : edge.connection) === self && kindOf(otherEnd(edge, self)) === field.refers,
  );
  const planned = new Map(mine.map((edge) => [otherEnd(edge, self), edge]));
  return distinctSorted([...(found?.edges[field.name] ?? []), ...planned.keys()]).map((other): ExplanationRow => {
    const edge = planned.get(other);
    const ends = field.edge === 'rule' ? { rule: self, connection: other } : { rule: other, connection: self };
    const wanted = edge === undefined ? resource !== undefined : edge.action === 'attach' || edge.action === 'blocked';
    const cell = { ...edgeCell(ends, wanted, index), path: pointer(field.name, nameOf(other)) };
    return explainedRow(cell, edgeReason(edge, { ends, other, path: cell.path }, subject));
  });
}

/** An attachment: its ends, the one that is not explained, and its path in the other one. */
type ExplainedEdge = { readonly ends: EdgeEnds; readonly other: ResourceId; readonly path: Pointer };

/** Returns the reason of an attachment; without a planned change it is as declared. */
function edgeReason(edge: EdgeChange | undefined, explained: ExplainedEdge, subject: ExplainedSubject): Reason {
  const { resource, desired } = subject;
  if (edge === undefined && resource === undefined) return undeclared;
  const { ends, other } = explained;
  const declared = `declared${placesText(edgesByEnds(desired.edges).get(ends), desired)}`;
  if (edge === undefined) return { status: 'same', why: `${declared} and live` };
  const by = edge.by ?? 'apply';
  const origin = explainedOrigin({}, edge);
  switch (edge.action) {
    case 'foreign':
      return { status: 'foreign', why: foreignReason(explained, subject) };
    case 'blocked':
      return { status: 'blocked', why: `${declared}, but one end is managed` };
    case 'held':
      return { status: 'held', origin: 'held', why: originText('held', other) };
    case 'attach':
      return {
        status: 'differs',
        ...defined({ origin }),
        why: joinClauses([`${declared}, not live: attached by ${by}`, originText(origin, other)]),
      };
    case 'detach': {
      const detached = `live, no longer declared on either side: detached by ${by}`;
      return { status: 'differs', ...defined({ origin }), why: joinClauses([detached, originText(origin, other)]) };
    }
  }
}

/** Returns where manifests declare an edge: ` (file:line:column; …)`. */
function placesText(edge: DeclaredEdge | undefined, { resources }: DesiredState): string {
  if (edge === undefined) return '';
  const places = declaringPlaces(edge, desiredById(resources)).toSorted((one, other) => comparePositions(one.at, other.at));
  const texts = places.map(({ how, at }) => `${formatPosition(at)}${how === 'selector' ? ', by a selector' : ''}`);
  return texts.length === 0 ? '' : ` (${texts.join('; ')})`;
}

/** Returns why this plan may not remove an edge: whose it is. */
function foreignReason({ ends, other, path }: ExplainedEdge, { plan, live, resource }: ExplainedSubject): string {
  const orphan = plan.orphans.find(({ id }) => id === ends.rule || id === ends.connection);
  if (orphan !== undefined) return `live, and ${orphan.id} is an orphan: the attachment is kept until the orphan is deleted`;
  const managed = live.resources.find(({ id, managedBy }) => managedBy !== undefined && (id === ends.rule || id === ends.connection));
  if (managed !== undefined) return `live, and ${managed.id} is managed by ${managed.managedBy ?? ''}: never removed`;
  if (isWithinAny(path, resource?.ignore ?? [])) return 'live, excluded by metadata.ignore: kept by every write, never removed';
  const why = plan.unmanaged.includes(other) ? `unmanaged: no manifest declares ${other}` : 'unmanaged';
  return `live, ${why}: kept by every write`;
}
