import { groupBy } from '../model/collections.ts';
import { type AssessedChange, liveKeyOf, type Risk, type UnwrittenRisks } from '../model/plan/plan.ts';
import { isPointerWithin, type Pointer, tokensOf } from '../model/pointer.ts';
import type { Headline } from '../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { namesText, ofSeveral, quoteName } from './controls/control-row.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { riskCode, reroutePhrase, rerouteTarget } from './risk/risk-codes.ts';
import { sharedTags } from './common-tags.ts';

/** Builds one headline for each way in which credentials are or may be redirected, by connections and by other objects that name none. */
export function rerouteHeadlines(changes: readonly AssessedChange[], snapshots: PlanSnapshots): readonly Headline[] {
  const all = changes.flatMap((change) =>
    change.risks.flatMap((risk) => {
      const phrase = reroutePhrase(risk.code);
      return phrase === undefined ? [] : [{ change, risk, phrase, connections: connectionsOf(liveKeyOf(change), risk) }];
    }),
  );
  const groups = groupBy(all, ({ risk, connections }) => `${risk.code} ${connections.length > 0}`);
  return [...groups.values()].map((members): Headline => {
    const [{ phrase, risk: first }] = members;
    const ids = [...new Set(members.flatMap(({ connections }) => connections))];
    const [subject, count] = ids.length > 0 ? ['connection', ids.length] : ['runbook configuration', members.length];
    return {
      direction: first.class === 'unknown' || first.class === 'weakens' ? first.class : 'reroutes',
      target: first.class === 'reroutes' ? rerouteTarget(first.code) : undefined,
      text: count === 1 ? `1 ${subject} ${phrase}` : `${count} ${subject}s ${ofSeveral(phrase)}`,
      connections: ids,
      tags: sharedTags(ids, snapshots),
      causes: members.map(({ change, risk: { path, place } }) => ({
        by: change.id,
        path,
        place,
        byHand: revertsDrift(change, path) || undefined,
      })),
    };
  });
}

/** Returns the connections that a risk of an object is about: the object itself, or those on which it does something. */
function connectionsOf(id: ResourceId, { connections = [] }: Risk): readonly ResourceId[] {
  return kindOf(id) === 'Connection' ? [id] : connections;
}

/** Returns whether a change only undoes drift in the fields at a path. */
function revertsDrift({ fields }: AssessedChange, path: Pointer | undefined): boolean {
  const written = fields.filter((field) => field.held !== true && path !== undefined && isPointerWithin(field.path, path));
  return written.length > 0 && written.every(({ origin }) => origin === 'drift');
}

/** Builds headlines of what manifests alone change: protecting fields and secrets that they no longer watch, and secrets that they contain. */
export function manifestHeadlines(all: readonly UnwrittenRisks[], snapshots: PlanSnapshots): readonly Headline[] {
  const found = all.flatMap(({ id, risks }) =>
    manifestCodes.flatMap(({ name, direction, what }) => {
      const own = risks.filter(({ code }) => code === riskCode({ name }));
      const fields = [...new Set(own.map(({ path = '' }) => tokensOf(path).join('.') || 'all fields'))];
      const [field] = fields;
      if (field === undefined) return [];
      const of = kindOf(id) === 'Connection' ? '' : ` of ${quoteName(nameOf(id))}`;
      const verb = fields.length > 1 || field.endsWith('s') ? 'are' : 'is';
      return [{ id, direction, risks: own, text: `${namesText('field', fields, false)}${of} ${verb} ${what}` }];
    }),
  );
  return [...groupBy(found, ({ text }) => text)].map(([text, members]): Headline => {
    const ids = [...new Set(members.flatMap(({ id, risks }) => risks.flatMap((risk) => connectionsOf(id, risk))))];
    return {
      direction: members[0].direction,
      text,
      connections: ids,
      tags: sharedTags(ids, snapshots),
      causes: members.flatMap(({ id, risks }) => risks.map(({ path, place }) => ({ by: id, path, place }))),
    };
  });
}

const unwatched = 'no longer watched';

const manifestCodes = [
  { name: 'ignore-added', direction: 'weakens', what: unwatched },
  { name: 'field-left', direction: 'weakens', what: unwatched },
  { name: 'secret-inlined', direction: 'weakens', what: 'stated in the manifest instead of a reference' },
  { name: 'secret-left', direction: 'unknown', what: unwatched },
] as const;
