import { compareText } from '../../src/model/json.ts';
import type { AccessConnection, RequestRule, RunbookPermission } from './access-model.ts';
import type { Moment } from './exposed-moments.ts';

/** A part of a moment: what one write changes shares no fact with what another one changes. */
type Fact = { readonly name: string } & (
  | { readonly kind: 'connection'; readonly own: AccessConnection }
  | { readonly kind: 'rule'; readonly own: RequestRule }
  | { readonly kind: 'runbooks'; readonly own: RunbookPermission }
  | { readonly kind: 'connection-link' | 'rule-link'; readonly attribute: string }
  | { readonly kind: 'row' | 'granted' | 'content'; readonly texts: readonly string[] }
);

/** The facts of a moment by their keys. */
type Facts = ReadonlyMap<string, Fact>;

function factsOf({ access, content }: Moment): Facts {
  const lists = { row: access.rows ?? {}, granted: access.granted, content };
  const facts: readonly Fact[] = [
    ...Object.entries(access.connections).flatMap(([name, { attributes, ...own }]): readonly Fact[] => [
      { kind: 'connection', name, own: { ...own, attributes: [] } },
      ...attributes.map((attribute) => ({ kind: 'connection-link', name, attribute }) as const),
    ]),
    ...access.rules.flatMap(({ attributes, ...own }): readonly Fact[] => [
      { kind: 'rule', name: own.name, own: { ...own, attributes: [] } },
      ...attributes.map((attribute) => ({ kind: 'rule-link', name: own.name, attribute }) as const),
    ]),
    ...access.runbookRules.map((own): Fact => ({ kind: 'runbooks', name: own.name ?? '', own })),
    ...(['row', 'granted', 'content'] as const).flatMap((kind) =>
      Object.entries(lists[kind]).map(([name, texts]): Fact => ({ kind, name, texts: [...texts] })),
    ),
  ];
  return new Map(facts.map((fact) => [`${fact.kind} ${fact.name} ${'attribute' in fact ? fact.attribute : ''}`, fact]));
}

function momentOf(facts: Facts, like: Moment): Moment {
  const all = [...facts.values()];
  const linked = (kind: 'connection-link' | 'rule-link', name: string): readonly string[] =>
    all.flatMap((fact) => (fact.kind === kind && fact.name === name ? [fact.attribute] : []));
  const listed = (kind: 'row' | 'granted' | 'content'): readonly (readonly [string, readonly string[]])[] =>
    all.flatMap((fact) => (fact.kind === kind ? [[fact.name, fact.texts] as const] : []));
  const connections = all.flatMap((fact) =>
    fact.kind === 'connection' ? [[fact.name, { ...fact.own, attributes: linked('connection-link', fact.name) }] as const] : [],
  );
  return {
    access: {
      ...like.access,
      connections: Object.fromEntries(connections),
      rows: Object.fromEntries(listed('row')),
      granted: Object.fromEntries(listed('granted')),
      rules: all.flatMap((fact) => (fact.kind === 'rule' ? [{ ...fact.own, attributes: linked('rule-link', fact.name) }] : [])),
      runbookRules: all.flatMap((fact) => (fact.kind === 'runbooks' ? [fact.own] : [])),
    },
    content: Object.fromEntries(listed('content').map(([name, words]) => [name, new Set(words)])),
  };
}

/** Leaves out the id that a gateway gives, and orders lists, whose order a gateway does not keep. */
function ordered(key: string, value: unknown): unknown {
  if (key === 'id') return undefined;
  return Array.isArray(value) ? value.toSorted((one, other) => compareText(JSON.stringify(one), JSON.stringify(other))) : value;
}

function textOf(fact: Fact | undefined): string {
  return fact === undefined ? 'nothing' : JSON.stringify(fact, ordered);
}

/** What one write changes: each fact that differs, undefined where it is gone. */
type Delta = ReadonlyMap<string, Fact | undefined>;

function deltaOf(from: Facts, to: Facts): Delta {
  const keys = [...new Set([...from.keys(), ...to.keys()])];
  return new Map(keys.filter((key) => textOf(from.get(key)) !== textOf(to.get(key))).map((key) => [key, to.get(key)]));
}

/** Lists the facts of a moment that differ from those of another one. */
export function changedFacts(from: Moment, to: Moment): readonly string[] {
  return [...deltaOf(factsOf(from), factsOf(to))].map(([key, fact]) => `${key}: ${textOf(fact)}`);
}

function withDelta(facts: Facts, delta: Delta): Facts {
  const all = new Map(facts);
  for (const [key, fact] of delta)
    if (fact === undefined) all.delete(key);
    else all.set(key, fact);
  return all;
}

/** Returns what a fact belongs to: the requests that write it are one write. */
function objectOf(key: string): string {
  const [kind = '', name = ''] = key.split(' ');
  const owners: Readonly<Record<string, string>> = { row: 'connection', 'connection-link': 'connection', 'rule-link': 'rule' };
  return `${owners[kind] ?? kind} ${name}`;
}

/** Joins the requests of one write: a connection and its row. A deleted attribute is gone from all objects at once. */
function writesOf(deltas: readonly Delta[]): readonly Delta[] {
  const found: { readonly objects: ReadonlySet<string>; readonly delta: Map<string, Fact | undefined> }[] = [];
  for (const delta of deltas.filter(({ size }) => size > 0)) {
    const isAttribute = [...delta.keys()].some((key) => key.startsWith('granted '));
    const objects = new Set(isAttribute ? [] : [...delta.keys()].filter((key) => !key.startsWith('content ')).map(objectOf));
    const same = found.find((one) => [...objects].some((object) => one.objects.has(object)));
    if (same === undefined) found.push({ objects, delta: new Map(delta) });
    else for (const [key, fact] of delta) same.delta.set(key, fact);
  }
  return found.map(({ delta }) => delta);
}

/** Of more subsets, only those of one or two writes, and of all but one or two, are looked at. */
const mostSubsets = 128;

function subsetsOf<Value>(all: readonly Value[]): readonly (readonly Value[])[] {
  if (2 ** all.length <= mostSubsets)
    return all.reduce<readonly (readonly Value[])[]>((some, one) => [...some, ...some.map((list) => [...list, one])], [[]]);
  const few = all.flatMap((one, index) => all.slice(index).map((other) => new Set([one, other])));
  return few.flatMap((some) => [all.filter((one) => some.has(one)), all.filter((one) => !some.has(one))]);
}

/** The moments of an apply before each request that writes and at the end, and the indexes at which its stages end. */
export type OrderedMoments = { readonly moments: readonly Moment[]; readonly boundaries: readonly number[] };

/** Returns every moment that the apply can have: all that earlier stages wrote, and some of what one stage writes together. */
export function momentsBetween({ moments, boundaries }: OrderedMoments): readonly Moment[] {
  const facts = moments.map(factsOf);
  const found = new Map<string, Facts>();
  const note = (one: Facts): void => void found.set([...one.values()].map(textOf).toSorted(compareText).join('\n'), one);
  for (const one of facts) note(one);
  let begin = 0;
  for (const end of new Set([...boundaries, moments.length - 1])) {
    const stage = facts.slice(begin, end + 1);
    const [first] = stage;
    const writes = writesOf(stage.slice(1).map((one, index) => deltaOf(stage[index] ?? one, one)));
    if (first !== undefined) for (const some of subsetsOf(writes)) note(some.reduce(withDelta, first));
    begin = end;
  }
  return moments.slice(0, 1).flatMap((like) => [...found.values()].map((one) => momentOf(one, like)));
}
