import { textsOf, type ModelObject } from './gateway-objects.ts';
import type { Finding } from './laws.ts';
import type { Pair } from './pairs.ts';
import type { Run } from './run-pair.ts';
import { declaredEdges } from './declared-state.ts';

/** Checks that a plan leaves alone what is not its own: managed and unmanaged objects, ignored fields, and their attachments. */
export function judgeUntouched(pair: Pair, { before, after, plan }: Run): readonly Finding[] {
  const foreign = Object.values(before).filter(({ id, managedBy }) => isManaged(managedBy) || pair.unmanaged.includes(id));
  const written = foreign.filter(({ id, spec, secrets }) => {
    const now = after[id];
    return JSON.stringify([spec, secrets]) !== JSON.stringify([now?.spec, now?.secrets]);
  });
  const renames = new Map<string, string>(plan.changes.flatMap(({ id, key }) => (key === undefined ? [] : [[key, id]])));
  const ignored = pair.manifests.flatMap(({ kind, metadata }) => {
    const id = `${kind}/${metadata.name}`;
    const [had, has] = [before[id], after[id]];
    if (had === undefined || has === undefined) return [];
    const paths = textsOf(metadata['ignore']).map((path) => path.slice(1));
    return paths.filter((path) => JSON.stringify(had.spec?.[path]) !== JSON.stringify(has.spec?.[path])).map((path) => `${id} ${path}`);
  });
  return [
    ...written.map(({ id }) => finding(id, 'it is managed or unmanaged, and it was written')),
    ...ignored.map((path) => finding(path, 'it is ignored, and it was written')),
    ...lostEdges(pair, { before, after, renames }).map((edge) => finding(edge, 'an attachment that is not ours was lost')),
  ];
}

function finding(connection: string, why: string): Finding {
  return { law: 'not ours to write', connection, why };
}

function isManaged(managedBy: string | undefined): boolean {
  return managedBy !== undefined && managedBy !== '';
}

type States = Pick<Run, 'before' | 'after'> & { readonly renames: ReadonlyMap<string, string> };

/** Lists attachments that a plan removed, although no manifest declared them and one end is not ours. */
function lostEdges(pair: Pair, { before, after, renames }: States): readonly string[] {
  const declared = declaredEdges(pair.base ?? []);
  const isForeign = ({ id, managedBy }: Pick<ModelObject, 'id' | 'managedBy'>): boolean =>
    isManaged(managedBy) || pair.unmanaged.includes(id);
  return Object.values(before).flatMap((rule) =>
    (rule.edges?.['connection_ids'] ?? []).flatMap((id) => {
      const connection = before[id];
      if (connection === undefined || rule.id.startsWith('Connection/') || declared.has(`${rule.id} ${id}`)) return [];
      const now = after[rule.id] ?? after[renames.get(rule.id) ?? ''];
      const isGone = now === undefined || after[id] === undefined;
      return isGone || !(isForeign(rule) || isForeign(connection)) || now.edges?.['connection_ids']?.includes(id) === true
        ? []
        : [`${rule.id} on ${id}`];
    }),
  );
}
