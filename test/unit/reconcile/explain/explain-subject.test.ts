import { describe, expect, it } from 'vitest';
import type { BaseState, DeclaredEdge, DesiredResource } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { desiredOf, edgeOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';
import { explainCase, id, rule, type Case } from './explain-fixtures.ts';

function baseOf(
  resources: readonly DesiredResource[],
  edges: readonly DeclaredEdge[] = [],
  removedIn: BaseState['removedIn'] = new Map(),
): BaseState {
  return { commit: 'a'.repeat(40), desired: wantedOf(resources, edges), removedIn };
}

const open = { access_mode_connect: 'enabled' };
const reviewed = { ...open, reviewers: ['dba'] };

/** Base, manifest and gateway of one connection. */
function sides(base: JsonObject, desired: JsonObject, live: JsonObject): Case {
  return { base: baseOf([desiredOf(id, { spec: base })]), desired: desiredOf(id, { spec: desired }), live: liveOf(id, { spec: live }) };
}

describe('the last applied value', () => {
  it('is listed with the desired and the live value', () => {
    const explanation = explainCase({ ...sides({ type: 'a' }, { type: 'b' }, { type: 'a' }), field: 'type' });
    expect(explanation).toMatchObject({
      base: 'a'.repeat(40),
      summary: 'apply updates it: 1 changed in the manifests',
      rows: [
        {
          path: '/type',
          desired: { value: 'b' },
          live: { value: 'a' },
          base: { value: 'a' },
          origin: 'intent',
          why: 'declared in the manifest; intent: the manifests changed it since the last apply',
        },
      ],
    });
    expect(explainCase({ live: liveOf(id), field: 'type' })).not.toHaveProperty('base');
  });

  it.each<[string, JsonObject, JsonObject, JsonObject, string]>([
    ['drift', { type: 'a' }, { type: 'a' }, { type: 'b' }, 'drift: changed outside Ostiary since the last apply; apply reverts it'],
    [
      'both',
      { type: 'a' },
      { type: 'b' },
      { type: 'c' },
      'conflict: the manifests and the gateway changed it since the last apply; apply uses the manifest',
    ],
    [
      'held',
      { access_max_duration: 60, ...reviewed },
      { access_max_duration: 60, ...reviewed },
      { access_max_duration: 30, ...reviewed },
      `held: changed outside Ostiary; apply keeps it; --revert ${id} reverts it`,
    ],
  ])('explains %s', (origin, base, desired, live, why) => {
    const [row] = explainCase({ ...sides(base, desired, live), field: Object.keys(base)[0] ?? '' }).rows;
    expect(row).toMatchObject({ origin, status: origin === 'held' ? 'held' : 'differs', why: `declared in the manifest; ${why}` });
  });

  it('is explained for each element', () => {
    const explanation = explainCase({
      ...sides({ reviewers: ['dba'], ...open }, { reviewers: ['dba', 'sec'], ...open }, { reviewers: ['night'], ...open }),
      field: 'reviewers',
    });
    expect(explanation.summary).toBe('apply updates it: 1 drift, 1 held, 1 changed in the manifests');
    expect(explanation.rows[0]?.parts?.map(({ path, origin }) => [path, origin])).toEqual([
      ['/reviewers/dba', 'drift'],
      ['/reviewers/night', 'held'],
      ['/reviewers/sec', 'intent'],
    ]);
  });

  it('is reported for an orphan, with the removing commit, the previous position and values', () => {
    const base = baseOf([desiredOf(id, { spec: { type: 'a' } })], [], new Map([[id, { id: 'b'.repeat(40), subject: 'Drop it' }]]));
    expect(explainCase({ base, live: liveOf(id, { spec: { type: 'b' } }), field: 'type' })).toMatchObject({
      at: { file: 'access' },
      summary: 'orphan: removed from the manifests, still live, removed in bbbbbbb "Drop it"; --prune would delete it',
      rows: [{ base: { value: 'a' }, live: { value: 'b' }, status: 'kept' }],
    });
  });
});

describe('an edge', () => {
  const attached = liveOf(id, { edges: { guardrail_rules: [rule] } });
  const field = 'guardrail_rules';

  it('has all positions that declare it', () => {
    const selected: DeclaredEdge = { ...edgeOf(rule, id), declarations: [{ by: id, how: 'selector', path: '/connection_selector' }] };
    const { rows } = explainCase({
      desired: desiredOf(id),
      live: attached,
      beside: [liveOf(rule)],
      edges: [edgeOf(rule, id, id), selected],
      field,
    });
    const places = ['access/connection_selector:21:1', 'access/guardrail_rules/rule:22:1'];
    expect(rows).toMatchObject([{ status: 'same', why: `declared (${places[0]}, by a selector; ${places[1]}) and live` }]);
  });

  it('of an orphan is the orphan’s', () => {
    const base = baseOf([desiredOf(id), desiredOf(rule)], [edgeOf(rule, id)]);
    const { rows } = explainCase({ base, desired: desiredOf(id), live: attached, beside: [liveOf(rule)], field });
    expect(rows).toMatchObject([
      {
        status: 'foreign',
        base: { value: 'attached' },
        why: `live, and ${rule} is an orphan: the attachment is kept until the orphan is deleted`,
      },
    ]);
  });

  it('is explained if metadata.ignore names it, or if it was attached or detached outside Ostiary', () => {
    const spec = { input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['DROP'] }] } };
    const both = (given: Partial<DesiredResource>, edges: readonly DeclaredEdge[]): Case => {
      const other: ResourceId = rule;
      const resources = [desiredOf(id, given), desiredOf(other, { spec })];
      const base = baseOf(resources, edges);
      return {
        base,
        desired: desiredOf(id, given),
        field,
        plan: planOf(wantedOf(resources, edges), stateOf(liveOf(other, { spec }), edges.length === 0 ? attached : liveOf(id)), base),
      };
    };
    const ignored = both({ ignore: ['/guardrail_rules'] }, []);
    expect(explainCase({ ...ignored, live: attached }).rows).toMatchObject([
      { status: 'foreign', why: expect.stringContaining('excluded by metadata.ignore') },
    ]);
    expect(explainCase({ ...both({}, []), live: attached }).rows).toMatchObject([{ status: 'held', origin: 'held' }]);
    expect(explainCase({ ...both({}, [edgeOf(rule, id)]), live: liveOf(id) }).rows).toMatchObject([{ status: 'differs', origin: 'drift' }]);
  });
});
