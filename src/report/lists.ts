import type { EdgeAction, Orphan, Plan } from '../model/plan.ts';
import { windowText } from '../model/window.ts';
import { edgeText, type EdgeGroups } from './change-rows.ts';
import { plural } from './counts.ts';
import { escapeTerminal } from './escape.ts';
import { pathText } from './value.ts';

/** Something a plan leaves alone, or does beside its changes: a sentence, and what it speaks of. */
export type SideList = { readonly title: string; readonly entries: readonly string[] };

const edgeTitles: Readonly<Record<EdgeAction, (edges: string) => string>> = {
  attach: (edges) => `${edges} to attach`,
  detach: (edges) => `${edges} to detach`,
  blocked: (edges) => `${edges} blocked: an end is managed by somebody else`,
  held: (edges) => `${edges} held: removing would weaken what is live`,
  foreign: (edges) => `${edges} not ours: carried by every write, never removed`,
};

/** What is said below the changes, shortly: edges that no change writes, orphans, the unmanaged and the unwatched. */
export function sideListsOf(plan: Plan, groups: EdgeGroups): readonly SideList[] {
  const actions = ['attach', 'detach', 'blocked', 'held', 'foreign'] as const;
  const edges = actions.map((action) => {
    const entries = groups.others.filter((edge) => edge.action === action).map(edgeText);
    return { title: edgeTitles[action](plural(entries.length, 'edge')), entries };
  });
  const lists = [
    ...edges,
    {
      title: `${plural(plan.orphans.length, 'orphan')}: in no manifest any more`,
      entries: plan.orphans.map(orphanText),
    },
    { title: `${plan.unmanaged.length} unmanaged: live, in no manifest, never touched`, entries: plan.unmanaged.map(escapeTerminal) },
    {
      title: `${plan.unwatched.length} unwatched: live protection that no manifest states`,
      entries: plan.unwatched.map(({ id, path }) => `${escapeTerminal(id)} ${pathText(path)}`),
    },
  ];
  const open = plan.refusals.some(({ code }) => code === 'plan/window') ? [] : (plan.once ?? []).flatMap(({ windows }) => windows);
  const windows = {
    title: `${plural(open.length, 'window')}: less protected than before and after, for a moment`,
    entries: open.map((window) => escapeTerminal(windowText(window))),
  };
  return [windows, ...lists].filter((list) => list.entries.length > 0);
}

function orphanText({ id, removedIn, kept }: Orphan): string {
  const notes = [
    ...(removedIn === undefined ? [] : [`since ${removedIn.slice(0, 12)}`]),
    ...(kept === undefined ? [] : [`stays: ${kept}`]),
  ];
  return escapeTerminal(notes.length === 0 ? id : `${id} (${notes.join('; ')})`);
}

/** The first entries of a list, and how many more there are. */
export function shortList(entries: readonly string[], most: number): readonly string[] {
  if (entries.length <= most) return entries;
  return [...entries.slice(0, most), `and ${entries.length - most} more`];
}
