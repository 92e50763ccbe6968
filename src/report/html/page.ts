import { createHash } from 'node:crypto';
import { blocksOfType, type ReportBlock, type ReportDocument, type ReportSection } from '../document.ts';
import { parseJson } from '../../model/json.ts';
import { escapeJson } from '../escape.ts';
import type { LinkOf } from '../links.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { shortList, verdictText } from '../wording/phrases.ts';
import { linesHtml } from './lines.ts';
import { rowsSection } from './rows.ts';
import { type Choice, type ChoicesBlock, effectClasses, type LinesBlock, type ListBlock, type TablePage, verdictWords } from '../blocks.ts';
import { element, empty, type Html, lineHtml, positionHtml, verbatim } from './markup.ts';
import { choiceBoxes, foldsSection, tableHtml, tableSection } from './table.ts';
import { accessStyle, htmlScript, htmlStyle } from './page-assets.ts';

const many = 200;
const mostListed = 200;

/**
 * Renders a document as a self-contained page: it needs no network, and runs no script but its own, whose hash it names. No
 * value of a manifest or a gateway becomes HTML. The page can be printed and supports dark mode.
 */
export function renderHtml(document: ReportDocument, { linkOf }: { readonly linkOf?: LinkOf | undefined } = {}): string {
  const sections = document.sections().map((section) => ({ ...section, blocks: [...section.blocks, ...(section.pageBlocks?.() ?? [])] }));
  const isDrift = sections.some(({ blocks }) => isOfDrift(blocks));
  const title = sections.flatMap(({ verdict }) => (verdict === undefined ? [] : [verdictText(verdict)])).join(' ');
  // Browsers draw a large page faster when they skip the parts outside the view.
  const changes = sections.flatMap(({ blocks }) => blocksOfType(blocks, 'rows').flatMap(({ entries }) => entries));
  const isMuch = changes.length > many;
  return pageHtml(title, [htmlStyle], { class: isMuch ? 'many' : undefined }, [
    element('a', { class: 'skip', href: '#main' }, `Skip to the ${isDrift ? 'drift' : 'plan'}`),
    element('main', { id: 'main' }, [element('h1', {}, title), tools(isDrift), ...sections.map((section) => sectionHtml(section, linkOf))]),
  ]);
}

/** Renders one table as such a page, which prints on A4; its data is hidden in it. */
export function renderTablePage({ title, lead, table, data }: TablePage): string {
  return pageHtml(title, [htmlStyle, accessStyle], {}, [
    element('main', { id: 'main' }, [
      element('h1', {}, title),
      element('p', {}, [lineHtml(lead, undefined)]),
      element('div', { class: 'tools', role: 'search' }, [search('a name, a group, or env=prod'), count]),
      choiceBoxes(table),
      tableHtml(table, undefined),
    ]),
    ...(data === undefined ? [] : [element('pre', { id: 'report', hidden: true }, escapeJson(JSON.stringify(data)))]),
  ]);
}

/** Returns the data of a page about one table; undefined if it has none. */
export function dataInPage(page: string): unknown {
  const [, text = ''] = /<pre id="report" hidden>([^<]*)<\/pre>/.exec(page) ?? [];
  return parseJson(text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))));
}

function pageHtml(
  title: string,
  styles: readonly string[],
  attributes: Readonly<Record<string, string | undefined>>,
  content: readonly Html[],
): string {
  const sources = [styles, [htmlScript]].map((texts) => texts.map((text) => `'${contentHash(text)}'`).join(' '));
  const policy = `default-src 'none'; style-src ${sources[0]}; script-src ${sources[1]}; base-uri 'none'; form-action 'none'`;
  const head = element('head', {}, [
    empty('meta', { charset: 'utf-8' }),
    empty('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    empty('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    empty('meta', { name: 'color-scheme', content: 'light dark' }),
    empty('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    ...styles.map((style) => verbatim('style', style)),
  ]);
  const body = element('body', attributes, [...content, verbatim('script', htmlScript)]);
  return `<!doctype html>\n${element('html', { lang: 'en' }, [head, body]).html}\n`;
}

function contentHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function search(placeholder: string): Html {
  return element('label', {}, ['Search ', empty('input', { type: 'search', id: 'search', placeholder, autocomplete: 'off' })]);
}

const count = element('span', { id: 'count', class: 'quiet', 'aria-live': 'polite' }, '');

function tools(isDrift: boolean): Html {
  const choices = effectClasses.map((effect) => element('option', { value: effect }, verdictWords[effect]));
  return element('div', { class: 'tools', role: 'search' }, [
    search('a name, or env=prod'),
    element('label', {}, ['Show ', element('select', { id: 'direction' }, [element('option', { value: '' }, 'everything'), ...choices])]),
    // A drift has no rows of unchanged connections.
    element('label', { hidden: isDrift }, [empty('input', { type: 'checkbox', id: 'same' }), ' Unchanged connections']),
    element('button', { type: 'button', id: 'fold' }, 'Unfold or fold all'),
    count,
  ]);
}

function sectionHtml({ verdict, place, summary, blocks }: ReportSection, linkOf: LinkOf | undefined): Html {
  const findings = blocksOfType(blocks, 'findings').map(({ diagnostics }) => findingList(diagnostics, linkOf));
  if (findings.length > 0) return element('section', { 'aria-label': 'Findings' }, findings);
  const rows = blocksOfType(blocks, 'rows').filter(({ entries }) => entries.length > 0);
  const changes = rows.map((one) => rowsSection(one, linkOf));
  const lists = blocksOfType(blocks, 'list').map(listDetails);
  const isDrift = isOfDrift(blocks);
  const partOf = (part: LinesBlock['part']): readonly LinesBlock[] => blocksOfType(blocks, 'lines').filter((one) => one.part === part);
  const linesOf = (part: LinesBlock['part']): readonly Html[] => partOf(part).flatMap((one) => linesHtml(one, linkOf));
  return element('section', { 'aria-label': `${isDrift ? 'Drift on' : 'Plan for'} ${verdict?.name ?? ''}` }, [
    ...(isDrift && place !== undefined ? [element('p', { class: 'quiet' }, place.where)] : []),
    ...(summary?.type === 'sentence' ? [element('p', {}, element('strong', {}, summary.sentence))] : []),
    ...linesOf('facts'),
    ...linesOf('refusals'),
    ...linesOf('allowances'),
    ...linesOf('notices'),
    element('h2', {}, 'Protection'),
    ...linesOf('headlines'),
    ...linesOf('replay'),
    ...(changes.length === 0 ? [] : [element('h2', {}, isDrift ? 'Changed outside Ostiary' : 'Changes'), ...changes]),
    ...blocksOfType(blocks, 'choices').flatMap(({ choices }) => choiceList(choices)),
    ...blocks.flatMap((block) =>
      block.type === 'table' ? tableSection(block, linkOf) : block.type === 'folds' ? foldsSection(block, linkOf) : [],
    ),
    ...(lists.length === 0 ? [] : [element('h2', {}, 'Notes'), ...lists]),
  ]);
}

function findingList(found: readonly Diagnostic[], linkOf: LinkOf | undefined): Html {
  const items = found.map(({ at, severity, code, message, hint, resource }) =>
    element('li', {}, [
      ...(at === undefined ? (resource === undefined ? [] : [element('code', {}, resource), ' ']) : [positionHtml(at, linkOf), ' ']),
      `${severity} `,
      element('code', {}, code),
      ` ${message}`,
      ...(hint === undefined ? [] : [element('div', { class: 'quiet' }, hint)]),
    ]),
  );
  return element('ul', {}, items);
}

/** Returns whether a section is that of a drift: it has what a person can do about it. */
function isOfDrift(blocks: readonly ReportBlock[]): boolean {
  return blocksOfType(blocks, 'choices').length > 0;
}

/** Returns what a person can do about the drift, with the effect of each. */
function choiceList(choices: ChoicesBlock['choices']): readonly Html[] {
  if (choices.length === 0) return [];
  return [element('h2', {}, 'What to do'), element('ul', {}, choices.map(choiceItem))];
}

function choiceItem({ goal, command, text }: Choice): Html {
  return element('li', {}, [element('strong', {}, goal), ', ', element('code', {}, command), ` ${text}.`]);
}

function listDetails({ title, entries }: ListBlock): Html {
  const items = shortList(entries, mostListed).map((entry) => element('li', { class: 'mono' }, entry));
  return element('details', {}, [element('summary', {}, title), element('ul', {}, items)]);
}
