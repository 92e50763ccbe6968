import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { BaseState } from '../../../../src/model/desired.ts';
import { isObject, type JsonObject } from '../../../../src/model/json.ts';
import type { Kind } from '../../../../src/model/kind.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { resourceId } from '../../../../src/model/resource.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { liveAs } from '../../../support/risks.ts';
import { runReconcile, testTarget } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

/** The fields of the first example of a kind, without other objects and secrets, so that one kind is the whole state. */
function exampleSpec({ schema, fields }: Kind): JsonObject {
  const [example] = Array.isArray(schema['examples']) ? schema['examples'].filter(isObject) : [];
  const spec = isObject(example?.['spec']) ? example['spec'] : {};
  const alone = fields.filter(
    ({ name, edge, secret, refers, required }) =>
      name !== 'connection_selector' && edge === undefined && secret === undefined && (refers === undefined || required),
  );
  const kept = new Set(alone.map(({ name }) => name));
  const opened = fields.filter(({ open }) => open === true).map(({ name }) => [name, []] as const);
  return Object.fromEntries([
    ...opened,
    ...Object.entries(spec).flatMap(([name, value]) => (kept.has(name) ? [[name, name === 'agent_id' ? 'default' : value] as const] : [])),
  ]);
}

const kinds = [...registry.values()].filter(({ named }) => named);
const cases = kinds.map((kind): readonly [string, Kind] => [kind.name, kind]);

type Sides = Readonly<Record<'base' | 'live' | 'desired', readonly Manifest[]>> & Pick<BaseState, 'names'>;

function planBetween(kind: Kind, { base, live, desired, names = new Map() }: Sides): Plan {
  const applied: BaseState = { commit: 'a'.repeat(40), desired: desiredState(base), removedIn: new Map(), names };
  const target = { ...testTarget, dialect: kind.dialect ?? 'interface' };
  const consent = { imports: [], revert: [], prune: true };
  const { value, diagnostics } = runReconcile({
    target,
    desired: desiredState(desired),
    live: liveAs(desiredState(live)),
    base: applied,
    consent,
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function refusalsOf({ refusals }: Plan): readonly string[] {
  return refusals.map(({ code, resource }) => `${code} ${resource}`);
}

function writesOf({ changes }: Plan): readonly string[] {
  return changes.map(({ action, id, key }) => [action, ...(key === undefined ? [] : [key, 'to']), id].join(' '));
}

describe.each(cases)('former names of %s', (name, kind) => {
  const field = kind.renamable ? 'renamedFrom' : 'replaces';
  const named = (own: string, former?: string): Manifest => ({
    kind: name,
    metadata: { name: own, ...(former === undefined ? {} : { [field]: former }) },
    spec: exampleSpec(kind),
  });
  const theirs = { ...named('theirs'), spec: { ...exampleSpec(kind), ...differing(kind) } };

  it('imports an object that has the new name already', () => {
    const plan = planBetween(kind, { base: [named('mine')], live: [named('mine'), theirs], desired: [named('theirs', 'mine')] });
    expect(refusalsOf(plan)).toEqual([`plan/adoption ${name}/theirs`]);
  });

  it('imports an object that has the former name and was never applied', () => {
    const plan = planBetween(kind, {
      base: [named('mine')],
      live: [named('mine'), theirs],
      desired: [named('mine'), named('new', 'theirs')],
    });
    expect(refusalsOf(plan)).toEqual([`plan/adoption ${name}/new`]);
  });

  it('imports an object that got the former name later where the new one is gone, and calls nothing of it drift', () => {
    const applied = named('mine', 'former');
    const plan = planBetween(kind, { base: [applied], live: [{ ...theirs, metadata: { name: 'former' } }], desired: [applied] });
    expect(refusalsOf(plan)).toEqual([`plan/adoption ${name}/mine`]);
    expect(plan.changes.flatMap(({ fields }) => fields.filter(({ origin }) => origin === 'drift'))).toEqual([]);
  });

  it('does not touch an object that got the former name later', () => {
    const both = { base: [named('new', 'theirs')], live: [named('new'), theirs], desired: [named('new', 'theirs')] };
    expect(writesOf(planBetween(kind, both))).toEqual([]);
  });

  it('takes back all former names that the base states', () => {
    const base = [named('new', 'old'), named('newer', 'older')];
    const plan = planBetween(kind, { base, live: [named('new'), named('newer')], desired: [named('old'), named('older')] });
    const renamed = [`rename ${name}/new to ${name}/old`, `rename ${name}/newer to ${name}/older`];
    const replaced = [`create ${name}/old`, `create ${name}/older`, `delete ${name}/new`, `delete ${name}/newer`];
    expect(writesOf(plan)).toEqual(kind.renamable ? renamed : replaced);
    expect(refusalsOf(plan)).toEqual([]);
    expect(plan.accepted).toEqual([]);
  });

  it('takes back a name of long ago that the record knows, unless something has it', () => {
    const names = new Map([[resourceId(name, 'newer'), [resourceId(name, 'new'), resourceId(name, 'old')]]]);
    const back = { base: [named('newer', 'new')], live: [named('newer')], desired: [named('old')], names };
    const plan = planBetween(kind, back);
    const taken = kind.renamable ? [`rename ${name}/newer to ${name}/old`] : [`create ${name}/old`, `delete ${name}/newer`];
    expect([writesOf(plan), refusalsOf(plan), plan.accepted]).toEqual([taken, [], []]);
    const other = planBetween(kind, { ...back, live: [named('newer'), { ...theirs, metadata: { name: 'old' } }] });
    expect(refusalsOf(other)).toEqual([`plan/adoption ${name}/old`]);
    // A cleaned manifest no longer states the name.
    expect(writesOf(planBetween(kind, { ...back, base: [named('newer')] }))).toEqual(taken);
  });

  it('imports an object that got the former name before the rename is taken back', () => {
    const plan = planBetween(kind, { base: [named('new', 'theirs')], live: [named('new'), theirs], desired: [named('theirs')] });
    expect(refusalsOf(plan)).toEqual([`plan/adoption ${name}/theirs`]);
  });
});

/** A field of a kind with another value. */
function differing({ fields }: Kind): JsonObject {
  return fields.some(({ name }) => name === 'description') ? { description: 'of another team' } : { access_max_duration: 600 };
}
