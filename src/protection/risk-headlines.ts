import { addToGroup } from '../model/collections.ts';
import { type AssessedChange, liveKeyOf, type Risk, type UnwrittenRisks } from '../model/plan/plan.ts';
import { isPointerWithin, type Pointer, tokensOf } from '../model/pointer.ts';
import type { Headline } from '../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { namesText, ofSeveral, quoteName } from './controls/control-row.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { generalRisk, riskCode, reroutePhrase, rerouteTarget } from './risk/risk-codes.ts';
import { sharedTags } from './common-tags.ts';

/** Builds one headline for each way in which credentials are or may be redirected, by connections and by other objects that name none. */
export function rerouteHeadlines(changes: readonly AssessedChange[], snapshots: PlanSnapshots): readonly Headline[] {
  const groups = new Map<string, { readonly change: AssessedChange; readonly risk: Risk }[]>();
  for (const change of changes)
    for (const risk of change.risks)
      if (reroutePhrase(risk.code) !== undefined)
        addToGroup(groups, `${risk.code} ${connectionsOf(change, risk).length > 0}`, { change, risk });
  return [...groups.values()].flatMap((members): readonly Headline[] => {
    const first = members[0]?.risk;
    const phrase = first && reroutePhrase(first.code);
    if (first === undefined || phrase === undefined) return [];
    const ids = [...new Set(members.flatMap(({ change, risk }) => connectionsOf(change, risk)))];
    const [subject, count] = ids.length > 0 ? ['connection', ids.length] : ['runbook configuration', members.length];
    return [
      {
        direction: first.class === 'unknown' || first.class === 'weakens' ? first.class : 'reroutes',
        ...(first.class === 'reroutes' ? { target: rerouteTarget(first.code) } : {}),
        text: count === 1 ? `1 ${subject} ${phrase}` : `${count} ${subject}s ${ofSeveral(phrase)}`,
        connections: ids,
        tags: sharedTags(ids, snapshots),
        causes: members.map(({ change, risk: { path, place } }) => ({
          by: change.id,
          ...(path === undefined ? {} : { path }),
          ...(place === undefined ? {} : { place }),
          ...(revertsDrift(change, path) ? { byHand: true } : {}),
        })),
      },
    ];
  });
}

/** Returns the connections whose credentials a change redirects: the one that it changes, or those on which its runbooks can be run. */
function connectionsOf(change: AssessedChange, { connections = [] }: Risk): readonly ResourceId[] {
  const key = liveKeyOf(change);
  return kindOf(key) === 'Connection' ? [key] : connections;
}

/** Returns whether a change only undoes drift in the fields at a path. */
function revertsDrift({ fields }: AssessedChange, path: Pointer | undefined): boolean {
  const written = fields.filter((field) => field.held !== true && path !== undefined && isPointerWithin(field.path, path));
  return written.length > 0 && written.every(({ origin }) => origin === 'drift');
}

/** Builds headlines of what manifests alone change: protecting fields and secrets that they no longer watch, and secrets that they contain. */
export function manifestHeadlines(all: readonly UnwrittenRisks[], snapshots: PlanSnapshots): readonly Headline[] {
  const groups = new Map<
    string,
    { readonly id: UnwrittenRisks['id']; readonly direction: Headline['direction']; readonly risks: readonly Risk[] }[]
  >();
  for (const { id, risks } of all) {
    for (const { name, direction, what } of manifestCodes) {
      const own = risks.filter(({ code }) => code === riskCode(generalRisk(name)));
      const fields = [...new Set(own.map(({ path = '' }) => tokensOf(path).join('.') || 'all fields'))];
      const [field = ''] = fields;
      const of = kindOf(id) === 'Connection' ? '' : ` of ${quoteName(nameOf(id))}`;
      const verb = fields.length > 1 || field.endsWith('s') ? 'are' : 'is';
      if (fields.length > 0) addToGroup(groups, `${namesText('field', fields, false)}${of} ${verb} ${what}`, { id, direction, risks: own });
    }
  }
  return [...groups].flatMap(([text, members]): readonly Headline[] => {
    const [first] = members;
    const ids = members.flatMap(({ id, risks }) =>
      kindOf(id) === 'Connection' ? [id] : risks.flatMap(({ connections = [] }) => connections),
    );
    if (first === undefined) return [];
    return [
      {
        direction: first.direction,
        text,
        connections: [...new Set(ids)],
        tags: sharedTags(ids, snapshots),
        causes: members.flatMap(({ id, risks }) =>
          risks.map(({ path, place }) => ({ by: id, ...(path === undefined ? {} : { path }), ...(place === undefined ? {} : { place }) })),
        ),
      },
    ];
  });
}

const unwatched = 'no longer watched';

const manifestCodes = [
  { name: 'ignore-added', direction: 'weakens', what: unwatched },
  { name: 'field-left', direction: 'weakens', what: unwatched },
  { name: 'secret-inlined', direction: 'weakens', what: 'stated in the manifest instead of a reference' },
  { name: 'secret-left', direction: 'unknown', what: unwatched },
] as const;
