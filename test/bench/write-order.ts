// How the cost of a plan grows with connections and the rules that all of them share, kind by kind, created, changed and deleted: prints JSON.
// Arguments name the only kind, or ask for the largest sizes (`full`).
import type { Json, JsonObject } from '../../src/model/json.ts';
import { draftPlan } from '../../src/reconcile/reconcile.ts';
import { desiredState } from '../support/desired-state.ts';
import { liveAs } from '../support/risks.ts';
import { inputOf, testTarget } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

const kinds = ['GuardrailRule', 'DataMaskingRule', 'RunbookRule', 'Attribute', 'AccessRequestRule'] as const;
type RuleKind = (typeof kinds)[number];

const args = process.argv.slice(2);
const isFull = args.includes('full');
const only = kinds.find((kind) => args.includes(kind));

const actions = ['created', 'created with connections', 'changed', 'deleted'] as const;
type Action = (typeof actions)[number];

type Scene = { readonly kind: RuleKind; readonly connections: number; readonly rules: number };

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function ruleSpec(kind: RuleKind, index: number, word: string, names: readonly Json[]): JsonObject {
  switch (kind) {
    case 'GuardrailRule':
      return { input: { rules: [{ name: 'a', type: 'deny_words_list', words: [`${word} ${index}`] }] }, connection_ids: names };
    case 'DataMaskingRule':
      return { supported_entity_types: [{ name: 'A', entity_types: [`${word}_${index}`] }], connection_ids: names };
    case 'RunbookRule':
      return { connections: names, user_groups: [`${word}-${index}`], runbooks: [{ repository: 'git.example.com/ops/books', name: 'a/' }] };
    case 'Attribute':
      return { access_groups: [`${word}-${index}`] };
    case 'AccessRequestRule':
      return { access_type: 'jit', attributes: [`rule-${index}`], reviewers_groups: [word], min_approvals: 1 };
  }
}

/** The connections, each with all rules, or, where one of them governs it alone, with one. */
function connectionsOf({ kind, connections, rules }: Scene): readonly Manifest[] {
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
  const spec = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled', ...modes, access_groups: ['dba'] };
  return range(connections).map((number) => {
    const linked = kind === 'Attribute' ? range(rules) : kind === 'AccessRequestRule' ? [number % rules] : [];
    return {
      kind: 'Connection',
      metadata: { name: `db-${number}` },
      spec: { ...spec, attributes: linked.map((index) => `rule-${index}`) },
    };
  });
}

const other: Manifest = {
  kind: 'Connection',
  metadata: { name: 'other' },
  spec: {
    type: 'custom',
    agent_id: 'default',
    access_mode_connect: 'enabled',
    access_mode_exec: 'disabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'disabled',
  },
};

function rulesOf({ kind, connections, rules }: Scene, word: string): readonly Manifest[] {
  const names = range(connections).map((index) => `db-${index}`);
  return range(rules).map((index) => ({ kind, metadata: { name: `rule-${index}` }, spec: ruleSpec(kind, index, word, names) }));
}

function sidesOf(scene: Scene, action: Action): { readonly before: readonly Manifest[]; readonly after: readonly Manifest[] } {
  const connections = connectionsOf(scene);
  const [first, last] = [rulesOf(scene, 'DROP'), rulesOf(scene, 'TRUNCATE')];
  switch (action) {
    case 'created':
      return { before: connections, after: [...connections, ...last] };
    case 'created with connections':
      return { before: [other], after: [other, ...connections, ...last] };
    case 'changed':
      return { before: [...connections, ...first], after: [...connections, ...last] };
    case 'deleted':
      return { before: [...connections, ...first], after: connections };
  }
}

/** Returns the milliseconds of CPU of a plan with the order of its writes: the least of some runs. */
function measure(scene: Scene, action: Action): number {
  const { before, after } = sidesOf(scene, action);
  const [base, desired] = [desiredState(before), desiredState(after)];
  const live = { ...liveAs(base), rowFields: { 'Connection.access_groups': 'on' } as const, watched: [] };
  const given = {
    base: { commit: 'a'.repeat(40), desired: base, removedIn: new Map() },
    consent: { imports: [], revert: [], prune: true },
    desired,
    live,
    target: { ...testTarget, dialect: 'hoop' } as const,
  };
  const runs = range(isFull ? 1 : 3).map(() => {
    const started = process.cpuUsage();
    const { value } = draftPlan(inputOf(given));
    const { user, system } = process.cpuUsage(started);
    if (value === undefined) throw new Error(`${scene.kind} ${action}: no plan`);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}

/** Attachments grow with both: four times the connections, with four times the rules. */
const [few, many] = isFull
  ? [
      { connections: 500, rules: 50 },
      { connections: 2000, rules: 200 },
    ]
  : [
      { connections: 150, rules: 15 },
      { connections: 600, rules: 60 },
    ];
const growth = (many.connections * many.rules) / (few.connections * few.rules);

for (const kind of kinds) {
  if (only !== undefined && kind !== only) continue;
  const found = actions.map((action) => {
    const [first, last] = [measure({ kind, ...few }, action), measure({ kind, ...many }, action)];
    return { action, ms: last, exponent: Math.log(last / first) / Math.log(growth) };
  });
  process.stdout.write(`${JSON.stringify({ kind, few, many, found })}\n`);
}
