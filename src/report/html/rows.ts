import { diffLines } from '../rows/diff-lines.ts';
import { type FoldedEntry, foldSimilar, likenessOf, othersText, sortByEffect } from '../rows/fold-similar.ts';
import type { Entry, RowsBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { linesHtml } from './lines.ts';
import { element, type Html, positionHtml } from './markup.ts';
import { unfoldFirst } from './table.ts';

const mostLines = 200;

/** Returns rows, the worst first, each with its differences folded; those beyond the first ones are in one fold. */
export function rowsSection({ title, headlines, entries }: RowsBlock, linkOf: LinkOf | undefined): Html {
  const details = foldSimilar(sortByEffect(entries), likenessOf).map((one) => entryDetails(one, linkOf));
  return element('section', { 'data-part': true }, [
    ...(title === '' ? [] : [element('h3', {}, title)]),
    ...(headlines === undefined ? [] : linesHtml(headlines, linkOf)),
    ...unfoldFirst(details, 'more change'),
  ]);
}

function entryDetails({ entry, others }: FoldedEntry<Entry>, linkOf: LinkOf | undefined): Html {
  const { name, sign, note, at, effect, risk } = entry;
  const lines = diffLines(entry).map(diffLine);
  const remark = [note, risk].filter((text) => text !== '').join(' · ');
  const head = [element('span', { class: 'mono' }, `${sign} ${name}`), ' ', element('span', { class: 'quiet' }, remark)];
  const names = [entry, ...others].map((one) => one.name.toLowerCase()).join(' ');
  const content = [
    ...(at === undefined ? [] : [element('p', {}, [positionHtml(at, linkOf)])]),
    ...(lines.length === 0 ? [] : [element('pre', { tabindex: '0' }, lines.slice(0, mostLines))]),
    ...(lines.length > mostLines ? [element('p', { class: 'quiet' }, `and ${lines.length - mostLines} more lines`)] : []),
    ...(others.length === 0 ? [] : [element('p', { class: 'quiet' }, othersText(others))]),
  ];
  const search = { 'data-name': names, 'data-direction': effect };
  return content.length === 0 ? element('p', search, head) : element('details', search, [element('summary', {}, head), ...content]);
}

const kinds: Readonly<Record<string, string>> = { '+': 'gains', '-': 'loses', '!': 'becomes', ' ': 'quiet' };

/** Returns a line of preformatted text. */
function diffLine(text: string): Html {
  return { html: `${element('span', { class: kinds[text.charAt(0)] }, text).html}\n` };
}
