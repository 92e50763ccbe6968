import { diffLines } from '../rows/diff-lines.ts';
import { foldSimilar, othersText, sortBySeverity } from '../rows/fold-similar.ts';
import type { Entry, Result, ResultsBlock, RowsBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { plural } from '../wording/phrases.ts';
import { element, type Html, joinHtml, positionHtml } from './markup.ts';
import { unfoldFirst } from './table.ts';

const mostLines = 200;

/** Returns rows, the most severe first, each with its differences folded; those beyond the first ones are in one fold. */
export function rowsSection({ title, entries }: RowsBlock, linkOf: LinkOf | undefined): Html {
  const details = foldSimilar(sortBySeverity(entries), ({ likeness }) => likeness).map(({ entry, others }) =>
    joinHtml([
      entryDetails(entry, linkOf),
      ...(others.length === 0 ? [] : [element('p', { class: 'quiet' }, othersText(others.map(({ name }) => name)))]),
    ]),
  );
  const heading = title === '' ? [] : [element('h3', {}, title)];
  return element('section', { 'data-part': true }, [...heading, ...unfoldFirst(details, 'more change')]);
}

function entryDetails(entry: Entry, linkOf: LinkOf | undefined): Html {
  const { name, said = '', sign, verb, note, at, effect, risk } = entry;
  const lines = diffLines(entry).map(diffLine);
  const remark = [note === '' ? verb : note, ...(risk === '' ? [] : [risk])].filter((text) => text !== '').join(' · ');
  const head = [element('span', { class: 'mono' }, `${sign} ${name}${said}`), ' ', element('span', { class: 'quiet' }, remark)];
  const search = { 'data-name': name.toLowerCase(), 'data-direction': effect };
  if (lines.length === 0 && at === undefined) return element('p', search, head);
  return element('details', search, [
    element('summary', {}, head),
    ...(at === undefined ? [] : [element('p', {}, [positionHtml(at, linkOf)])]),
    lines.length === 0
      ? element('p', { class: 'quiet' }, 'No field changes.')
      : element('pre', { tabindex: '0' }, lines.slice(0, mostLines)),
    ...(lines.length > mostLines ? [element('p', { class: 'quiet' }, `and ${lines.length - mostLines} more lines`)] : []),
  ]);
}

const kinds: Readonly<Record<string, string>> = { '+': 'gains', '-': 'loses', '!': 'becomes', ' ': 'quiet' };

/** Returns a line of preformatted text. */
function diffLine(text: string): Html {
  return { html: `${element('span', { class: kinds[text.charAt(0)] }, text).html}\n` };
}

const mostResults = 2_000;

/** Returns results by sections, which are folded unless they need attention. */
export function resultsSection({ results, sections, open, needsAttention }: ResultsBlock): Html {
  const details = sections.flatMap((section) => {
    const own = results.filter((one) => one.section === section);
    const more = own.length - mostResults;
    if (own.length === 0) return [];
    return element('details', { open: open.includes(section), 'data-part': true }, [
      element('summary', {}, `${section} · ${plural(own.length, 'object')}`),
      element('ul', {}, own.slice(0, mostResults).map(resultItem)),
      ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more`)] : []),
    ]);
  });
  return element('section', { class: needsAttention ? 'refusals' : undefined, 'aria-label': 'Results' }, [
    element('h2', {}, 'Results'),
    ...details,
  ]);
}

function resultItem({ name, word, code, message, hint }: Result): Html {
  return element('li', { 'data-name': name.toLowerCase() }, [
    `${word} `,
    element('span', { class: 'mono' }, name),
    ...(code === undefined ? [] : [' ', element('code', {}, code)]),
    ...(message === undefined ? [] : [` ${message}`]),
    ...(hint === undefined ? [] : [element('div', { class: 'quiet' }, hint)]),
  ]);
}
