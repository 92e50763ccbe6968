import { addToGroup } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';
import { type ExposureWindow, liveKeyOf, otherEnd, type SingleWrite } from '../../model/plan/plan.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { type Effect, isRule, specDirection } from './effects.ts';

/** One connection that is exposed between the writes of two changes, or of one that the gateway saves in two transactions. */
export type Exposure = { readonly connection: ResourceId; readonly from: Effect; readonly until: Effect };

type WindowOptions = {
  /** Live specs, by the id after the plan. */
  readonly specs: ReadonlyMap<ResourceId, Spec>;
  readonly alike: (first: ResourceId) => readonly ResourceId[];
  readonly indivisible: ReadonlyMap<ResourceId, string>;
  /** The changes that would be written in two forms. */
  readonly wanted: ReadonlySet<ResourceId>;
};

/** Returns the changes that leave a connection exposed, with the windows, and those that the gateway accepts only as one write; sorted by id. */
export function singleWritesOf(exposures: readonly Exposure[], options: WindowOptions): readonly SingleWrite[] {
  const { indivisible, wanted } = options;
  const isSingle = ({ change, kind }: Effect): boolean => isRule(kind) && (indivisible.has(change.id) || wanted.has(change.id));
  const byId = new Map<ResourceId, Exposure[]>([...wanted].flatMap((id) => (indivisible.has(id) ? [[id, []]] : [])));
  for (const one of exposures) addToGroup(byId, (isSingle(one.from) || !isSingle(one.until) ? one.from : one.until).change.id, one);
  return [...byId]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([id, own]): SingleWrite => {
      const why = indivisible.get(id);
      return { id, ...(why === undefined ? {} : { why }), windows: groupWindows(own, options) };
    });
}

/** Groups connections with the same exposure into one window. */
function groupWindows(open: readonly Exposure[], { specs, alike }: WindowOptions): readonly ExposureWindow[] {
  const windows = new Map<string, { readonly window: Omit<ExposureWindow, 'connections'>; readonly connections: Set<ResourceId> }>();
  for (const { connection, from, until } of open) {
    const window = {
      from: from.change.id,
      lost: pathsOf(from, connection, { side: 'weakens', specs }),
      until: until.change.id,
      missing: pathsOf(until, connection, { side: 'strengthens', specs }),
    };
    const key = JSON.stringify(window);
    const known = windows.get(key) ?? { window, connections: new Set() };
    for (const member of alike(connection)) known.connections.add(member);
    windows.set(key, known);
  }
  return [...windows]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, { window, connections }]) => ({ ...window, connections: [...connections].toSorted(compareText) }));
}

type PathOptions = Pick<WindowOptions, 'specs'> & { readonly side: 'strengthens' | 'weakens' };

/** Returns the fields by which a change strengthens or weakens, and the field of its edges if it attaches or detaches the connection. */
function pathsOf({ change, kind, edges }: Effect, connection: ResourceId, { side, specs }: PathOptions): readonly Pointer[] {
  const before = specs.get(liveKeyOf(change)) ?? {};
  const fields = change.fields.filter((field) => {
    const after = specAfter({ ...change, fields: [field] }, kind, before);
    return specDirection(kind, liveKeyOf(change), { before, after })[side];
  });
  const action = side === 'strengthens' ? 'attach' : 'detach';
  const isAttachment = edges.some(
    (edge) => edge.action === action && (liveKeyOf(change) === connection || otherEnd(edge, liveKeyOf(change)) === connection),
  );
  const ends = kind.fields.filter((field) => field.edge !== undefined && isAttachment).map((field) => pointer(field.name));
  return [...fields.map(({ path }) => path), ...ends];
}
