import { asObject, type JsonObject } from '../../model/json.ts';
import type { AccessExpectation, AccessTest, AccessTestResult, ExpectedApproval } from '../../model/protection/access-test.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import type { Decider, Permission, PermissionFact, PermissionTerms } from '../../model/protection/permission.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import { accessModes } from '../access/effective-access.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { matchesGlob } from '../pattern/glob.ts';
import { readPostures } from '../posture/posture.ts';
import { allConnections, type ProtectionSnapshot, rulesOn } from '../posture/protection-snapshot.ts';
import { guardrailEntries, simulateGuardrail } from '../samples/simulate.ts';
import { hiddenLimits } from './hidden-fields.ts';
import { approvalText, permissionOf, type PermissionSubject } from './permission.ts';

/** What a test finds for a name or tags that no connection has. */
export const noConnection = 'no such connection';

/** Names what decides a fact: a line of a manifest, or an object without one. */
export type DeciderText = (decider: Decider) => string;

/** What results need: `newPatterns` makes a compiler for each text that should be blocked, and only tests that have such texts need it. */
type TestTools = { readonly textOf: DeciderText; readonly newPatterns: (() => PatternCompiler) | undefined };

/** Returns whether tests simulate rules, so that they need the pattern compiler. */
export function needsPatterns(tests: readonly AccessTest[]): boolean {
  return tests.some(({ expectations }) => expectations.some(({ blocked }) => blocked.length > 0));
}

/** Checks access tests in one state of a gateway; each expectation has a result for each connection that it is about. */
export function checkAccessTests(
  tests: readonly AccessTest[],
  snapshot: ProtectionSnapshot,
  tools: TestTools,
): readonly AccessTestResult[] {
  if (tests.length === 0) return [];
  const postures = readPostures(snapshot);
  const subjects = allConnections(snapshot)
    .toSorted()
    .flatMap((id): readonly PermissionSubject[] => {
      const posture = postures(id);
      return posture === undefined ? [] : [{ id, posture, snapshot }];
    });
  return tests.flatMap(({ name, expectations }) =>
    expectations.flatMap((expectation): readonly AccessTestResult[] => {
      const about = statedText(expectation);
      const head = { test: name, at: expectation.at, about, expected: expectedText(expectation) };
      const meant = subjects.filter((subject) => isMeant(expectation, subject));
      const missing = missingNames(expectation, subjects);
      return [
        ...missing.map((connection): AccessTestResult => ({
          ...head,
          connection,
          outcome: 'failed',
          found: noConnection,
          because: [],
        })),
        ...meant.map((subject): AccessTestResult => ({
          ...head,
          connection: nameOf(subject.id),
          ...resultOf(expectation, subject, tools),
        })),
      ];
    }),
  );
}

/** A connection that leads where another one led before. */
export type OtherWay = { readonly guarded: ResourceId; readonly through: ResourceId };

/** Checks access tests of connections on other ways to the same place, for people who get there by them; lists only what fails. */
export function checkOtherWays(
  tests: readonly AccessTest[],
  ways: readonly OtherWay[],
  snapshot: ProtectionSnapshot,
  tools: TestTools,
): readonly AccessTestResult[] {
  const postures = readPostures(snapshot);
  return ways.flatMap(({ guarded, through }): readonly AccessTestResult[] => {
    const posture = postures(through);
    if (posture === undefined) return [];
    const subject: PermissionSubject = { id: through, posture, snapshot };
    const about = tests.flatMap(({ name, expectations }) => expectations.map((expectation) => ({ name, expectation })));
    return about.flatMap(({ name, expectation }): readonly AccessTestResult[] => {
      const { on, groups, verbs = accessModes, at } = expectation;
      if (!isAbout(on, nameOf(guarded), snapshot.resources.get(guarded)?.spec)) return [];
      if (verbs.every((verb) => permissionOf(subject, { groups, verb }).answer === 'no')) return [];
      const found = resultOf(expectation, subject, tools);
      if (found.outcome !== 'failed') return [];
      const connection = `${nameOf(guarded)} through ${nameOf(through)}`;
      return [{ test: name, at, about: statedText(expectation), expected: expectedText(expectation), connection, ...found }];
    });
  });
}

/** Returns the names that match no connection: a test of nothing would always pass. */
function missingNames({ on }: AccessExpectation, subjects: readonly PermissionSubject[]): readonly string[] {
  if ('tags' in on) return subjects.some((subject) => isMeant({ on }, subject)) ? [] : [tagsText(on.tags)];
  return on.names.filter((pattern) => !subjects.some(({ id }) => matchesGlob(pattern, nameOf(id))));
}

function isMeant({ on }: Pick<AccessExpectation, 'on'>, { id, snapshot }: PermissionSubject): boolean {
  return isAbout(on, nameOf(id), snapshot.resources.get(id)?.spec);
}

/** Returns whether an entry is about a connection, by its name or the tags in its spec. */
export function isAbout(on: AccessExpectation['on'], name: string, spec: JsonObject | undefined): boolean {
  return 'tags' in on ? hasTags(on.tags, spec) : on.names.some((pattern) => matchesGlob(pattern, name));
}

/** Returns whether the spec of a connection has all of some tags. */
export function hasTags(tags: Readonly<Record<string, string>>, spec: JsonObject | undefined): boolean {
  const own = asObject(spec?.['connection_tags']);
  return Object.entries(tags).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
}

type Found = Pick<AccessTestResult, 'outcome' | 'found' | 'because'>;

function resultOf(expectation: AccessExpectation, subject: PermissionSubject, { textOf, newPatterns }: TestTools): Found {
  const { groups, verbs: asked, expect } = expectation;
  const permissions = (asked ?? accessModes).map((verb) => permissionOf(subject, { groups, verb }));
  const because = (facts: readonly PermissionFact[], fields: readonly string[] = []): readonly string[] => {
    const by = facts.flatMap((fact) => fact.by);
    const exact = by.filter(({ path }) => fields.includes(tokensOf(path)[0] ?? ''));
    return [...new Set((exact.length > 0 ? exact : by).map(textOf))];
  };
  const possible = permissions.filter(({ answer }) => answer !== 'no');
  if (expect === 'denied') {
    const granted = possible.filter(({ answer }) => answer === 'yes');
    const [first] = granted.length > 0 ? granted : possible;
    if (first === undefined) return passed('denied');
    const facts = first.facts.filter(({ part }) => entryParts.has(part));
    const found = granted.length > 0 ? `${joinVerbs(granted)} allowed` : `cannot be known: ${unknownText(first)}`;
    return { outcome: granted.length > 0 ? 'failed' : 'unknown', found, because: because(facts) };
  }
  const refused = asked === undefined ? (possible.length === 0 ? permissions : []) : permissions.filter(({ answer }) => answer === 'no');
  if (refused.length > 0)
    return { outcome: 'failed', found: `${joinVerbs(refused)} denied`, because: because(refused.flatMap(({ facts }) => facts)) };
  for (const permission of possible) {
    const problem = problemOf(permission, expectation, { ...subject, newPatterns });
    if (problem === undefined) continue;
    const { found, parts, fields, outcome = 'failed' } = problem;
    const deciding = permission.facts.filter(({ part }) => parts.includes(part));
    const isDecided = deciding.some(({ by }) => by.length > 0);
    return {
      outcome,
      found: `${permission.verb}: ${found}`,
      because: isDecided ? because(deciding, fields) : selectingTags(parts, subject).map(textOf),
    };
  }
  const unsure = possible.find(({ answer }) => answer === 'unknown');
  if (unsure !== undefined && (asked !== undefined || possible.every(({ answer }) => answer === 'unknown')))
    return { outcome: 'unknown', found: `cannot be known: ${unknownText(unsure)}`, because: because(unsure.facts) };
  return passed('as expected');
}

/** The kinds of rules that selectors attach, by what they decide. */
const selectedKinds: Readonly<Partial<Record<PermissionFact['part'], string>>> = {
  approval: 'AccessRequestRule',
  longest: 'AccessRequestRule',
  blocked: 'GuardrailRule',
  masked: 'DataMaskingRule',
};

/** Returns the tags of a connection where selectors attach rules to others that would decide. */
function selectingTags(parts: Problem['parts'], { id, snapshot }: PermissionSubject): readonly Decider[] {
  const kinds = new Set(parts.map((part) => selectedKinds[part]));
  const isSelected = (rule: ResourceId, connection: ResourceId): boolean =>
    kinds.has(kindOf(rule)) && (snapshot.declaredAttachments?.({ rule, connection }) ?? []).some(({ how }) => how === 'selector');
  const isTagged = Object.keys(asObject(snapshot.resources.get(id)?.spec['connection_tags'])).length > 0;
  const areSelectors = [...snapshot.edges].some(([connection, rules]) => [...rules].some((rule) => isSelected(rule, connection)));
  return isTagged && areSelectors ? [{ id, path: pointer('connection_tags') }] : [];
}

function passed(found: string): Found {
  return { outcome: 'passed', found, because: [] };
}

/** The facts that decide whether people get in. */
export const entryParts: ReadonlySet<PermissionFact['part']> = new Set(['sees it', 'open', 'runbooks']);

function unknownText({ facts }: Permission): string {
  return facts.find(({ answer }) => answer === 'unknown')?.text ?? 'what decides it';
}

type Problem = {
  readonly found: string;
  readonly parts: readonly PermissionFact['part'][];
  /** The fields that decide it where the facts name several. */
  readonly fields?: readonly string[];
  readonly outcome?: 'unknown';
};

type SimulatedSubject = PermissionSubject & Pick<TestTools, 'newPatterns'>;

/** Returns what a possible permission does not have; undefined if it is as expected. */
function problemOf(permission: Permission, expectation: AccessExpectation, subject: SimulatedSubject): Problem | undefined {
  const { masked, blocked } = expectation;
  const problem = termsProblem(permission, expectation, permission.verb);
  if (problem !== undefined) return problem;
  const unmasked = masked.filter((type) => !permission.masked.includes(type));
  const hidden = hiddenLimits(subject.snapshot, subject.id);
  const unsure = (part: 'blocked' | 'masked'): Pick<Problem, 'outcome'> => (hidden[part].length > 0 ? { outcome: 'unknown' } : {});
  if (unmasked.length > 0) return { found: `${unmasked.join(', ')} not masked`, parts: ['masked'], ...unsure('masked') };
  const isHiddenRule = (rule: ResourceId): boolean => hidden.blocked.some(({ id }) => id === rule);
  const passing = blocked.filter((text) => !isBlocked(text, subject, isHiddenRule));
  const texts = passing.map((text) => JSON.stringify(text)).join(', ');
  return passing.length === 0 ? undefined : { found: `${texts} not blocked`, parts: ['blocked'], ...unsure('blocked') };
}

/** Returns what is easier than an entry asks for: the approval, or the duration. */
export function termsProblem(
  terms: PermissionTerms,
  { expect, longest }: Pick<AccessExpectation, 'expect' | 'longest'>,
  verb: AccessMode,
): Problem | undefined {
  const approval = typeof expect === 'object' ? approvalProblem(terms, expect) : undefined;
  if (approval !== undefined || longest === undefined || verb !== 'connect') return approval;
  if (terms.isLimitUnknown === true) return { found: 'the longest access is not known', parts: ['longest'], outcome: 'unknown' };
  if (terms.longest !== undefined && terms.longest <= longest) return undefined;
  const found = terms.longest === undefined ? 'no limit' : durationText(terms.longest);
  return { found: `${found}, not at most ${durationText(longest)}`, parts: ['longest'] };
}

const countFields = ['min_approvals', 'min_review_approvals'];
const groupFields = ['reviewers', 'reviewers_groups'];
const forceFields = ['force_approve_groups', 'force_approval_groups'];

function approvalProblem({ approval }: PermissionTerms, { from, atLeast, forcedBy }: ExpectedApproval): Problem | undefined {
  const parts: Problem['parts'] = ['approval'];
  if (approval === 'unknown') return { found: 'the approval is not known', parts, outcome: 'unknown' };
  if (approval === undefined) return { found: 'no approval needed', parts };
  if (approval === 'refused') return undefined;
  const { groups, needed, force } = approval;
  const found = `approval by ${approvalText(approval)}`;
  // All that is known is that at least one has to approve.
  const unsure = approval.atLeast === true && atLeast <= groups.length ? ({ outcome: 'unknown' } as const) : {};
  // Others alone are too few: then one of the groups has to approve.
  const others = groups.filter((group) => !from.includes(group)).length;
  if (needed < atLeast) return { found, parts, fields: needed < groups.length ? countFields : groupFields, ...unsure };
  if (from.length > 0 && needed <= others) return { found, parts, fields: groupFields, ...(others < groups.length ? unsure : {}) };
  return forcedBy === undefined || force.every((group) => forcedBy.includes(group)) ? undefined : { found, parts, fields: forceFields };
}

/** Returns whether a guardrail on the connection blocks an input. */
function isBlocked(
  text: string,
  { id, snapshot, posture, newPatterns }: SimulatedSubject,
  isHidden: (rule: ResourceId) => boolean,
): boolean {
  if (posture.enforcement.kind === 'forwards') return false;
  if (newPatterns === undefined) throw new Error('the pattern compiler is not loaded');
  const patterns = newPatterns();
  return [...rulesOn(snapshot, id)].some((rule) => {
    const spec = snapshot.resources.get(rule)?.spec;
    return spec !== undefined && !isHidden(rule) && simulateGuardrail(guardrailEntries(spec, 'input'), text, patterns).hits.length > 0;
  });
}

function joinVerbs(permissions: readonly Permission[]): string {
  return permissions.map(({ verb }) => verb).join(', ');
}

/** Returns whom an expectation is about, and where: `contractors on env=prod by exec`. */
function aboutText({ groups, on, verbs: asked }: AccessExpectation): string {
  const where = 'tags' in on ? tagsText(on.tags) : on.names.join(', ');
  return `${groups.join('+')} on ${where}${asked === undefined ? '' : ` by ${asked.join(', ')}`}`;
}

/** Returns an expectation in words: `contractors on env=prod: denied`. */
export function statedText(expectation: AccessExpectation): string {
  return `${aboutText(expectation)}: ${expectedText(expectation)}`;
}

/** Returns tags as `env=prod, team=orders`. */
export function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

/** Returns what an entry expects in words: `approval by at least 2, at most 8 h`. */
export function expectedText({
  expect,
  longest,
  masked,
  blocked,
}: Pick<AccessExpectation, 'expect' | 'longest' | 'masked' | 'blocked'>): string {
  const approval = typeof expect === 'string' ? expect : [`approval by at least ${expect.atLeast}`, ...fromTexts(expect)].join(', ');
  return [
    approval,
    ...(longest === undefined ? [] : [`at most ${durationText(longest)}`]),
    ...(masked.length === 0 ? [] : [`masks ${masked.join(', ')}`]),
    ...(blocked.length === 0 ? [] : [`blocks ${blocked.map((text) => JSON.stringify(text)).join(', ')}`]),
  ].join(', ');
}

function fromTexts({ from, forcedBy }: ExpectedApproval): readonly string[] {
  return [
    ...(from.length === 0 ? [] : [`one of ${from.join(', ')}`]),
    ...(forcedBy === undefined ? [] : [forcedBy.length === 0 ? 'forced by no one' : `forced by ${forcedBy.join(', ')} alone`]),
  ];
}
