import { diffLines } from '../rows/diff-lines.ts';
import { foldSimilar, othersText, sortBySeverity } from '../rows/fold-similar.ts';
import type { Entry, RowsBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
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
