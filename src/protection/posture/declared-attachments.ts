import { type DesiredResource, type DesiredState, type EdgeDeclaration, desiredById, edgesByEnds } from '../../model/desired.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { compareText } from '../../model/json.ts';
import type { Attachment } from '../../model/protection/protection.ts';
import type { EdgeEnds, ResourceId } from '../../model/resource.ts';

/** Returns how manifests declare an edge; an empty list if they do not. */
export type DeclaredAttachments = (ends: EdgeEnds) => readonly Attachment[];

const nothing: readonly Attachment[] = [];

const directly: Attachment = { how: 'direct' };
const bySelector: Attachment = { how: 'selector' };
/** One list for all edges that are declared alike: a plan has many. */
const [onlyDirectly, onlyBySelector, inBothWays] = [[directly], [bySelector], [directly, bySelector]];

/** Returns a lookup of declared attachments; the index is built on first use. */
export function readDeclaredAttachments({ edges }: DesiredState): DeclaredAttachments {
  return (ends) => {
    const { declarations = [] } = edgesByEnds(edges).get(ends) ?? {};
    const isSelected = declarations.some(({ how }) => how === 'selector');
    const isListed = declarations.some(({ how }) => how === 'listed');
    if (isListed) return isSelected ? inBothWays : onlyDirectly;
    return isSelected ? onlyBySelector : nothing;
  };
}

/** Returns how the manifests declare the attachments of a connection, by rule, with the position of each declaration. */
export function placeAttachments(
  { edges, resources }: Pick<DesiredState, 'edges' | 'resources'>,
  connection: ResourceId,
): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const manifests = desiredById(resources);
  return new Map(
    edges
      .filter((edge) => edge.connection === connection)
      .map(({ rule, declarations }) => [rule, distinct(declarations.map((one) => placedAttachment(one, manifests)))]),
  );
}

function placedAttachment({ by, path, how }: EdgeDeclaration, manifests: ReadonlyMap<ResourceId, DesiredResource>): Attachment {
  const at = manifests.get(by)?.locate(path);
  return { ...(how === 'selector' ? bySelector : directly), place: at && formatPosition(at) };
}

function distinct(attachments: readonly Attachment[]): readonly Attachment[] {
  if (attachments.length < 2) return attachments;
  return [...new Map(attachments.map((one) => [attachmentKey(one), one])).values()].toSorted((left, right) =>
    compareText(attachmentKey(left), attachmentKey(right)),
  );
}

function attachmentKey({ how, place = '' }: Attachment): string {
  return `${how} ${place}`;
}
