import { desiredById } from '../../model/desired.ts';
import type { EdgeOwner, ExplanationRow } from '../../model/result/drift.ts';
import type { FieldRule } from '../../model/kind.ts';
import { compareText } from '../../model/json.ts';
import { edgeKey, type EdgeEnds } from '../../model/live.ts';
import { otherEnd, type EdgeChange } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { explainedOrigin, originText, type ExplainedSubject } from './explain-subject.ts';
import { resolveEnds, indexEdges, type EdgeIndex } from '../diff/edge-index.ts';

/** Returns a row for each live or declared edge of a field, with its owner and the reason. */
export function edgeRows(field: FieldRule, subject: ExplainedSubject): readonly ExplanationRow[] {
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
    const declared = facts.declared(ends);
    return {
      path: pointer(field.name, nameOf(other)),
      ...(wanted ? { desired: { value: 'attached' } } : {}),
      ...(attached.has(other) ? { live: { value: 'attached' } } : {}),
      ...(facts.index.past?.has(edgeKey(ends)) === true ? { base: { value: 'attached' } } : {}),
      ...reasonOf({ edge, ends, other, field, declared }, subject),
      ...(declared.length === 0 ? {} : { declared: declared.map(({ place }) => place) }),
    };
  });
}

type EdgeDeclarationSite = { readonly place: string; readonly bySelector: boolean };
type EdgeFacts = { readonly index: EdgeIndex; readonly declared: (ends: EdgeEnds) => readonly EdgeDeclarationSite[] };

/** Collects where edges are declared, and which of them were applied. */
function collectEdgeFacts({ desired, live, base, registry }: ExplainedSubject): EdgeFacts {
  const index = indexEdges({ desired, live, registry, base: base?.desired });
  const manifests = desiredById(desired.resources);
  const places = new Map<string, EdgeDeclarationSite[]>();
  for (const edge of desired.edges) {
    const { rule, connection } = resolveEnds(edge, index);
    if (rule === undefined || connection === undefined) continue;
    const key = edgeKey({ rule, connection });
    const found = edge.declarations.flatMap(({ by, path, how }): readonly EdgeDeclarationSite[] => {
      const at = manifests.get(by)?.locate(path);
      return at === undefined ? [] : [{ place: `${at.file}:${at.line}:${at.column}`, bySelector: how === 'selector' }];
    });
    places.set(
      key,
      [...(places.get(key) ?? []), ...found].toSorted((left, right) => compareText(left.place, right.place)),
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
  readonly declared: readonly EdgeDeclarationSite[];
};

type EdgeReason = Pick<ExplanationRow, 'status' | 'origin' | 'why' | 'owner'>;

function reasonOf({ edge, ends, other, field, declared }: EdgeCase, subject: ExplainedSubject): EdgeReason {
  if (edge === undefined && subject.resource === undefined) return { status: 'kept', why: 'no manifest declares the object' };
  const shown = declared.map(({ place, bySelector }) => (bySelector ? `${place}, by a selector` : place));
  const places = shown.length === 0 ? '' : ` (${shown.join('; ')})`;
  if (edge === undefined) return { status: 'same', owner: 'manifests', why: `declared${places} and live` };
  if (edge.action === 'foreign') return { status: 'foreign', ...foreignReason({ ends, other, field }, subject) };
  const origin = edge.action === 'held' ? 'held' : edge.action === 'blocked' ? undefined : explainedOrigin({}, edge);
  const why = [edgeText(edge, places), origin === undefined ? '' : originText(origin, other)].filter((text) => text !== '').join('; ');
  const statuses = { attach: 'differs', detach: 'differs', held: 'held', blocked: 'blocked' } as const;
  return { status: statuses[edge.action], owner: 'manifests', ...(origin === undefined ? {} : { origin }), why };
}

function edgeText({ action, by }: EdgeChange, places: string): string {
  if (action === 'attach') return `declared${places}, not live: attached by ${by ?? 'apply'}`;
  if (action === 'detach') return `live, no longer declared on either side: detached by ${by ?? 'apply'}`;
  return action === 'blocked' ? `declared${places}, but one end is managed` : '';
}

/** Returns the owner of an edge that this plan may not remove. */
function foreignReason(
  { ends, other, field }: Pick<EdgeCase, 'ends' | 'other' | 'field'>,
  subject: ExplainedSubject,
): Pick<EdgeReason, 'why' | 'owner'> {
  const { plan, live, resource } = subject;
  const orphan = plan.orphans.find(({ id }) => id === ends.rule || id === ends.connection);
  if (orphan !== undefined)
    return ownedBy('orphan', `live, and ${orphan.id} is an orphan: the attachment is kept until the orphan is deleted`);
  const managed = live.resources.find(({ id, managedBy }) => managedBy !== undefined && (id === ends.rule || id === ends.connection));
  if (managed !== undefined) return ownedBy('manager', `live, and ${managed.id} is managed by ${managed.managedBy ?? ''}: never removed`);
  const place = pointer(field.name, nameOf(other));
  if (resource?.ignore.some((one) => isPointerWithin(place, one)) === true)
    return ownedBy('foreign', 'live, excluded by metadata.ignore: kept by every write, never removed');
  const why = plan.unmanaged.includes(other) ? `unmanaged: no manifest declares ${other}` : 'unmanaged';
  return ownedBy('foreign', `live, ${why}: kept by every write`);
}

function ownedBy(owner: EdgeOwner, why: string): Pick<EdgeReason, 'why' | 'owner'> {
  return { owner, why };
}
