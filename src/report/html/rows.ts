import { foldSimilar, othersText, sortBySeverity } from '../rows/fold-similar.ts';
import type { Entry, FieldRow, Result, ResultsBlock, RowPart, RowsBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { plural } from '../wording/summary.ts';
import { element, type Html, joinHtml, positionHtml, verdictBadge } from './markup.ts';

const mostLines = 200;
const mostUnfolded = 20;

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

/** Returns the first elements, and the others in one fold, which a search opens. */
export function unfoldFirst(elements: readonly Html[], word: string): readonly Html[] {
  const rest = elements.slice(mostUnfolded);
  if (rest.length === 0) return elements;
  const fold = element('details', { 'data-part': true, 'data-rest': true }, [element('summary', {}, plural(rest.length, word)), ...rest]);
  return [...elements.slice(0, mostUnfolded), fold];
}

function entryDetails(entry: Entry, linkOf: LinkOf | undefined): Html {
  const { name, said = '', sign, verb, note, at, effect, risk, fields, ends, samples, quiet } = entry;
  const lines = [
    ...fields.flatMap((row) => fieldLines(row, sign)),
    ...ends.map((end) => line(end.sign, `attachment: ${end.text}`)),
    ...samples.map((sample) => line(sample.sign, sample.text)),
    ...quiet.map((text) => ended(element('span', { class: 'quiet' }, `  ${text}`))),
  ];
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

function fieldLines({ label, parts, note }: FieldRow, sign: Entry['sign']): readonly Html[] {
  const name = note === '' ? label : `${label} (${note})`;
  return parts.flatMap((part) => {
    if (part.sign === '~') return [line('-', `${name}: ${part.before}`), line('+', `${name}: ${part.after}`)];
    const alone = sign === '+' || sign === '-' ? sign : '!';
    return [line(part.sign === '' ? alone : part.sign, `${name}: ${part.text}`)];
  });
}

const kinds = { '+': 'gains', '-': 'loses', '!': 'becomes' } as const;

function line(sign: keyof typeof kinds, text: string): Html {
  return ended(element('span', { class: kinds[sign] }, `${sign} ${text}`));
}

/** Returns a line of preformatted text. */
function ended(one: Html): Html {
  return { html: `${one.html}\n` };
}

/** Returns an entry with both sides of each field, and what happens next to it. */
function sidesDetails({ name, sign, effect, note, at, fields, ends, quiet }: Entry, linkOf: LinkOf | undefined): Html {
  const lines = [
    ...fields.slice(0, mostLines).map(sidesRow),
    ...ends.slice(0, mostLines).map(({ next, ...end }) => sidesRow({ label: 'attachment', parts: [end], next })),
  ];
  const more = fields.length + ends.length - lines.length;
  const [first = 'the gateway does not say by whom or when'] = quiet;
  const head = ['field', 'manifests', 'gateway', 'next apply'].map((text) => element('th', { scope: 'col' }, text));
  const table = element('table', { class: 'stack' }, [element('thead', {}, [element('tr', {}, head)]), element('tbody', {}, lines)]);
  return element('details', { open: true, 'data-name': name.toLowerCase(), 'data-direction': effect }, [
    element('summary', {}, [
      verdictBadge(effect),
      ' ',
      element('span', { class: 'mono' }, `${sign} ${name}`),
      element('span', { class: 'quiet' }, ` ${first}`),
    ]),
    ...(at === undefined ? [] : [element('p', {}, [positionHtml(at, linkOf)])]),
    ...(note === '' ? [] : [element('p', {}, note)]),
    ...(lines.length === 0 ? [] : [element('div', { class: 'scroll' }, [table])]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more; the JSON of the drift has them`)] : []),
    ...quiet.slice(1).map((text) => element('p', { class: 'quiet' }, text)),
  ]);
}

function sidesRow({ label, parts, next = '' }: Pick<FieldRow, 'label' | 'parts'> & { readonly next?: string | undefined }): Html {
  const side = (which: 'manifests' | 'gateway'): Html => {
    const values = parts.flatMap((part) => valueOn(part, which));
    return element('td', { 'data-label': which }, values.length === 0 ? [element('span', { class: 'quiet' }, '–')] : values);
  };
  const cells = [
    element('th', { scope: 'row' }, label),
    side('manifests'),
    side('gateway'),
    element('td', { 'data-label': 'next apply' }, next),
  ];
  return element('tr', {}, cells);
}

/** Returns the value that one side has; what it has alone is marked by sign and color. */
function valueOn(part: RowPart, which: 'manifests' | 'gateway'): readonly Html[] {
  const isGateway = which === 'gateway';
  const kind = isGateway ? 'gains' : 'loses';
  if (part.sign === '~') return [element('div', { class: `mono ${kind}` }, isGateway ? part.after : part.before)];
  if (part.sign === '') return isGateway ? [element('div', { class: 'mono' }, part.text)] : [];
  return (part.sign === '+') === isGateway ? [element('div', { class: `mono ${kind}` }, `${isGateway ? '+' : '−'} ${part.text}`)] : [];
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
