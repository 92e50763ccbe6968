import type { DesiredResource } from '../model/desired.ts';
import type { Explanation, ExplanationRow } from '../model/explanation.ts';
import type { FieldRule } from '../model/field.ts';
import { compareText, equal, type Json } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import type { Change, EdgeChange, Orphan, Plan } from '../model/plan.ts';
import { isWithin, pointer, type Pointer } from '../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';

/** What there is to explain a resource from; one of desired and live may be missing. */
export type ExplainInput = {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly desired?: DesiredResource | undefined;
  readonly live?: LiveResource | undefined;
  readonly plan: Plan;
  /** Only this field. */
  readonly field?: string | undefined;
};

/** Says of every field what desired and live are, and why that is, or is not, a change. */
export function explain(input: ExplainInput): Explanation {
  const fields = input.kind.fields.filter(
    (field) => field.manifestOnly !== true && (input.field === undefined || field.name === input.field),
  );
  const rows = fields.flatMap((field) => {
    if (field.edge !== undefined) return edgeRows(field, input);
    return field.secret === undefined ? [fieldRow(field, input)] : secretRows(field, input);
  });
  return { id: input.id, ...(input.desired === undefined ? {} : { at: input.desired.locate('') }), summary: summaryOf(input), rows };
}

function summaryOf({ desired, live, plan, id }: ExplainInput): string {
  const change = plan.changes.find((one) => one.id === id);
  const orphan = plan.orphans.find((one) => one.id === id);
  if (orphan !== undefined && desired === undefined) return orphanWhy(orphan, change);
  if (desired === undefined && !plan.unmanaged.includes(id)) return 'its manifest is not selected, so this run leaves it as it is';
  if (desired === undefined)
    return `${live?.managedBy === undefined ? 'unmanaged' : `managed by ${live.managedBy}`}: it is live, but no manifest declares it, so it is never touched`;
  if (live === undefined) return 'it is not live: apply creates it';
  if (change === undefined) return 'no change: what the manifest wants is what is live';
  if (change.action === 'blocked') return `blocked: it is managed by ${change.managedBy ?? 'somebody else'}, so it is never written`;
  if (change.action === 'held') return 'held: what differs was tightened by hand, so it is left so; --revert undoes it';
  return `apply ${change.action}s it: ${change.reasons.join(', ')}`;
}

function orphanWhy({ removedIn, kept }: Orphan, change: Change | undefined): string {
  const since = removedIn === undefined ? '' : ` since ${removedIn.slice(0, 12)}`;
  const fate = change === undefined ? (kept ?? '--prune would delete it') : `apply ${change.action}s it`;
  return `orphan: applied once, in no manifest any more${since}; ${fate}`;
}

function fieldRow(field: FieldRule, { desired, live, plan, id }: ExplainInput): ExplanationRow {
  const path = pointer(field.name);
  const found = live?.spec[field.name];
  const wished = desired?.spec[field.name];
  const row = {
    path,
    ...(wished === undefined ? {} : { desired: { value: wished } }),
    ...(found === undefined ? {} : { live: { value: found } }),
    ...(desired?.stated.has(field.name) === true ? { at: desired.locate(path) } : {}),
  };
  if (desired === undefined) return { ...row, ...undeclared };
  if (live?.unknown.some((one) => isWithin(path, one)) === true)
    return { ...row, status: 'unknown', why: 'this token may not see it, so it is never compared' };
  if (desired.ignore.some((one) => isWithin(path, one)))
    return { ...row, status: 'ignored', why: 'metadata.ignore names it: never compared, always carried' };
  if (wished === undefined) return { ...row, status: 'kept', why: 'omitted, and omitting this field keeps what is live' };
  const changes = plan.changes.find((change) => change.id === id)?.fields.some((change) => isWithin(change.path, path)) === true;
  const partly = desired.ignore.some((one) => isWithin(one, path)) ? '; metadata.ignore leaves parts of it out' : '';
  if (changes) return { ...row, status: 'differs', why: `${originOf(field, desired)}${partly}` };
  return { ...row, status: isDerived(field, desired, wished) ? 'derived' : 'same', why: `${originOf(field, desired)}${partly}` };
}

function isDerived(field: FieldRule, desired: DesiredResource, value: Json): boolean {
  return field.omitted === 'derived' && !desired.stated.has(field.name) && !equal(value, field.empty);
}

function originOf(field: FieldRule, desired: DesiredResource): string {
  if (desired.stated.has(field.name)) return 'stated in the manifest';
  if (field.omitted === 'derived') return 'omitted: follows from other fields';
  return 'omitted: a manifest is complete, so the field is wanted empty';
}

function secretRows(field: FieldRule, { desired, live, plan, id }: ExplainInput): readonly ExplanationRow[] {
  const prefix = pointer(field.name);
  const paths = [...Object.keys(desired?.secrets ?? {}), ...Object.keys(live?.secrets ?? {})].filter((path) => isWithin(path, prefix));
  return [...new Set(paths)].toSorted(compareText).map((path): ExplanationRow => {
    const wished = desired?.secrets[path];
    const found = live?.secrets[path];
    const changed = plan.changes.find((change) => change.id === id)?.fields.some((change) => change.path === path) === true;
    return {
      path,
      ...(wished === undefined
        ? {}
        : { desired: { secret: wished.source, state: wished.state === 'keep' ? ('kept' as const) : ('set' as const) } }),
      ...(found === undefined
        ? {}
        : { live: { secret: 'live', state: found.state === 'hidden' ? ('unknown' as const) : ('kept' as const) } }),
      ...(wished === undefined || desired === undefined ? {} : { at: desired.locate(path) }),
      status: changed ? 'differs' : 'secret',
      why: secretWhy(path, { desired, found: found?.state, changed }),
    };
  });
}

type SecretSides = {
  readonly desired: DesiredResource | undefined;
  readonly found: 'value' | 'hidden' | undefined;
  readonly changed: boolean;
};

function secretWhy(path: Pointer, { desired, found, changed }: SecretSides): string {
  const wished = desired?.secrets[path];
  if (desired?.ignore.some((one) => isWithin(path, one)) === true) return 'metadata.ignore names it: never compared, always carried';
  if (wished === undefined)
    return changed ? 'the manifest gives the whole map, and this key is not in it' : 'not stated, so it stays as it is';
  if (wished.state === 'keep') return 'keep: the value is not ours';
  if (found === undefined) return 'not live yet';
  if (found === 'hidden') return 'this token may not see the value, so it cannot be compared';
  return changed ? 'the values differ' : 'the values are the same';
}

function edgeRows(field: FieldRule, { id, desired, live, plan }: ExplainInput): readonly ExplanationRow[] {
  const key = desired?.key ?? id;
  const mine = plan.edges.filter(
    (edge) => (field.edge === 'rule' ? edge.rule : edge.connection) === key && kindOf(otherEnd(edge, key)) === field.refers,
  );
  const planned = new Map(mine.map((edge) => [otherEnd(edge, key), edge]));
  const ids = new Set([...(live?.edges[field.name] ?? []), ...planned.keys()]);
  return [...ids].toSorted(compareText).map((other): ExplanationRow => {
    const edge = planned.get(other);
    const attached = live?.edges[field.name]?.includes(other) === true;
    const wanted = edge === undefined ? desired !== undefined : edge.action === 'attach' || edge.action === 'blocked';
    return {
      path: pointer(field.name, nameOf(other)),
      ...(wanted ? { desired: { value: 'attached' } } : {}),
      ...(attached ? { live: { value: 'attached' } } : {}),
      ...(edge === undefined && desired === undefined ? undeclared : edgeWhy(edge)),
    };
  });
}

const undeclared = { status: 'kept', why: 'no manifest declares the object' } as const;

function otherEnd(edge: EdgeChange, key: ResourceId): ResourceId {
  return edge.rule === key ? edge.connection : edge.rule;
}

function edgeWhy(edge: EdgeChange | undefined): Pick<ExplanationRow, 'status' | 'why'> {
  const declared = edge === undefined || edge.declared.length === 0 ? '' : ` (${edge.declared.join(', ')})`;
  switch (edge?.action) {
    case undefined:
      return { status: 'same', why: 'declared and live' };
    case 'attach':
      return { status: 'differs', why: `declared${declared}, not live: attached by ${edge?.by ?? 'apply'}` };
    case 'detach':
      return { status: 'differs', why: `live, declared on neither side, and both have manifests: detached by ${edge?.by ?? 'apply'}` };
    case 'foreign':
      return { status: 'foreign', why: 'live, and not ours to remove: carried by every write' };
    case 'blocked':
      return { status: 'foreign', why: `declared${declared}, but an end is managed by somebody else` };
    case 'held':
      return { status: 'foreign', why: 'held: taking it away would weaken what is live' };
  }
}
