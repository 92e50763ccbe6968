import { describe, expect, it } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { resolveEdges } from '../../../src/model/edge-ends.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import type { ResourceId } from '../../../src/model/resource.ts';
import { desiredOf, edgeOf, liveOf, stateOf } from '../../support/resources.ts';

const [rule, db] = ['GuardrailRule/rule', 'Connection/db'] as const;
const uid = '0000000a-0000-4000-8000-00000000000a';
const other = '0000000b-0000-4000-8000-00000000000b';

type Case = {
  readonly end: ResourceId;
  readonly live?: readonly LiveResource[];
  readonly hidden?: readonly ResourceId[];
  readonly renames?: ReadonlyMap<ResourceId, ResourceId>;
};

/** Returns the connection that an end names, of an edge of a declared rule. */
function connectionOf({ end, live = [], hidden = [], renames }: Case): ResourceId | undefined {
  const desired = { resources: [desiredOf(rule)], unselected: [] };
  const names = { desired, live: { ...stateOf(liveOf(rule), ...live), hidden }, registry, ...(renames === undefined ? {} : { renames }) };
  return resolveEdges([edgeOf(rule, end)], names)[0]?.connection;
}

describe('the end of an edge', () => {
  it.each<[string, Case, ResourceId]>([
    ['is a name', { end: db, live: [liveOf(db)] }, db],
    ['is the ID of a live object', { end: `Connection/${uid}`, live: [liveOf(db, { uid })] }, db],
    ['is its ID in capital letters', { end: `Connection/${uid.toUpperCase()}`, live: [liveOf(db, { uid })] }, db],
    [
      'is an ID that the gateway lists in capital letters',
      { end: `Connection/${uid}`, live: [liveOf(db, { uid: uid.toUpperCase() })] },
      db,
    ],
    [
      'is an ID, even if another object has it as its name',
      { end: `Connection/${uid}`, live: [liveOf(db, { uid }), liveOf(`Connection/${uid}`, { uid: other })] },
      db,
    ],
    [
      'is the name of an object that no other has as its ID',
      { end: `Connection/${uid}`, live: [liveOf(`Connection/${uid}`, { uid: other })] },
      `Connection/${uid}`,
    ],
    [
      'is the ID of an object that no list shows',
      { end: `Connection/${uid.toUpperCase()}`, hidden: [`Connection/${uid}`] },
      `Connection/${uid}`,
    ],
    [
      'is an ID that the same live edge has, although no list shows its object',
      { end: `Connection/${uid.toUpperCase()}`, live: [liveOf(rule, { edges: { connection_ids: [`Connection/${uid}`] } })] },
      `Connection/${uid}`,
    ],
    ['is a former name', { end: 'Connection/old', live: [liveOf(db)], renames: new Map([['Connection/old', db]] as const) }, db],
    ['stays when it names nothing', { end: `Connection/${uid.toUpperCase()}`, live: [liveOf(db)] }, `Connection/${uid.toUpperCase()}`],
  ])('%s', (_, given, expected) => {
    expect(connectionOf(given)).toBe(expected);
  });

  it('makes one edge of two that name the same objects, with the declarations of both', () => {
    const names = { desired: { resources: [desiredOf(rule)], unselected: [] }, live: stateOf(liveOf(db, { uid })), registry };
    const edges = resolveEdges([edgeOf(rule, db), edgeOf(rule, `Connection/${uid}`)], names);
    expect(edges.map(({ rule: one, connection, declarations }) => [one, connection, declarations.map(({ path }) => path)])).toEqual([
      [rule, db, ['/connection_ids/db', `/connection_ids/${uid}`]],
    ]);
  });
});
