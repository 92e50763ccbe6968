import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { DeclaredEdge, DesiredResource } from '../../../../src/model/desired.ts';
import { resolveEdges } from '../../../../src/model/edge-ends.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import { nameOf, type ResourceId } from '../../../../src/model/resource.ts';
import { diffEdges, type EdgeDiff } from '../../../../src/reconcile/diff/diff-edges.ts';
import { desiredOf, edgeOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';

const [db, rule, mask] = ['Connection/db', 'GuardrailRule/rule', 'DataMaskingRule/mask'] as const;
const uuid = '0000000a-0000-4000-8000-00000000000a';
const ids: Readonly<Record<string, ResourceId>> = { db, rule, mask };

type Case = {
  /** The resources with a selected manifest, those with an unselected manifest, and the live ones. */
  readonly ours?: readonly (ResourceId | DesiredResource)[];
  readonly unselected?: readonly ResourceId[];
  readonly live?: readonly (ResourceId | LiveResource)[];
  readonly declared?: readonly DeclaredEdge[];
  /** The rules that are attached to the connection. */
  readonly attached?: readonly ResourceId[];
};

/** Reads a case: `ours db!/IGNORED rule, live db=managed rule`; edges are named by their rule, with `@db` where the connection declares it. */
function caseOf(text: string): Case {
  const parts = new Map(text.split(', ').map((part) => [part.split(' ')[0], part.split(' ').slice(1)]));
  const all = (name: string): readonly string[] => parts.get(name) ?? [];
  return {
    ours: all('ours').map((one) => desiredOf(idOf(one), { ignore: one.split('!').slice(1) })),
    unselected: all('unselected').map(idOf),
    live: all('live').map((one) => liveOf(idOf(one), one.endsWith('=managed') ? { managedBy: 'platform' } : {})),
    declared: all('declared').map((one) => edgeOf(idOf(one), db, one.endsWith('@db') ? db : idOf(one))),
    attached: all('attached').map(idOf),
  };
}

function idOf(word: string): ResourceId {
  const id = ids[word.replace(/[!=@].*/, '')];
  if (id === undefined) throw new Error(`there is no ${word}`);
  return id;
}

function planned(given: Case | string): EdgeDiff {
  const { ours = [], unselected = [], live = [], declared = [], attached = [] } = typeof given === 'string' ? caseOf(given) : given;
  const resources = ours.map((one) => (typeof one === 'string' ? desiredOf(one) : one));
  const found = live.map((one) => (typeof one === 'string' ? liveOf(one) : one));
  const withEdges = found.map((one) => ({
    ...one,
    edges: { ...one.edges, ...(attached.includes(one.id) ? { connection_ids: [db] } : {}) },
  }));
  const sides = { desired: wantedOf(resources, declared, unselected), live: stateOf(...withEdges), registry };
  return diffEdges({ ...sides, desired: { ...sides.desired, edges: resolveEdges(declared, sides) } });
}

/** Returns the plan as text: `action by`, or the severity of a diagnostic. */
function words({ edges, diagnostics }: EdgeDiff): string {
  return [
    ...edges.map(({ action, by }) => `${action}${by === undefined ? '' : ` ${nameOf(by)}`}`),
    ...diagnostics.map(({ severity, code }) => `${severity} ${code}`),
  ].join(', ');
}

describe('an edge that is declared', () => {
  it.each<[string, Case | string, string]>([
    ['and live is nothing', 'ours db rule, live db rule, declared rule, attached rule', ''],
    ['on the rule is written by the rule', 'ours db rule, live db rule, declared rule', 'attach rule'],
    ['on the connection is written by the rule, too', 'ours db rule, live db rule, declared rule@db', 'attach rule'],
    ['of a new connection is in its own create', 'ours db rule, live rule, declared rule', 'attach db'],
    ['of a new connection and a masking rule comes after it', 'ours db mask, live mask, declared mask', 'attach mask'],
    ['of two new ones is in the create of the connection', 'ours db rule, declared rule', 'attach db'],
    ['to a rule without a manifest is written by the connection', 'ours db, live db rule, declared rule@db', 'attach db'],
    ['to a connection without a manifest is written by the rule', 'ours rule, live db rule, declared rule', 'attach rule'],
    [
      'by an id is the same edge',
      { ours: [rule], live: [liveOf(db, { uid: 'uid-1' }), rule], declared: [edgeOf(rule, 'Connection/UID-1')], attached: [rule] },
      '',
    ],
    [
      'by an id is no edge to a connection whose name has its form',
      {
        ours: [rule],
        live: [liveOf(db, { uid: uuid }), liveOf(`Connection/${uuid}`, { uid: 'uid-2' }), rule],
        declared: [edgeOf(rule, `Connection/${uuid}`)],
        attached: [rule],
      },
      '',
    ],
    ['to a managed connection is blocked', 'ours rule, live db=managed rule, declared rule', 'blocked'],
    ['on a managed connection is blocked', 'ours db rule, live db=managed rule, declared rule@db', 'blocked'],
    ['to a managed rule is written by the connection', 'ours db, live db rule=managed, declared rule@db', 'attach db'],
    ['on a managed rule is written by the connection', 'ours db rule, live db rule=managed, declared rule', 'attach db'],
    ['on a managed rule to a connection that is not ours is blocked', 'ours rule, live db rule=managed, declared rule', 'blocked'],
    ['on a managed masking rule is blocked', 'ours db mask, live db mask=managed, declared mask', 'blocked'],
    ['is added where it is ignored', 'ours db!/guardrail_rules rule, live db rule, declared rule', 'attach rule'],
    ['between two that are not selected is nothing', 'unselected db rule, live db rule, declared rule', ''],
    ['by a rule that is not selected is written by the connection', 'ours db, unselected rule, live db rule, declared rule', 'attach db'],
    [
      'by a masking rule that is not selected waits',
      'ours db, unselected mask, live db mask, declared mask',
      'warning plan/needs-unselected',
    ],
    [
      'by a masking rule that is not selected holds a new connection up',
      'ours db, unselected mask, live mask, declared mask',
      'error plan/needs-unselected',
    ],
    ['to a new rule that is not selected is missed', 'ours db, unselected rule, live db, declared rule@db', 'error plan/needs-unselected'],
    ['by a new rule that is not selected waits', 'ours db, unselected rule, live db, declared rule', 'warning plan/needs-unselected'],
    [
      'to a new connection that is not selected waits',
      'ours rule, unselected db, live rule, declared rule',
      'warning plan/needs-unselected',
    ],
    ['by a new connection that is not selected is its own business', 'ours rule, unselected db, live rule, declared rule@db', ''],
    ['to nothing is a mistake', 'ours rule, live rule, declared rule', 'error manifest/dangling-reference'],
    ['from nothing is a mistake', 'ours db, live db, declared rule@db', 'error manifest/dangling-reference'],
    [
      'to nothing by what is not selected is no matter',
      { ours: [rule], unselected: [db], live: [rule], declared: [edgeOf('GuardrailRule/none', db, db)] },
      '',
    ],
  ])('%s', (_, given, expected) => {
    expect(words(planned(given))).toBe(expected);
  });
});

describe('a live edge that no manifest declares', () => {
  it.each<[string, string, string]>([
    ['between two of ours goes', 'ours db rule, live db rule, attached rule', 'detach rule'],
    ['of a masking rule goes', 'ours db mask, live db mask, attached mask', 'detach mask'],
    ['goes by the rule where the connection is not selected', 'ours rule, unselected db, live db rule, attached rule', 'detach rule'],
    ['goes by the connection where the rule is not selected', 'ours db, unselected rule, live db rule, attached rule', 'detach db'],
    [
      'stays where no selected object can write it',
      'ours db, unselected mask, live db mask, attached mask',
      'warning plan/needs-unselected',
    ],
    ['to a connection without a manifest is foreign', 'ours rule, live db rule, attached rule', 'foreign'],
    ['to a rule without a manifest is foreign', 'ours db, live db rule, attached rule', 'foreign'],
    ['of a managed connection is foreign', 'ours db rule, live db=managed rule, attached rule', 'foreign'],
    ['of a managed rule is foreign', 'ours db rule, live db rule=managed, attached rule', 'foreign'],
    ['stays where the connection ignores the field', 'ours db!/guardrail_rules rule, live db rule, attached rule', 'foreign'],
    ['stays where the connection ignores the rule', 'ours db!/guardrail_rules/rule rule, live db rule, attached rule', 'foreign'],
    ['goes where the connection ignores another rule', 'ours db!/guardrail_rules/rul rule, live db rule, attached rule', 'detach rule'],
    ['stays where the rule ignores the field', 'ours db rule!/connection_ids, live db rule, attached rule', 'foreign'],
    ['stays where the masking rule ignores it', 'ours db mask!/connection_ids/db, live db mask, attached mask', 'foreign'],
    ['between two that are not selected is no matter', 'unselected db rule, live db rule, attached rule', ''],
  ])('%s', (_, given, expected) => {
    expect(words(planned(given))).toBe(expected);
  });
});
