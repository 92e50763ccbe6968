import { compareText } from '../model/json.ts';
import type { Attachment } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { rulesOn, textsOf, type Scene } from './scene.ts';

/** An edge of which no known manifest speaks: it is there, and nobody can tell how it came. */
const edgeAlone: readonly Attachment[] = [{ how: 'edge' }];
const nothing: readonly Attachment[] = [];

/** The rules on a connection with all that attaches each: edges, as the manifests of the scene declare them, and attributes that both have. */
export function attachmentsOn(scene: Scene, connection: ResourceId): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const tied = scene.edges.get(connection);
  const attributes = scene.attributed.size === 0 ? [] : textsOf(scene.facts.get(connection)?.spec['attributes']).toSorted(compareText);
  return new Map(
    [...rulesOn(scene, connection)].toSorted().map((rule) => {
      const ways = tied?.has(rule) === true ? (scene.declaring?.({ rule, connection }) ?? nothing) : nothing;
      const edges = tied?.has(rule) === true && ways.length === 0 ? edgeAlone : ways;
      const shared = attributes.filter((attribute) => scene.attributed.get(attribute)?.has(rule) === true);
      return [rule, [...edges, ...shared.map((attribute): Attachment => ({ how: 'attribute', attribute }))]] as const;
    }),
  );
}
