import { groupBy } from '../../model/collections.ts';
import type { AllowedRunbook } from '../../model/protection/permission.ts';
import type { RunbookRule } from '../../model/protection/access-objects.ts';
import { coversRunbook, uncoveredFiles } from '../access/compare-terms.ts';
import type { Difference } from '../access/terms.ts';
import { namesOfSorts, peoplePhrase } from './access-rows.ts';
import { everybody } from './moved-approvals.ts';
import { type Control, type ControlRow, type MovedNaming, type VerbPhrase } from './control-row.ts';

const everyRunbook = 'every runbook';

function runbookText({ repository, name }: AllowedRunbook): string {
  return repository === undefined ? everyRunbook : `${repository}:${name}`;
}

function ruleText({ name, groups, runbooks }: RunbookRule): string {
  return `${name}: ${runbooks.map(runbookText).join(', ') || everyRunbook} for ${groups.join(', ') || everybody}`;
}

/** Names the people that may run other runbooks, each with those that only one side has, as far as these are not a part of others. */
const movedRunbooks: MovedNaming = (some, direction) => {
  const moved = some.filter(({ part, terms: [had, has] }) => part === 'files' || (part === 'use' && had?.runs !== has?.runs));
  const named = [...groupBy(moved, (one) => runbooksText(one, direction))].flatMap(([text, own]) =>
    namesOfSorts(own).map((control) => ({ ...control, text })),
  );
  return named.some(({ name, content }) => name === everybody && content === '') ? named.slice(0, 1) : named;
};

/** Lists the runbooks that only one side has. */
function runbooksText({ terms: [had, has] }: Difference, direction: 'more' | 'less'): string {
  const [more = [], fewer = []] = (direction === 'more' ? [has, had] : [had, has]).map((terms) => terms?.files);
  const found = uncoveredFiles(more, fewer);
  const isPart = direction === 'less' && found.some((one) => fewer.some((other) => coversRunbook(one, other) !== false));
  return isPart ? '' : found.map(runbookText).join(', ');
}

/** Names the runbooks that all people of a phrase may run on one side alone; otherwise only whether they are more or fewer. */
function runbookPhrase(controls: readonly Control[], verb: string, rest: string): VerbPhrase {
  const [text = '', ...others] = new Set(controls.map((one) => one.text));
  const isNamed = others.length === 0 && text !== '' && text.length <= longestRunbooks;
  const phrase = isNamed ? `${verb} ${text} on` : `can run ${rest} on`;
  return peoplePhrase(controls, phrase);
}

const longestRunbooks = 80;

/** Runbook rules exist, and none includes the connection. */
const noRunbooks: Control = { name: '', text: 'none' };

/** The runbooks that rules of the gateway allow, to which groups. */
export const runbooksRow: Omit<ControlRow, 'type'> = {
  fields: { RunbookRule: ['runbooks', 'user_groups'] },
  ofAccess: { RunbookRule: { verb: 'allows runbooks' } },
  ofConnection: (_, { facts: { runbookRules } }) =>
    runbookRules?.length === 0 ? [noRunbooks] : (runbookRules ?? []).map((rule) => ({ name: rule.id, text: ruleText(rule) })),
  moved: movedRunbooks,
  weight: 3,
  column: { heading: 'runbooks', none: 'all', isOptional: true },
  about: 'runbooks',
  loses: (controls, { access: { runbooks } }) =>
    runbooks === undefined
      ? 'lets everybody with access run every runbook: no runbook rule is left'
      : runbookPhrase(controls, 'can run', 'more runbooks'),
  gains: (controls, { access: { runbooks } }) =>
    runbooks === undefined
      ? 'allows only the runbooks of rules: there were no runbook rules before'
      : runbookPhrase(controls, 'can no longer run', 'fewer runbooks'),
};
