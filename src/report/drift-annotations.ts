import type { Drift } from '../model/result/drift.ts';
import type { Annotation } from './annotations.ts';
import { driftRows } from './subjects/drift.ts';
import { shortList } from './wording/counts.ts';

/** What somebody changed by hand as annotations, each at the manifest that says otherwise. */
export function driftAnnotations(drift: Drift): readonly Annotation[] {
  return driftRows(drift).map(({ change, note, rows, edges, writers }) => {
    const fields = shortList([...new Set([...rows.map(({ label }) => label), ...edges.map(({ sign, text }) => `${sign} ${text}`)])], 8);
    const said = [note, ...fields, ...writers.slice(0, 1)].filter((text) => text !== '');
    return {
      severity: change.action === 'blocked' ? 'notice' : 'warning',
      title: `drift ${change.id}`,
      message: said.join(', ') || `${change.id} was changed on the gateway`,
      ...(change.at === undefined ? {} : { at: change.at }),
    };
  });
}
