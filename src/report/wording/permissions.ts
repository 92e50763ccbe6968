import { addToGroup, joinWords } from '../../model/collections.ts';
import { membersText, mostGroups, type NeededApproval, type PermissionTerms } from '../../model/protection/permission.ts';
import type { Cause, PermissionChange, PermissionEffect, Protection } from '../../model/protection/protection.ts';
import { termText } from '../../model/protection/timed-grants.ts';
import { tokensOf } from '../../model/pointer.ts';
import { nameOf } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import type { EffectClass } from '../blocks.ts';
import { clip } from '../wrap.ts';
import { plural, shortList } from './phrases.ts';

/** The most lines that a report shows of who can do what. */
export const mostPermissions = 12;
const mostConnections = 3;
const mostPlaces = 2;
const longestTurn = 300;

/** How reports color each effect; access that is new and needs an approval is neither weaker nor stronger. */
export const effectOfPermission: Readonly<Record<PermissionEffect, EffectClass>> = {
  opened: 'weakens',
  eased: 'weakens',
  granted: 'unknown',
  longer: 'weakens',
  unknown: 'unknown',
  lost: 'strengthens',
  stricter: 'strengthens',
};

/** The heading over what people can do after a plan. */
export const permissionsTitle = 'Who can do what';

/**
 * Returns the changes of permissions that no headline or deletion states. Headlines are about everybody who can use a connection: they state
 * what everybody loses or needs another approval for, and what a field of the connection itself changes for them. Who gains what and until
 * when is stated here alone, and so is what a gateway refuses because it cannot review it.
 */
export function unstatedPermissions({ permissions, connections, headlines }: Protection): readonly PermissionChange[] {
  if (permissions === undefined) return [];
  const postures = new Map(connections.map((one) => [one.connection, one]));
  const named = new Set(headlines.flatMap((headline) => headline.connections));
  const caused = new Set(headlines.flatMap((headline) => headline.causes.map(fieldOf)));
  const isStated = ({ effect, except, connections: own, before, after, causes }: PermissionChange): boolean => {
    const isUnreviewable = effect === 'lost' && causes.some(({ path }) => path?.startsWith('/reviewers'));
    const isSame = after.answer === 'no' || before.until === after.until;
    const isLoss = !isGain(effect) && !isUnreviewable && isSame;
    const isAboutAll = except?.length === 0 && (after.answer === 'no' || before.longest === after.longest);
    const isOwn = causes.every((cause) => own.includes(cause.by) && caused.has(fieldOf(cause)));
    return own.every((id) => postures.get(id)?.deleted === true || (isLoss && named.has(id) && (isAboutAll || isOwn)));
  };
  return permissions.changes.filter((change) => !isStated(change));
}

/** Returns the field of an object by which it causes something. */
function fieldOf({ by, path = '' }: Cause): string {
  return `${by} ${tokensOf(path)[0] ?? ''}`;
}

function isGain(effect: PermissionEffect): boolean {
  return effect === 'opened' || effect === 'granted' || effect === 'unknown';
}

/** Returns a changed permission in words: who, `exec on orders-db`, and `was no, will be yes, without approval`. */
export function permissionTexts(
  { groups, together, oneOfEach, except = [], verbs, connections, before, after }: PermissionChange,
  name: (text: string) => string,
): { readonly who: string; readonly what: string; readonly turn: string } {
  const listed = (names: readonly string[], most: number): string =>
    shortList(names, most)
      .map((text, index) => (index < most ? name(text) : text))
      .join(', ');
  // Auditors run no runbooks, whatever everybody can do.
  const isLimited = !except.includes('auditor') && verbs.includes('runbooks');
  const hasOthers = verbs.length > 1;
  const others = [...(except.length === 0 ? [] : [listed(except, mostGroups)]), ...(isLimited && !hasOthers ? ['auditors'] : [])];
  const but = others.length === 0 ? '' : ` but ${others.join(', ')}`;
  return {
    who:
      groups === undefined
        ? `everybody${but}${isLimited && hasOthers ? ' (auditors: no runbooks)' : ''}`
        : together === true
          ? membersText(oneOfEach ?? groups.map((group) => [group]), name)
          : listed(groups, mostGroups),
    what: `${verbs.join(', ')} on ${listed(connections.map(nameOf), mostConnections)}`,
    turn: clip(turnText(turnOf({ before, after })), longestTurn),
  };
}

/** Returns where a changed permission is decided, each line or object once. */
export function permissionPlaces({ causes }: Pick<PermissionChange, 'causes'>, placeText: (place: string) => string): string {
  return shortList([...new Set(causes.map(({ by, place }) => placeText(place ?? by)))], mostPlaces).join(', ');
}

/** Returns how many lines of changed permissions are left out. */
export function morePermissionsText(more: number): string {
  return `and ${plural(more, 'more change')}`;
}

/** What people had and have: the answer, or the terms that differ, the approval first. */
type Turn = { readonly had: readonly string[]; readonly has: readonly string[] };

function turnOf({ before, after }: Pick<PermissionChange, 'before' | 'after'>): Turn {
  if (before.answer !== 'yes' || after.answer !== 'yes')
    return { had: [before.answer], has: [after.answer, ...(after.answer === 'yes' ? needsTexts(after) : [])] };
  const differing = termTexts.map((textOf) => [textOf(before), textOf(after)] as const).filter(([had, has]) => had !== has);
  return { had: differing.map(([had]) => had), has: differing.map(([, has]) => has) };
}

function turnText({ had, has }: Turn): string {
  return `was ${had.join(', ')}, will be ${has.join(', ')}`;
}

/** A line of changed permissions: what the same people can do by verbs that need the same approval. */
type PermissionLine = Pick<PermissionChange, 'effect' | 'causes'> & ReturnType<typeof permissionTexts>;

/** Returns the lines of changed permissions. Terms that only some verbs of a line have are named with these verbs. */
export function permissionTable(changes: readonly PermissionChange[], name: (text: string) => string): readonly PermissionLine[] {
  const lines = new Map<string, PermissionChange[]>();
  for (const change of withoutStatedForOthers(changes)) {
    const { groups, together, oneOfEach, except, connections } = change;
    const { had, has } = turnOf(change);
    addToGroup(
      lines,
      JSON.stringify([groups, together, oneOfEach, except, connections, had[0], has.slice(0, has[0] === 'yes' ? 2 : 1)]),
      change,
    );
  }
  return [...lines.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const verbs = same.flatMap((change) => change.verbs);
    const turns = same.map((change) => ({ verbs: change.verbs, ...turnOf(change) }));
    const had = sharedText(turns.map((turn) => ({ verbs: turn.verbs, terms: turn.had })));
    const has = sharedText(turns.map((turn) => ({ verbs: turn.verbs, terms: turn.has })));
    return [
      {
        ...permissionTexts({ ...first, verbs }, name),
        effect: first.effect,
        causes: same.flatMap(({ causes }) => causes),
        turn: clip(`was ${had}, will be ${has}`, longestTurn),
      },
    ];
  });
}

/** Leaves out what changes for admins and auditors where it changes in the same way for others: other lines state that. */
function withoutStatedForOthers(changes: readonly PermissionChange[]): readonly PermissionChange[] {
  const seeingAll = new Set(changes.filter(isAboutSeeingAll));
  if (seeingAll.size === 0) return changes;
  const stated = new Set(changes.flatMap((one) => (seeingAll.has(one) ? [] : factsOf(one))));
  return changes.filter((one) => !seeingAll.has(one) || factsOf(one).some((fact) => !stated.has(fact)));
}

function factsOf({ verbs, connections, before, after }: PermissionChange): readonly string[] {
  return verbs.flatMap((verb) => connections.map((id) => JSON.stringify([verb, id, before, after])));
}

/** Returns whether a change is about admins and auditors alone, who see every connection. */
function isAboutSeeingAll({ groups = [] }: PermissionChange): boolean {
  return groups.length > 0 && groups.every((group) => group === 'admin' || group === 'auditor');
}

/** Returns the terms of some verbs, each once; those that not all have are in parentheses: `after approval by dba (connect at most 1 h)`. */
function sharedText(all: readonly { readonly verbs: readonly string[]; readonly terms: readonly string[] }[]): string {
  const byTerm = new Map<string, string[]>();
  for (const { verbs, terms } of all) for (const term of terms) for (const verb of verbs) addToGroup(byTerm, term, verb);
  const count = all.reduce((sum, { verbs }) => sum + verbs.length, 0);
  const shared = [...byTerm].flatMap(([term, verbs]) => (verbs.length === count ? [term] : []));
  const own = [...byTerm].flatMap(([term, verbs]) => (verbs.length === count ? [] : [`${verbs.join(' and ')} ${term}`]));
  return `${shared.join(', ')}${own.length === 0 ? '' : ` (${own.join(', ')})`}`;
}

/** Returns what people need who can do something: `after an approval of dba`, `at most 1 h`. */
function needsTexts(terms: PermissionTerms): readonly string[] {
  return [
    approvalPhrase(terms),
    ...(terms.longest === undefined ? [] : [limitText(terms)]),
    ...(terms.runbooks === undefined ? [] : [filesText(terms)]),
    ...(terms.until === undefined ? [] : [lastText(terms)]),
  ];
}

/** Returns the approval that people need: `after approval by dba`, `without approval`. */
export function approvalPhrase({ approval }: PermissionTerms): string {
  if (approval === undefined) return 'without approval';
  if (approval === 'unknown') return 'with an unknown approval';
  if (approval === 'refused') return 'refused';
  const force = approval.force.length === 0 ? '' : `, or ${approval.force.join(' or ')} alone`;
  return `after approval by ${approversText(approval)}${force}`;
}

function limitText({ longest }: PermissionTerms): string {
  return longest === undefined ? 'without limit' : `at most ${durationText(longest)}`;
}

/** Returns which runbooks people may run: `every runbook`, `only github.com/acme/books:ops/`. */
export function filesText({ runbooks }: Pick<PermissionTerms, 'runbooks'>): string {
  return runbooks === undefined
    ? 'every runbook'
    : `only ${runbooks.map(({ repository = '', name }) => `${repository}:${name}`).join(', ')}`;
}

function lastText(terms: PermissionTerms): string {
  return termText(terms).trimStart() || 'without an end';
}

/** The texts of what people need, one for each part that can differ. */
const termTexts: readonly ((terms: PermissionTerms) => string)[] = [approvalPhrase, filesText, limitText, lastText];

/** Returns who approves: `dba and security`, `2 of dba, security, sre`. */
export function approversText({ groups, needed, atLeast }: Exclude<NeededApproval, 'refused'>): string {
  return needed === groups.length ? joinWords(groups) : `${atLeast === true ? 'at least ' : ''}${needed} of ${groups.join(', ')}`;
}
