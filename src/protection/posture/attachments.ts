import { compareText } from '../../model/json.ts';
import type { Attachment } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import { rulesOn, textsIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** The attachment of an edge that no known manifest declares. */
const undeclaredEdge: readonly Attachment[] = [{ how: 'edge' }];
const nothing: readonly Attachment[] = [];

/** Lists the rules on a connection with everything that attaches them: edges, as manifests declare them, and shared attributes. */
export function attachmentsOn(snapshot: ProtectionSnapshot, connection: ResourceId): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const attached = snapshot.edges.get(connection);
  const attributes =
    snapshot.rulesByAttribute.size === 0 ? [] : textsIn(snapshot.resources.get(connection)?.spec['attributes']).toSorted(compareText);
  return new Map(
    [...rulesOn(snapshot, connection)].toSorted().map((rule) => {
      const declared = attached?.has(rule) === true ? (snapshot.declaredAttachments?.({ rule, connection }) ?? nothing) : nothing;
      const edges = attached?.has(rule) === true && declared.length === 0 ? undeclaredEdge : declared;
      const shared = attributes.filter((attribute) => snapshot.rulesByAttribute.get(attribute)?.has(rule) === true);
      return [rule, [...edges, ...shared.map((attribute): Attachment => ({ how: 'attribute', attribute }))]] as const;
    }),
  );
}
