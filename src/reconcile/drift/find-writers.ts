import type { DesiredState } from '../../model/desired.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import type { LiveState } from '../../model/live.ts';
import { liveKeyOf, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { isUuid } from '../diff/resolve-references.ts';

type WriterContext = { readonly desired: DesiredState; readonly live: LiveState; readonly writes: readonly AuditedWrite[] };

/**
 * Finds the writes to each object that a plan changes, and to both ends of each edge; in the order of the log. Of what is gone
 * the gateway's id is known only where the log has it beside the name. What was written before something was made anew was
 * written to something else, which had its name.
 */
export function findWriters(
  { changes, edges }: Pick<Diff, 'changes' | 'edges'>,
  { desired, live: read, writes }: WriterContext,
): ReadonlyMap<ResourceId, readonly AuditedWrite[]> {
  const live = withNames(read, renamesOf(changes));
  const uids = new Map(live.resources.map(({ id, uid }) => [id, uid]));
  const ids = new Set([...changes.map(liveKeyOf), ...edges.flatMap(({ rule, connection }) => [rule, connection])]);
  const byName = new Map<string, AuditedWrite[]>();
  for (const write of writes) {
    for (const name of new Set(write.names)) {
      const key = `${write.kind}/${name}`;
      byName.set(key, [...(byName.get(key) ?? []), write]);
    }
  }
  const named = (kind: string, names: readonly string[]): ReadonlySet<AuditedWrite> =>
    new Set(names.flatMap((name) => byName.get(`${kind}/${name}`) ?? []));
  const found = new Map(
    [...ids].map((id): readonly [ResourceId, ReadonlySet<AuditedWrite>] => {
      const [kind, name, uid] = [kindOf(id), nameOf(id), uids.get(id)];
      const beside = uid === undefined ? [...named(kind, [name])].flatMap(({ names }) => names.filter(isUuid)) : [uid];
      return [id, sinceCreated(named(kind, [name, ...beside]), writes)];
    }),
  );
  const gone = [...ids].filter((id) => !uids.has(id));
  for (const id of gone) {
    const deletion = loneDeletion(id, gone, { desired, live, writes });
    if (deletion !== undefined) found.set(id, new Set([...(found.get(id) ?? []), deletion]));
  }
  return new Map([...found].filter(([, own]) => own.size > 0).map(([id, own]) => [id, writes.filter((write) => own.has(write))]));
}

/** Of the writes that tell a name or an id those to what was made last. */
function sinceCreated(own: ReadonlySet<AuditedWrite>, writes: readonly AuditedWrite[]): ReadonlySet<AuditedWrite> {
  const newestFirst = writes.filter((write) => own.has(write));
  const made = newestFirst.findIndex(({ method }) => method === 'POST');
  return made < 0 ? own : new Set(newestFirst.slice(0, made + 1));
}

/** The one deletion of something that is not live any more, where it can have been nothing but this. */
function loneDeletion(id: ResourceId, gone: readonly ResourceId[], { desired, live, writes }: WriterContext): AuditedWrite | undefined {
  const kind = kindOf(id);
  const there = live.resources.filter((one) => kindOf(one.id) === kind);
  const declared = new Set(desired.resources.map(({ key }) => key));
  // It may have got another name instead.
  if (gone.some((one) => one !== id && kindOf(one) === kind) || there.some((one) => !declared.has(one.id))) return undefined;
  const known = new Set(there.map(({ uid }) => uid));
  const isOfUnknown = (name: string): boolean => isUuid(name) && !known.has(name);
  const deletions = writes.filter((write) => write.kind === kind && write.method === 'DELETE' && write.names.every(isOfUnknown));
  return deletions.length === 1 ? deletions[0] : undefined;
}
