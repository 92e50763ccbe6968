import type * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import { accessDrawing, declaredNames, type AccessDrawing, type DrawnAccess, type UnreadList } from './access-drawing.ts';
import { accessPools } from './access-pools.ts';
import type { AccessState } from './access-model.ts';
import type { Side, Sides } from './pair-fields.ts';

/** The manifests that were applied, the manifests now, and a public gateway with objects that only an admin makes. */
export type AccessPair = {
  /** Absent where nothing is known about earlier applies. */
  readonly base: readonly Manifest[] | undefined;
  readonly manifests: readonly Manifest[];
  /** The connections as they are on the gateway. */
  readonly live: readonly Manifest[];
  readonly prune: boolean;
  readonly unread: UnreadList | undefined;
  /** The name of the predecessor by the name of its successor. */
  readonly predecessors: Readonly<Record<string, string>>;
  /** What only the gateway has. */
  readonly objects: Omit<AccessState, 'connections'>;
};

/** Generates projects of one to four connections on a public gateway, with changes in the manifests, on the gateway, or both. */
export const accessPairs: fc.Arbitrary<AccessPair> = accessDrawing.map(pairOf);

function pairOf(drawn: AccessDrawing): AccessPair {
  const isReplacing = drawn.replaces === true && drawn.scenario !== 'drift';
  const on = (side: Side): readonly Manifest[] =>
    drawn.connections.flatMap((one, index) => connectionOn(one, declaredNames[index] ?? '', { side, drawn, isReplacing }));
  const live = on('live');
  const isLive = live.some(({ metadata }) => metadata.name === 'orders');
  const { license, runbookRules, analyzers, machines } = drawn;
  const rules = license === 'free' ? drawn.rules.slice(0, 1) : drawn.rules;
  return {
    base: drawn.scenario === 'first' ? undefined : on('base'),
    manifests: on('desired'),
    live,
    prune: drawn.prune,
    unread: drawn.unread,
    predecessors: isReplacing && isLive ? { successor: 'orders' } : {},
    objects: {
      license,
      rules,
      runbookRules,
      // An analyzer rule names an access-request rule that exists.
      analyzers: rules.length === 0 ? [] : analyzers,
      machines,
      rows: drawn.rows === undefined ? undefined : byName(accessPools.connections, drawn.rows),
      granted: byName(accessPools.attributes, drawn.granted),
    },
  };
}

function byName<Value>(names: readonly string[], values: readonly (Value | undefined)[]): Readonly<Record<string, Value>> {
  const entries = names.flatMap((name, index) => {
    const value = values[index];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

type SideContext = { readonly side: Side; readonly drawn: AccessDrawing; readonly isReplacing: boolean };

/** The value of a side: its own where the scenario lets the side differ. */
function valueOn<Value>({ side, drawn: { scenario } }: SideContext, value: Sides<Value>): Value {
  const differs = side === 'desired' ? scenario !== 'drift' : side === 'live' ? ['drift', 'both', 'accepted'].includes(scenario) : false;
  const given = side === 'base' ? undefined : value[scenario === 'accepted' ? 'desired' : side];
  return differs && given !== undefined ? given : value.base;
}

function connectionOn({ fields, present }: DrawnAccess, name: string, context: SideContext): readonly Manifest[] {
  const isSuccessor = name === 'orders' && context.side === 'desired' && context.isReplacing;
  // A new connection is in no manifest that was applied, unless it was made by hand as the manifests have it.
  if (!isSuccessor && !valueOn(context, present)) return [];
  const own: Record<string, Json> = {};
  for (const [field, value] of Object.entries(fields)) {
    const found = valueOn(context, value);
    if (found !== undefined) own[field] = found;
  }
  const metadata = isSuccessor ? { name: 'successor', replaces: name } : { name };
  const type = own['subtype'] === 'ssh' ? { type: 'application' } : {};
  return [{ kind: 'Connection', metadata, spec: { ...needed, ...own, ...type } }];
}

const needed: JsonObject = { type: 'database', subtype: 'postgres', agent_id: 'default', command: ['psql'], access_schema: 'disabled' };

/** Prints a pair with one line for each object. */
export function accessPairText({ base, manifests, live, objects, ...rest }: AccessPair): string {
  return [
    `base ${base === undefined ? 'none' : linesOf(base)}`,
    `manifests ${linesOf(manifests)}`,
    `live ${linesOf(live)}`,
    ...Object.entries(objects).map(([name, value]) => `${name} ${JSON.stringify(value)}`),
    JSON.stringify(rest),
  ].join('\n');
}

function linesOf(list: readonly Manifest[]): string {
  return list.map(({ metadata, spec }) => `\n  ${metadata.name} ${shortened({ ...spec, ...metadata })}`).join('');
}

function shortened(spec: JsonObject): string {
  const shown = Object.entries(spec).filter(([field]) => field !== 'name' && !(field in needed));
  return JSON.stringify(Object.fromEntries(shown));
}

/** Returns a manifest as it can have been applied: while access control is off, no apply has granted groups. */
export function withoutRow(one: Manifest, rows: AccessPair['objects']['rows']): Manifest {
  if (rows !== undefined) return one;
  const { access_groups: _, ...spec } = one.spec;
  return { ...one, spec };
}
