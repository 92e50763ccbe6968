import { declaredEdges } from './declared-state.ts';
import { textsOf, type ModelState } from './gateway-objects.ts';
import type { Pair } from './pairs.ts';
import type { Run } from './run-pair.ts';

type Context = { readonly pair: Pair; readonly run: Run; readonly connections: readonly string[] };

/** What a pair can exercise. Each of these has to occur often enough, so that no law holds only because nothing tests it. */
const tests: Readonly<Record<string, (context: Context) => boolean>> = {
  'a limit against the reported one': ({ pair, run, connections }) => pair.reportsLimit && connections.some((id) => hasOneLimit(run, id)),
  'a limit against an unknown one': ({ pair, run, connections }) => !pair.reportsLimit && connections.some((id) => hasOneLimit(run, id)),
  'the number of approvals': (context) => isChanged(context, 'min_review_approvals'),
  reviewers: (context) => isChanged(context, 'reviewers'),
  'a subtype': (context) => isChanged(context, 'subtype'),
  attributes: (context) => isChanged(context, 'attributes'),
  'custom entity types': (context) => isChanged(context, 'custom_entity_types', 'DataMaskingRule'),
  'a manifest for a rule that was attached outside Ostiary': ({ pair, run }) =>
    attachedOutside(pair, run).some(([rule]) => !pair.unmanaged.includes(rule)),
  'no manifest for a rule that was attached outside Ostiary': ({ pair, run }) =>
    attachedOutside(pair, run).some(([rule]) => pair.unmanaged.includes(rule)),
  'a rule on an unmanaged connection': ({ pair, run }) =>
    pair.unmanaged.some(
      (id) => id.startsWith('Connection/') && run.plan.protection.connections.some(({ connection }) => connection === id),
    ),
  'a managed connection': (context) => isBlocked(context, 'Connection'),
  'a managed rule': (context) => isBlocked(context, 'GuardrailRule') || isBlocked(context, 'DataMaskingRule'),
  'a credential that goes elsewhere': (context) => hasRisk(context, /^risk\/.*-rerouted$/),
  'a source that is used again': (context) => hasRisk(context, /^risk\/secret-reused$/),
  'an ignored field that differs': ({ pair, run }) => pair.manifests.some((manifest) => ignoresDifference(manifest, run.before)),
  'a new ignored field': (context) => hasRisk(context, /^risk\/ignore-added$/),
  'a replaced connection': ({ pair, run }) => replaced(pair, run, 'Connection/successor'),
  'a replaced connection with secrets': ({ pair, run }) =>
    replaced(pair, run, 'Connection/successor') && Object.keys(run.after['Connection/successor']?.secrets ?? {}).length > 0,
  'a replaced masking rule': ({ pair, run }) => replaced(pair, run, 'DataMaskingRule/mask-next'),
  'a replaced object that is pruned': ({ pair, run }) =>
    Object.values(pair.predecessors).some((id) => run.before[id] !== undefined && run.after[id] === undefined),
  'a renamed rule': ({ run }) => run.plan.changes.some(({ action }) => action === 'rename'),
  'access-request rules that cannot be read': ({ pair, run }) => !pair.readsAccess && run.plan.changes.length > 0,
  'a deletion': ({ run }) => run.plan.changes.some(({ action }) => action === 'delete'),
  'an interrupted creation': ({ pair, run }) => pair.untouched.some((id) => run.before[id] !== undefined && run.after[id] !== undefined),
  'held drift': ({ run }) => run.plan.changes.some(({ fields }) => fields.some(({ held }) => held === true)),
  'a held attachment': ({ run }) => run.plan.edges.some(({ action }) => action === 'held'),
};

/** Lists all that a pair can exercise. */
export const features: readonly string[] = Object.keys(tests);

/** Lists what a pair exercised. */
export function featuresOf(pair: Pair, run: Run): readonly string[] {
  const connections = Object.keys(run.after).filter((id) => id.startsWith('Connection/'));
  return features.filter((name) => tests[name]?.({ pair, run, connections }) === true);
}

function hasOneLimit({ before, after }: Run, id: string): boolean {
  const [had, has] = [before[id]?.spec, after[id]?.spec];
  return had !== undefined && typeof had['access_max_duration'] !== typeof has?.['access_max_duration'];
}

function isChanged({ run: { before, after } }: Context, field: string, kind = 'Connection'): boolean {
  return Object.keys(after).some((id) => {
    const had = before[id]?.spec;
    return (
      id.startsWith(`${kind}/`) &&
      had !== undefined &&
      JSON.stringify(had[field] ?? null) !== JSON.stringify(after[id]?.spec?.[field] ?? null)
    );
  });
}

function isBlocked({ run }: Context, kind: string): boolean {
  return run.plan.changes.some(({ id, action }) => action === 'blocked' && id.startsWith(`${kind}/`));
}

function hasRisk({ run: { plan } }: Context, code: RegExp): boolean {
  return [...plan.changes, ...plan.unwritten].some(({ risks }) => risks.some((risk) => code.test(risk.code)));
}

/** Lists the attachments that no applied manifest declares, as rule and connection. */
function attachedOutside({ base, live }: Pair, { before }: Run): readonly (readonly [string, string])[] {
  const declared = declaredEdges(base ?? []);
  return live.flatMap(({ id }) =>
    (id.startsWith('Connection/') ? [] : (before[id]?.edges?.['connection_ids'] ?? [])).flatMap((end) =>
      base === undefined || declared.has(`${id} ${end}`) ? [] : [[id, end] as const],
    ),
  );
}

function ignoresDifference({ kind, metadata, spec }: Pair['manifests'][number], before: ModelState): boolean {
  const found = before[`${kind}/${metadata.name}`]?.spec;
  const paths = textsOf(metadata['ignore']).map((path) => path.slice(1));
  return found !== undefined && paths.some((path) => JSON.stringify(found[path]) !== JSON.stringify(spec[path]));
}

function replaced({ predecessors }: Pair, { before, after }: Run, id: string): boolean {
  return predecessors[id] !== undefined && before[id] === undefined && after[id] !== undefined;
}
