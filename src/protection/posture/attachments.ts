import { compareText } from '../../model/json.ts';
import type { Attachment } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import { rulesOn, textsIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** An edge of which no known manifest speaks: it is there, and nobody can tell how it came. */
const undeclaredEdge: readonly Attachment[] = [{ how: 'edge' }];
const nothing: readonly Attachment[] = [];

/** The rules on a connection with all that attaches each: edges, as the manifests of the scene declare them, and attributes that both have. */
export function attachmentsOn(scene: ProtectionSnapshot, connection: ResourceId): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const tied = scene.edges.get(connection);
  const attributes =
    scene.rulesByAttribute.size === 0 ? [] : textsIn(scene.resources.get(connection)?.spec['attributes']).toSorted(compareText);
  return new Map(
    [...rulesOn(scene, connection)].toSorted().map((rule) => {
      const ways = tied?.has(rule) === true ? (scene.declaredAttachments?.({ rule, connection }) ?? nothing) : nothing;
      const edges = tied?.has(rule) === true && ways.length === 0 ? undeclaredEdge : ways;
      const shared = attributes.filter((attribute) => scene.rulesByAttribute.get(attribute)?.has(rule) === true);
      return [rule, [...edges, ...shared.map((attribute): Attachment => ({ how: 'attribute', attribute }))]] as const;
    }),
  );
}
