import type { AllowedRunbook } from '../../model/protection/permission.ts';
import { compareText } from '../../model/json.ts';
import type { RunbookRule } from '../../model/protection/access-objects.ts';
import { runbooksOf, seesConnection } from '../access/effective-access.ts';
import { everybodyControl, peoplePhrase } from './access-rows.ts';
import { everybody } from './compare-approvals.ts';
import { noDifference } from './compare-controls.ts';
import {
  controlsOf,
  controlTexts,
  exclusiveTexts,
  verbPhrase,
  type Control,
  type ControlComparison,
  type ControlRow,
  type Posture,
  type VerbPhrase,
} from './control-row.ts';

const everyRunbook = 'every runbook';

function runbookText({ repository, name }: AllowedRunbook): string {
  return repository === undefined ? everyRunbook : `${repository}:${name}`;
}

function ruleText({ name, groups, runbooks }: RunbookRule): string {
  return `${name}: ${runbooks.map(runbookText).join(', ') || everyRunbook} for ${groups.join(', ') || everybody}`;
}

/** Returns whether a permission covers a runbook, as the gateway compares their names: it ignores case, and knows two wildcards. */
export function coversRunbook(by: AllowedRunbook, { repository, name }: AllowedRunbook): boolean | undefined {
  if (by.repository === undefined) return true;
  if (by.repository !== repository) return false;
  if (name.toLowerCase().startsWith(by.name.toLowerCase())) return true;
  return /[%_]/.test(by.name) ? undefined : false;
}

/** Compares the runbooks that each group may run on a connection whose runbooks are open on both sides. */
function compareRunbooks(before: Posture, after: Posture): ControlComparison {
  const sides = [before, after].map(({ access }) => access);
  if (!sides.every(({ open }) => open.has('runbooks'))) return noDifference;
  const groups = new Set(sides.flatMap(({ runbooks = [] }) => runbooks.flatMap((rule) => rule.groups)));
  groups.delete('admin');
  // Where everybody sees the connection on one side, those who see it on the other one do on both.
  const [had = [], has = []] = [sides, sides.toReversed()].map(([own, other]) => own?.groups ?? other?.groups ?? []);
  // A group of a runbook rule that does not see the connection may run what its members in other groups see, in the same one or two.
  const both = had.filter((group) => has.includes(group)).map((group) => [group]);
  const others = both.length > 0 ? both : had.flatMap((first) => has.map((last) => [first, last]));
  const alone = [[], ...[...groups, ...had, ...has].map((group) => [group])];
  const members = [...alone, ...others, ...[...groups].flatMap((group) => others.map((other) => [group, ...other]))].filter((member) =>
    sides.every((access) => seesConnection(access, member)),
  );
  const inTwo = new Set(others.filter((member) => new Set(member).size === 2));
  const found = { lost: new Map<string, string>(), gained: new Map<string, string>(), incomparable: new Map<string, string>() };
  for (const member of members) {
    const name = inTwo.has(member) ? `people in both ${member.join(' and ')}` : (member[0] ?? everybody);
    const [more, fewer] = [
      uncovered(runbooksOf(after.access, member), runbooksOf(before.access, member)),
      uncovered(runbooksOf(before.access, member), runbooksOf(after.access, member)),
    ];
    if (more.isUnknown || fewer.isUnknown) found.incomparable.set(name, '');
    if (more.texts.length > 0) found.lost.set(name, more.texts.join(', '));
    if (fewer.texts.length > 0) found.gained.set(name, fewer.isPart ? '' : fewer.texts.join(', '));
  }
  const texts = exclusiveTexts(controlTexts(controlsOf(before, 'runbooks')), controlTexts(controlsOf(after, 'runbooks')));
  return {
    ...noDifference,
    lost: namedOnce(found.lost),
    gained: namedOnce(found.gained),
    incomparable: namedOnce(found.incomparable),
    ...texts,
  };
}

/** Returns one control for each name, with its runbooks as its text; everybody includes every group. */
function namedOnce(names: ReadonlyMap<string, string>): readonly Control[] {
  const all = names.get(everybody);
  if (all !== undefined) return [{ ...everybodyControl, text: all }];
  return [...names].toSorted(([left], [right]) => compareText(left, right)).map(([name, text]) => ({ name, text }));
}

type Uncovered = { readonly texts: readonly string[]; readonly isPart: boolean; readonly isUnknown: boolean };

/** Lists the runbooks that others do not cover, whether they cover a part of one, and whether this is unknown of some. */
function uncovered(some: readonly AllowedRunbook[], by: readonly AllowedRunbook[]): Uncovered {
  const found = some.flatMap((one) => {
    const covered = by.map((other) => coversRunbook(other, one));
    return covered.includes(true) ? [] : [{ one, isUnknown: covered.includes(undefined) }];
  });
  const others = found.flatMap(({ one, isUnknown }) => (isUnknown ? [] : [one]));
  return {
    texts: others.map(runbookText),
    isPart: others.some((one) => by.some((other) => coversRunbook(one, other) !== false)),
    isUnknown: found.some(({ isUnknown }) => isUnknown),
  };
}

/** Names the runbooks that all people of a phrase may run on one side alone; otherwise only whether they are more or fewer. */
function runbookPhrase(controls: readonly Control[], verb: string, rest: string): VerbPhrase {
  const [text = '', ...others] = new Set(controls.map((one) => one.text));
  const isNamed = others.length === 0 && text !== '' && text.length <= longestRunbooks;
  const phrase = isNamed ? `${verb} ${text} on` : `can run ${rest} on`;
  return peoplePhrase(controls, { one: phrase, many: phrase });
}

const longestRunbooks = 80;

/** Runbook rules exist, and none includes the connection. */
const noRunbooks: Control = { name: '', text: 'none' };

/** The runbooks that rules of the gateway allow, to which groups. */
export const runbooksRow: Omit<ControlRow, 'type'> = {
  decidedBy: ['RunbookRule'],
  fields: { RunbookRule: ['runbooks', 'user_groups'] },
  ofAccess: { RunbookRule: { verb: 'allows runbooks' } },
  ofConnection: (_, { facts: { runbookRules } }) =>
    runbookRules?.length === 0 ? [noRunbooks] : (runbookRules ?? []).map((rule) => ({ name: rule.id, text: ruleText(rule) })),
  compare: compareRunbooks,
  weight: 3,
  column: { heading: 'runbooks', none: 'all', isOptional: true },
  about: 'runbooks',
  loses: (controls, { access: { runbooks } }) =>
    runbooks === undefined
      ? verbPhrase('lets', 'let', 'everybody with access run every runbook: no runbook rule is left')
      : runbookPhrase(controls, 'can run', 'more runbooks'),
  gains: (controls, { access: { runbooks } }) =>
    runbooks === undefined
      ? verbPhrase('allows', 'allow', 'only the runbooks of rules: there were no runbook rules before')
      : runbookPhrase(controls, 'can no longer run', 'fewer runbooks'),
};
