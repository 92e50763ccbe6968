import { AppError } from '../../model/errors.ts';
import type { Checked } from '../../model/diagnostic.ts';
import type { NewIssue } from '../forge.ts';
import { isInvalidRequest } from './failed-answer.ts';

type Named = Pick<NewIssue, 'labels' | 'assignees'>;

/**
 * Opens an issue and returns its number. GitHub refuses the whole issue for one label or one assignee, such as a person who left the
 * organization: it is opened without them, with a warning. Throws AppError if GitHub refuses it without labels and assignees, too.
 */
export async function openIssueWith(wish: NewIssue, create: (issue: NewIssue) => Promise<number>): Promise<Checked<number>> {
  let rest = wish;
  let refusal = '';
  for (;;) {
    try {
      const number = await create(rest);
      return { value: number, diagnostics: refusal === '' ? [] : [lossOf(number, { wish, rest, refusal })] };
    } catch (error) {
      const fewer = isInvalidRequest(error) ? withFewer(rest, error.message) : undefined;
      if (fewer === undefined || !(error instanceof AppError)) throw error;
      rest = { ...rest, ...fewer };
      refusal = error.message;
    }
  }
}

/** The most characters of a label on GitHub. */
const longestLabel = 50;

/** Returns the labels and assignees without those that the message names, otherwise without the first suspects; undefined if none is left. */
function withFewer({ labels, assignees }: Named, message: string): Named | undefined {
  const isNamed = (name: string): boolean => message.includes(`"value":${JSON.stringify(name)}`);
  const first = { labels: labels.slice(0, 1), assignees };
  const none = { labels: [], assignees };
  const candidates: readonly Named[] = [
    { labels: labels.filter((one) => !isNamed(one)), assignees: assignees.filter((one) => !isNamed(one)) },
    { labels: labels.filter((one) => Array.from(one).length <= longestLabel), assignees },
    ...(/label/i.test(message) ? [first, none] : []),
    { labels, assignees: [] },
    first,
    none,
  ];
  return candidates.find((one) => one.labels.length + one.assignees.length < labels.length + assignees.length);
}

type Loss = { readonly wish: Named; readonly rest: Named; readonly refusal: string };

function lossOf(number: number, { wish, rest, refusal }: Loss): Checked<number>['diagnostics'][number] {
  const labels = wish.labels.filter((one) => !rest.labels.includes(one)).map((one) => `the label "${one}"`);
  const assignees = wish.assignees.filter((one) => !rest.assignees.includes(one)).map((one) => `the assignee "${one}"`);
  return {
    code: 'forge/refused',
    severity: 'warning',
    message: `issue ${number} was opened without ${[...labels, ...assignees].join(', ')}: ${refusal}`,
    hint: 'correct the inputs labels and assignees',
  };
}
