import type { Change } from '../../src/index.ts';
import { declaredEdges, stateOf } from './declared-state.ts';
import { textsOf, type ModelObject, type ModelState } from './gateway-objects.ts';
import type { Finding } from './laws.ts';
import type { Pair } from './pairs.ts';
import { excessOf } from './protection-model.ts';
import type { Run } from './run-pair.ts';
import { worldsOf } from './worlds.ts';

/** Compares the result with held drift with the result of reverting all drift, and that with the manifests. */
export async function judgeHeld(
  pair: Pair,
  { done: { plan, after }, revertAll }: { readonly done: Run; readonly revertAll: () => Promise<Run | undefined> },
  ids: readonly string[],
): Promise<readonly Finding[]> {
  const held = plan.changes.flatMap(({ id, fields }) => fields.filter((field) => field.held === true).map(({ path }) => `${id} ${path}`));
  const edges = plan.edges.filter(({ action }) => action === 'held').map(({ rule, connection }) => `${rule} on ${connection}`);
  const isHeld = held.length + edges.length > 0;
  const other = isHeld ? await revertAll() : { after, failed: [] };
  if (other === undefined) throw new Error('a plan that reverts the drift is not possible');
  if (other.failed.length > 0) return other.failed.map(({ id, message }) => wronglyHeld(id, `the revert fails: ${message ?? ''}`));
  const { after: reverted } = other;
  const wished = wishedState(pair);
  const possible = worldsOf(pair);
  const halves = plan.changes.flatMap(halfHeld);
  return [
    ...halves.map((path): Finding => wronglyHeld(path, 'half of an entry is held')),
    ...ids.flatMap((id) => {
      const excess = excessOf(after, reverted, id, possible);
      const missing = isComparable(wished[id]) ? excessOf(reverted, wished, id, possible) : [];
      return [
        ...(isHeld && excess.length > 0
          ? [wronglyHeld(id, `held ${[...held, ...edges].join(', ')} admits more: ${excess.join(', ')}`)]
          : []),
        ...missing.map((what): Finding => ({
          law: 'protection not reached',
          connection: id,
          why: `${what} admits more than the manifests`,
        })),
      ];
    }),
  ];
}

/** Returns whether a plan can reach what the manifests ask for: a managed connection stays as it is. */
function isComparable(wished: ModelObject | undefined): boolean {
  return wished !== undefined && wished.managedBy === undefined;
}

function wronglyHeld(connection: string, why: string): Finding {
  return { law: 'wrongly held', connection, why };
}

/** Lists the entries of a rule of which one drift is held and another is reverted. */
function halfHeld({ id, fields }: Change): readonly string[] {
  const drifted = fields.filter(({ origin }) => origin === 'drift');
  const entries = new Map<string, Set<boolean>>();
  for (const { path, held } of drifted) {
    const [, side = '', list = '', name = ''] = path.split('/');
    const entry = side === 'input' || side === 'output' ? [id, side, list, name] : [id, side, list];
    if (side !== 'input' && side !== 'output' && side !== 'custom_entity_types') continue;
    const key = entry.join('/');
    entries.set(key, (entries.get(key) ?? new Set()).add(held === true));
  }
  return [...entries].flatMap(([key, states]) => (states.size > 1 ? [key] : []));
}

const kept = ['min_review_approvals', 'mandatory_metadata_fields', 'attributes'];

/**
 * Returns the gateway that the manifests ask for: an omitted field that a manifest keeps, an ignored one, a managed object and
 * an unmanaged one are as they are live.
 */
function wishedState(pair: Pair): ModelState {
  const live = new Map<string, ModelObject>(pair.live.map((one) => [one.id, one]));
  const declared = stateOf(pair.manifests).map((one, index): ModelObject => {
    const found = live.get(formerOf(pair, one.id, index));
    if (found?.managedBy !== undefined) return found;
    const ignored = textsOf(pair.manifests[index]?.metadata['ignore']).map((path) => path.slice(1));
    const own = kept.filter((name) => one.spec?.[name] === undefined);
    // An ignored value that a manifest gives is for the creation.
    const inherited = [...own, ...(pair.predecessors[one.id] === undefined && found !== undefined ? ignored : [])];
    const spec = Object.fromEntries(inherited.flatMap((name) => (found?.spec?.[name] === undefined ? [] : [[name, found.spec[name]]])));
    return { ...one, spec: { ...one.spec, ...spec } };
  });
  const [applied, now] = [declaredEdges(pair.base ?? []), declaredEdges(pair.manifests)];
  const others = pair.live
    .filter(({ id }) => pair.unmanaged.includes(id))
    .map(({ edges, ...one }): ModelObject => {
      const ends = (edges?.['connection_ids'] ?? []).filter((end) => !applied.has(`${one.id} ${end}`) || now.has(`${one.id} ${end}`));
      return { ...one, edges: { connection_ids: ends } };
    });
  return Object.fromEntries([...declared, ...others].map((one) => [one.id, one]));
}

/** Returns the id under which an object is live: a successor has the fields of its predecessor, a renamed rule those of the former name. */
function formerOf({ manifests, predecessors, live }: Pair, id: string, index: number): string {
  const former = manifests[index]?.metadata['renamedFrom'];
  const renamed = typeof former === 'string' ? `GuardrailRule/${former}` : id;
  return predecessors[id] ?? (live.some((one) => one.id === id) ? id : renamed);
}
