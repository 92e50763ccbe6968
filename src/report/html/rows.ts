import { diffLines } from '../rows/diff-lines.ts';
import { foldSimilar, othersText, sortBySeverity } from '../rows/fold-similar.ts';
import type { Entry, FieldRow, Result, ResultsBlock, RowsBlock, TableRow } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { plural } from '../wording/phrases.ts';
import { mark } from '../marks.ts';
import { element, type Html, joinHtml, positionHtml, verdictBadge } from './markup.ts';
import { tableHtml, unfoldFirst } from './table.ts';

const mostLines = 200;

/** Returns rows, the most severe first, each with its differences folded; those beyond the first ones are in one fold. */
export function rowsSection({ title, entries, form }: RowsBlock, linkOf: LinkOf | undefined): Html {
  const details = foldSimilar(sortBySeverity(entries), ({ likeness }) => likeness).map(({ entry, others }) =>
    joinHtml([
      (form === 'sides' ? sidesDetails : entryDetails)(entry, linkOf),
      ...(others.length === 0 ? [] : [element('p', { class: 'quiet' }, othersText(others.map(({ name }) => name)))]),
    ]),
  );
  const heading = title === '' ? [] : [element('h3', {}, title)];
  return element('section', { 'data-part': true }, [...heading, ...unfoldFirst(details, form === 'sides' ? 'more object' : 'more change')]);
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

/** Returns an entry with both sides of each field, and what happens next to it. */
function sidesDetails({ name, sign, effect, note, at, fields, ends, quiet }: Entry, linkOf: LinkOf | undefined): Html {
  const rows = [
    ...fields.slice(0, mostLines).map(sidesRow),
    ...ends.slice(0, mostLines).map(({ next, ...end }) => sidesRow({ label: 'attachment', parts: [end], next })),
  ];
  const more = fields.length + ends.length - rows.length;
  const [first = 'the gateway does not say by whom or when'] = quiet;
  const table = tableHtml({ type: 'table', headers: ['field', 'manifests', 'gateway', 'next apply'], rows }, linkOf);
  return element('details', { open: true, 'data-name': name.toLowerCase(), 'data-direction': effect }, [
    element('summary', {}, [
      verdictBadge(effect),
      ' ',
      element('span', { class: 'mono' }, `${sign} ${name}`),
      element('span', { class: 'quiet' }, ` ${first}`),
    ]),
    ...(at === undefined ? [] : [element('p', {}, [positionHtml(at, linkOf)])]),
    ...(note === '' ? [] : [element('p', {}, note)]),
    ...(rows.length === 0 ? [] : [element('div', { class: 'scroll' }, [table])]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more; the JSON of the drift has them`)] : []),
    ...quiet.slice(1).map((text) => element('p', { class: 'quiet' }, text)),
  ]);
}

/** Returns a field with the value that each side has; what it has alone is marked by sign and color. */
function sidesRow({ label, parts, next = '' }: Pick<FieldRow, 'label' | 'parts'> & { readonly next?: string | undefined }): TableRow {
  const lines = (gateway: boolean): readonly string[] =>
    parts.flatMap((part) => {
      const role = gateway ? 'added' : 'removed';
      if (part.sign === '~') return [mark(role, gateway ? part.after : part.before)];
      if (part.sign === '') return gateway ? [mark('name', part.text)] : [];
      return (part.sign === '+') === gateway ? [mark(role, `${gateway ? '+' : '−'} ${part.text}`)] : [];
    });
  const [manifests, live] = [false, true].map((gateway) => (lines(gateway).length === 0 ? [mark('quiet', '–')] : lines(gateway)));
  return { cells: [label, { lines: manifests ?? [] }, { lines: live ?? [] }, next] };
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
