import { asObject, asText, type Json, objectsIn } from '../../src/model/json.ts';

/** What a drift shows, by object: the paths of fields, `edges` for attachments, or that the object is new or gone. */
export type ShownDrift = ReadonlyMap<string, readonly string[]>;

/** Returns what a drift report shows. */
export function shownDrift(report: Json): ShownDrift {
  const [drift] = objectsIn(asObject(report)['drifts']);
  const plan = asObject(drift?.['plan']);
  const shown = new Map<string, string[]>();
  const add = (id: string, path: string): void => {
    shown.set(id, [...(shown.get(id) ?? []), path]);
  };
  for (const one of [...objectsIn(plan['changes']), ...objectsIn(asObject(plan['outside'])['changes'])]) {
    const id = asText(one['liveId']) || asText(one['id']);
    const happened = asText(one['happened']) || asText(one['action']);
    add(id, happened);
    for (const { path } of objectsIn(one['fields'])) add(id, asText(path));
  }
  for (const edge of objectsIn(plan['edges'])) for (const end of ['rule', 'connection']) add(asText(edge[end]), 'edges');
  return shown;
}

/** Returns whether a drift shows a path of an object. */
export function isShown(drift: ShownDrift, id: string, path: string): boolean {
  return (drift.get(id) ?? []).some((one) => one === path || one.startsWith(`${path}/`));
}
