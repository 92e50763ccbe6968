import { type DesiredState, desiredById } from '../../model/desired.ts';
import { compareText } from '../../model/json.ts';
import { edgeKey, type EdgeEnds } from '../../model/edges.ts';
import type { LiveState } from '../../model/live.ts';
import type { Attachment } from '../../model/protection/protection.ts';
import type { Renames } from '../../model/plan/plan.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { formatPosition } from '../../model/diagnostic.ts';

/** Returns how manifests declare an edge; an empty list if they do not. */
export type DeclaredAttachments = (ends: EdgeEnds) => readonly Attachment[];

const nothing: readonly Attachment[] = [];

/** The input for resolving the ends that manifests name. */
export type NameResolution = {
  readonly live: LiveState;
  /** New names by previous names. */
  readonly renames?: Renames;
  /** Whether the manifests are the current ones, so that positions are known. */
  readonly placed: boolean;
};

/** Returns a lookup of declared attachments; the index is built on first use. */
export function readDeclaredAttachments(manifests: DesiredState, naming: NameResolution): DeclaredAttachments {
  let known: ReadonlyMap<string, readonly Attachment[]> | undefined;
  return (ends) => (known ??= attachmentsByEdge(manifests, naming)).get(edgeKey(ends)) ?? nothing;
}

function attachmentsByEdge(
  { edges, resources }: DesiredState,
  { live, renames, placed }: NameResolution,
): ReadonlyMap<string, readonly Attachment[]> {
  const names = new Set([...resources.map(({ key }) => key), ...live.resources.map(({ id }) => id)]);
  const uids = new Map(live.resources.map(({ id, uid }) => [resourceId(kindOf(id), uid), id]));
  const manifests = desiredById(resources);
  const idOf = ({ kind, text }: { readonly kind: string; readonly text: string }): ResourceId => {
    const named = resourceId(kind, text);
    const id = renames?.get(named) ?? named;
    return names.has(id) ? id : (uids.get(resourceId(kind, text.toLowerCase())) ?? id);
  };
  const all = new Map<string, readonly Attachment[]>();
  for (const { rule, connection, declarations } of edges) {
    const key = edgeKey({ rule: idOf(rule), connection: idOf(connection) });
    const found = declarations.map(({ by, path, how }): Attachment => {
      const at = placed ? manifests.get(by)?.locate(path) : undefined;
      return { how: how === 'selector' ? 'selector' : 'direct', ...(at === undefined ? {} : { place: formatPosition(at) }) };
    });
    all.set(key, distinct([...(all.get(key) ?? []), ...found]));
  }
  return all;
}

function distinct(attachments: readonly Attachment[]): readonly Attachment[] {
  return [...new Map(attachments.map((one) => [keyOf(one), one])).values()].toSorted((left, right) =>
    compareText(keyOf(left), keyOf(right)),
  );
}

function keyOf({ how, place = '' }: Attachment): string {
  return `${how} ${place}`;
}
