import type { PolicyReport } from '../../model/protection/policy.ts';
import type { EdgeAction, EdgeChange, Orphan, Plan, OutsideReference } from '../../model/plan/plan.ts';
import { nameOf } from '../../model/resource.ts';
import { exposureWindowText } from '../../model/plan/schedule.ts';
import { edgeText, removalText, risksText } from './change-rows.ts';
import { plural } from '../wording/counts.ts';
import { escapeTerminal } from '../escape.ts';
import { pathText } from '../wording/value.ts';

/** A list below the changes: objects that a plan skips, or side effects. */
export type SideList = { readonly title: string; readonly entries: readonly string[] };

const edgeTitles: Readonly<Record<Exclude<EdgeAction, 'held'>, (edges: string) => string>> = {
  attach: (edges) => `${edges} to attach`,
  detach: (edges) => `${edges} to detach`,
  blocked: (edges) => `${edges} blocked: an end is managed by somebody else`,
  foreign: (edges) => `${edges} not ours: carried by every write, never removed`,
};

/** Returns the lists below the changes: attachments that no change writes, orphans, unmanaged, unwatched and unverified objects. */
export function sideLists(plan: Plan, others: readonly EdgeChange[]): readonly SideList[] {
  const actions = ['attach', 'detach', 'blocked', 'foreign'] as const;
  const gone = new Set(plan.changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  const orphans = plan.orphans.filter(({ id }) => !gone.has(id));
  const left = new Set(orphans.map(({ id }) => id));
  const isLeft = ({ rule, connection, action }: EdgeChange): boolean => action === 'foreign' && (left.has(rule) || left.has(connection));
  const edges = actions.map((action) => {
    const entries = others.filter((edge) => edge.action === action && !isLeft(edge)).map(edgeText);
    return { title: edgeTitles[action](plural(entries.length, 'edge')), entries };
  });
  const ofOrphans = others.filter(isLeft).map(edgeText);
  const lists = [
    ...edges,
    {
      title: `${plural(orphans.length, 'orphan')}: in no manifest any more${pruneText(orphans)}`,
      entries: orphans.map(orphanText),
    },
    { title: `${plural(ofOrphans.length, 'edge')} of orphans: kept until those are deleted`, entries: ofOrphans },
    { title: `${plan.unmanaged.length} unmanaged: live, in no manifest, never touched`, entries: plan.unmanaged.map(escapeTerminal) },
    {
      title: `${plan.unwatched.length} unwatched: live protection that no manifest states`,
      entries: plan.unwatched.map(({ id, path }) => `${escapeTerminal(id)} ${pathText(path)}`),
    },
    {
      title: `${plural(plan.unverified.length, 'secret')} unverified: not read, the source is as before`,
      entries: plan.unverified.map(({ id, path }) => `${escapeTerminal(id)} ${pathText(path)}`),
    },
  ];
  const open = plan.refusals.some(({ code }) => code === 'plan/window') ? [] : plan.singleWrites.flatMap(({ windows }) => windows);
  const windows = {
    title: `${plural(open.length, 'window')}: less protected than before and after, for a moment`,
    entries: open.map((window) => escapeTerminal(exposureWindowText(window))),
  };
  const references = {
    title: `${plan.references.length} not ours: on what is replaced, and not on what takes its place`,
    entries: plan.references.map(referenceText),
  };
  const unwritten = plan.unwritten.flatMap(({ id, risks }) => {
    const text = risksText(risks);
    return text === '' ? [] : [escapeTerminal(`${id}: ${text}`)];
  });
  const told = { title: `${plural(unwritten.length, 'manifest')} with nothing to write, but not as before`, entries: unwritten };
  const waived = waivedTexts(plan.policies);
  const passed = { title: `${waived.length} waived: policies that let it pass for a while`, entries: waived };
  return [windows, references, told, passed, ...lists].filter((list) => list.entries.length > 0);
}

/** Returns the advice that `--prune` deletes the orphans that are not kept. */
function pruneText(orphans: readonly Orphan[]): string {
  const going = orphans.filter(({ kept }) => kept === undefined).length;
  if (going === 0) return '';
  return `; --prune deletes ${going < orphans.length ? 'the others' : going === 1 ? 'it' : 'them'}`;
}

function referenceText({ replaces, sort, name, how }: OutsideReference): string {
  const subject = name === undefined ? `perhaps ${sort}s` : `${sort} "${name}"`;
  return escapeTerminal(`${subject} on ${nameOf(replaces)}${how === '' ? '' : ` (${how})`}`);
}

function orphanText(orphan: Orphan): string {
  const { id, kept } = orphan;
  const notes = [removalText(orphan), kept === undefined ? '' : escapeTerminal(`stays: ${kept}`)].filter((note) => note !== '');
  return notes.length === 0 ? escapeTerminal(id) : `${escapeTerminal(id)} (${notes.join('; ')})`;
}

/** Returns the findings that waivers suppress, escaped. */
function waivedTexts(report: PolicyReport | undefined): readonly string[] {
  return (report?.waived ?? []).map(({ policy, connection, until, reason }) =>
    escapeTerminal(`${connection}: ${policy}, until ${until} (${reason})`),
  );
}
