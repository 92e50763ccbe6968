import type { DesiredResource } from '../../../model/desired.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { type OutsideReference, pluralOf, type Refusal } from '../../../model/plan/plan.ts';
import {
  type AccessGrant,
  type AccessRequestRule,
  type AnalyzerRule,
  decidingLists,
  type DecidingList,
  type MachineIdentity,
  type NamingConnections,
  type Rulepack,
  type RunbookRule,
} from '../../../model/protection/access-objects.ts';
import { compareText, distinctSorted } from '../../../model/json.ts';
import { kindOf, nameOf, type ResourceId } from '../../../model/resource.ts';
import { durationText } from '../../../model/time.ts';
import { type ConnectionReplacement, namesOnlyPredecessor, replacementReference, unreadableReference } from '../rest.ts';

/** A plugin, and the connections that it is set up for. */
export type PluginSetup = { readonly name: string; readonly connections: readonly string[] };

/** A runbook that the gateway runs on a connection at events; it cannot delete that connection. */
export type EventSubscription = { readonly name: string; readonly connections: readonly string[]; readonly runbook: string };

/** An attribute: the connections that have it, and the groups that it grants. */
export type AttributeSetup = { readonly name: string; readonly connections: readonly string[]; readonly groups: readonly string[] };

/** What the rows of each list are. */
export type ReferringObject = {
  readonly 'access-control': AccessGrant;
  readonly attributes: AttributeSetup;
  readonly 'access-request-rules': AccessRequestRule & NamingConnections;
  readonly 'runbook-rules': RunbookRule & NamingConnections;
  readonly rulepacks: Rulepack & NamingConnections;
  readonly 'analyzer-rules': AnalyzerRule & NamingConnections;
  readonly 'machine-identities': MachineIdentity & NamingConnections;
  readonly plugins: PluginSetup;
  readonly 'event-subscriptions': EventSubscription;
};

/** A list of objects that refer to connections. */
export type ReferringList = keyof ReferringObject;

/** The objects that refer to connections; a list that the token cannot read as a whole is undefined. */
export type ReferringObjects = { readonly [List in ReferringList]?: readonly ReferringObject[List][] | undefined };

/** A connection that replaces another one, its attributes after the plan, and whether Ostiary writes its access groups. */
export type InheritingReplacement = ConnectionReplacement & { readonly attributes: readonly string[]; readonly isGranted: boolean };

type NamingList = Exclude<ReferringList, 'access-control' | 'attributes'>;

/** A list whose objects keep the name of a deleted connection. */
type KeepingList = 'access-request-rules' | 'runbook-rules' | 'analyzer-rules' | 'machine-identities';

const keepingLists: readonly KeepingList[] = ['access-request-rules', 'runbook-rules', 'analyzer-rules', 'machine-identities'];

const namingLists: readonly NamingList[] = [...keepingLists, 'rulepacks', 'plugins', 'event-subscriptions'];

/** The lists that matter where a plan replaces, deletes or creates connections. */
export const listsFor: Readonly<Record<'replaced' | 'deleted' | 'created', readonly ReferringList[]>> = {
  replaced: [...namingLists, 'access-control', 'attributes'],
  deleted: [...keepingLists, 'event-subscriptions'],
  created: ['access-request-rules', 'runbook-rules', 'machine-identities', 'analyzer-rules'],
};

/** What an object of each list is called, how it uses a connection, and the roles that may read the list if not all may. */
const sorts: {
  readonly [List in NamingList]: {
    readonly sort: string;
    readonly how: (object: ReferringObject[List]) => string;
    readonly readers?: string;
  };
} = {
  'access-request-rules': { sort: 'access-request rule', how: describeRequestRule, readers: 'admins and auditors' },
  'runbook-rules': {
    sort: 'runbook rule',
    how: ({ runbooks, groups }) => `${listed(runbooks.map(runbookName), 'all runbooks')} for ${listed(groups, 'everybody')}`,
  },
  rulepacks: { sort: 'rulepack', how: () => 'its guardrails and masking rules protect the connection', readers: 'admins' },
  'analyzer-rules': {
    sort: 'session analyzer rule',
    how: () => 'it blocks sessions, or asks for a review of them, by their risk',
    readers: 'admins and auditors',
  },
  'machine-identities': { sort: 'machine identity', how: () => 'it has a credential for each connection that it names' },
  plugins: { sort: 'plugin', how: () => 'it is set up for each connection' },
  'event-subscriptions': { sort: 'event subscription', how: ({ runbook }) => `it runs ${runbook} at events` },
};

/** Finds what refers to a replaced connection and not to its successor, other than attributes, which the successor inherits. */
export function findReplacedReferences(
  objects: ReferringObjects,
  replacements: readonly InheritingReplacement[],
  deleted: readonly ResourceId[],
): readonly OutsideReference[] {
  return replacements.flatMap((replacement) => [
    ...namingLists
      // A subscription is a reason of its own to refuse the deletion.
      .filter((list) => list !== 'event-subscriptions' || !deleted.includes(replacement.predecessor.id))
      .flatMap((list) => referencesIn(list, objects[list], replacement)),
    ...(replacement.isGranted ? [] : lostGrants(objects, replacement)),
  ]);
}

function referencesIn<List extends NamingList>(
  list: List,
  rows: readonly ReferringObject[List][] | undefined,
  replacement: ConnectionReplacement,
): readonly OutsideReference[] {
  const { sort, how, readers } = sorts[list];
  // An unknown subscription is no reason to refuse a plan.
  if (rows === undefined) return list === 'event-subscriptions' ? [] : [unreadableReference(sort, replacement, readers)];
  return rows
    .filter(({ connections }) => namesOnlyPredecessor(connections, replacement))
    .map((row) => replacementReference(replacement, { sort, name: row.name, how: how(row) }));
}

/** Finds the groups that access control gives the predecessor to and that neither a row nor an attribute gives its successor to. */
function lostGrants(objects: ReferringObjects, replacement: InheritingReplacement): readonly OutsideReference[] {
  const { 'access-control': grants, attributes = [] } = objects;
  if (grants === undefined) return objects.plugins === undefined ? [] : [unreadableReference('plugin', replacement)];
  const [former, name] = [nameOf(replacement.predecessor.id), nameOf(replacement.id)];
  const groupsOf = (connection: string): readonly string[] => grants.find((grant) => grant.name === connection)?.groups ?? [];
  const byAttribute = attributes
    .filter((one) => replacement.attributes.includes(one.name) || one.connections.includes(name))
    .flatMap(({ groups }) => groups);
  const kept = distinctSorted([...groupsOf(name), ...byAttribute]);
  const had = groupsOf(former);
  if (had.every((group) => kept.includes(group))) return [];
  const now = kept.length === 0 ? `no group can use ${name}, only admins and auditors` : `${name} is granted to ${kept.join(', ')}`;
  return [
    replacementReference(replacement, {
      sort: 'plugin',
      name: 'access_control',
      how: `granted to ${had.toSorted(compareText).join(', ')}; ${now}`,
    }),
  ];
}

/** Refuses each deletion that the gateway would answer with an error because an event subscription needs the connection. */
export function findBlockedDeletes(
  { 'event-subscriptions': rows = [] }: ReferringObjects,
  deleted: readonly ResourceId[],
): readonly Refusal[] {
  return deleted.flatMap((id) =>
    rows
      .filter(({ connections }) => connections.includes(nameOf(id)))
      .map(({ name, runbook }) => ({
        code: 'hoop/event-subscription',
        message: `event subscription "${name}" runs ${runbook} on ${id}, so the gateway cannot delete the connection`,
        hint: 'delete the subscription on the gateway, or give it another connection',
        allowable: false,
        resource: id,
      })),
  );
}

/**
 * Warns about each object that keeps naming connections after their deletion: it applies to the next connection of that name. An object that
 * is `declared` keeps only its last name.
 */
export function findStaleNames(
  objects: ReferringObjects,
  deleted: readonly ResourceId[],
  declared: ReadonlySet<ResourceId>,
): readonly Diagnostic[] {
  if (deleted.length === 0) return [];
  const gone = new Set(deleted.map(nameOf));
  const namesOnlyGone = ({ connections }: { readonly connections: readonly string[] }): boolean =>
    connections.length > 0 && connections.every((name) => gone.has(name));
  const warn = <List extends KeepingList>(list: List, adviceFor: (object: ReferringObject[List]) => string): readonly Diagnostic[] =>
    namesakesIn(objects[list], deleted, (id) => id).map(([object, ids]) => staleName(list, object.name, ids, adviceFor(object)));
  const endsAll = objects['runbook-rules']?.every(namesOnlyGone) === true;
  const isDeclared = (list: DecidingList, name: string): boolean =>
    [...declared].some((id) => nameOf(id) === name && decidingLists[kindOf(id)] === list);
  const deleting = (list: DecidingList, { name }: { readonly name: string }): string =>
    isDeclared(list, name) ? 'remove its manifest, or let it name another connection' : 'after the apply, delete it on the gateway';
  return [
    ...warn('access-request-rules', (rule) =>
      namesOnlyGone(rule) && rule.attributes.length === 0 ? deleting('access-request-rules', rule) : removeLater,
    ),
    ...warn('runbook-rules', (rule) => {
      if (!namesOnlyGone(rule)) return removeLater;
      return endsAll
        ? 'let it name another connection: without a runbook rule, everybody may run every runbook'
        : `${deleting('runbook-rules', rule)}: with an empty list it would apply to every connection`;
    }),
    ...warn('analyzer-rules', () => removeLater),
    ...warn('machine-identities', () => removeFirst),
    ...keepingLists.filter((list) => objects[list] === undefined).map((list) => unreadNames(list, deleted)),
  ];
}

/** Returns the rows that name some of the connections, each with these connections. */
function namesakesIn<Row extends { readonly connections: readonly string[] }, Connection>(
  rows: readonly Row[] | undefined,
  connections: readonly Connection[],
  idOf: (connection: Connection) => ResourceId,
): readonly (readonly [Row, readonly Connection[]])[] {
  return (rows ?? []).flatMap((row) => {
    const names = new Set(row.connections);
    const found = connections.filter((one) => names.has(nameOf(idOf(one))));
    return found.length === 0 ? [] : [[row, found] as const];
  });
}

const removeLater = 'after the apply, remove the name from it on the gateway';
const removeFirst = 'before the apply, remove the name from it on the gateway, which revokes the credential';

function staleName(list: NamingList, name: string, gone: readonly ResourceId[], hint: string): Diagnostic {
  const next = `the next ${gone.length === 1 ? 'connection of that name' : 'connections of these names'}`;
  const effect = list === 'machine-identities' ? `its credential opens ${next}` : `it applies to ${next}`;
  const message = `${sorts[list].sort} "${name}" keeps naming ${namesOf(gone)} after the deletion, and ${effect}`;
  return { code: 'plan/deletes-references', severity: 'warning', message, hint, ...(gone[0] === undefined ? {} : { resource: gone[0] }) };
}

function unreadNames(list: NamingList, deleted: readonly ResourceId[]): Diagnostic {
  const { sort, readers = 'all roles' } = sorts[list];
  const message = `the token cannot see which ${pluralOf(sort)} keep naming ${namesOf(deleted)} after the deletion`;
  return { code: 'plan/deletes-references', severity: 'warning', message, hint: `${readers} may read them` };
}

/** Reports what names a new connection before it exists; a rule that names its predecessor, too, is meant for it. */
export function findEarlierNames(objects: ReferringObjects, created: readonly DesiredResource[]): readonly Diagnostic[] {
  const identities = namesakesIn(objects['machine-identities'], created, ({ id }) => id).map(([{ name }, found]) =>
    earlierName(found, {
      severity: 'warning',
      message: `machine identity "${name}" names ${newNames(found)} already: its credential for a deleted connection of that name opens the new one`,
      hint: removeFirst,
    }),
  );
  const rules = [
    ...earlierRules(objects['runbook-rules'], created, (rule) => {
      const permission = `${listed(rule.groups, 'everybody')} may run ${listed(rule.runbooks.map(runbookName), 'all runbooks')} there`;
      return ['runbook rule', permission];
    }),
    ...earlierRules(objects['access-request-rules'], created, (rule) => [
      'access-request rule',
      `it decides about approval (${describeRequestRule(rule)}), whatever reviewers the manifest states`,
    ]),
    ...earlierRules(objects['analyzer-rules'], created, (rule) => ['session analyzer rule', sorts['analyzer-rules'].how(rule)]),
  ];
  return [...identities, ...rules];
}

type NamedRule = { readonly name: string; readonly connections: readonly string[] };

/** Reports rules that name new connections; `describe` returns what the rule is called, and what it does there. */
function earlierRules<Rule extends NamedRule>(
  rules: readonly Rule[] | undefined,
  created: readonly DesiredResource[],
  describe: (rule: Rule) => readonly [sort: string, effect: string],
): readonly Diagnostic[] {
  return namesakesIn(rules, created, ({ id }) => id).flatMap(([rule, all]) => {
    const found = all.filter(({ replaces }) => replaces === undefined || !rule.connections.includes(replaces));
    if (found.length === 0) return [];
    const [sort, effect] = describe(rule);
    const message = `${sort} "${rule.name}" names ${newNames(found)} already: ${effect}`;
    return [earlierName(found, { severity: 'notice', message, hint: 'check that the rule is meant for it' })];
  });
}

function runbookName({ repository, name }: RunbookRule['runbooks'][number]): string {
  return `${repository}:${name}`;
}

function earlierName(found: readonly DesiredResource[], text: Pick<Diagnostic, 'severity' | 'message' | 'hint'>): Diagnostic {
  const [first] = found;
  return { ...text, code: 'plan/creates-references', ...(first === undefined ? {} : { resource: first.id, at: first.locate('') }) };
}

function newNames(found: readonly DesiredResource[]): string {
  return `the new ${namesOf(found.map(({ id }) => id))}`;
}

const maxNames = 5;

function namesOf(ids: readonly ResourceId[]): string {
  const rest = ids.length - maxNames;
  return [...ids.slice(0, maxNames), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

function listed(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(', ');
}

function describeRequestRule({
  approvals,
  reviewers_groups: reviewers,
  access_type: type,
  access_max_duration: longest,
}: AccessRequestRule): string {
  const limit = longest === null ? '' : `; at most ${durationText(longest)}`;
  return `${approvals} of ${listed(reviewers, 'no group')} for ${type}${limit}`;
}
