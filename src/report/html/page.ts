import { createHash } from 'node:crypto';
import { blocksOfType, type PlanFacts, type ReportBlock, type ReportDocument, type ReportSection } from '../document.ts';
import type { LinkOf } from '../links.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { shortList, verdictText } from '../wording/summary.ts';
import { postureDetails } from './postures.ts';
import { linesHtml } from './lines.ts';
import { resultsSection, rowsSection, unfoldFirst } from './rows.ts';
import type { Choice, ChoicesBlock, LinesBlock, ListBlock, OutsideSection } from '../blocks.ts';
import { element, empty, type Html, matrixTable, positionHtml, shownVerdicts, verbatim, verdicts, verdictWord } from './markup.ts';
import { permissionSection } from './permissions.ts';
import { htmlScript, htmlStyle } from './page-assets.ts';

const many = 200;
const mostListed = 200;
const mostPostures = 1000;

/**
 * Renders a document as a self-contained page: it needs no network, and runs no script but its own, whose hash it names. No
 * value of a manifest or a gateway becomes HTML. The page can be printed and supports dark mode.
 */
export function renderHtml(document: ReportDocument, { linkOf }: { readonly linkOf?: LinkOf | undefined } = {}): string {
  const sections = document.sections().map((section) => ({ ...section, blocks: [...section.blocks, ...(section.pageBlocks?.() ?? [])] }));
  const isApplied = sections.some(({ summary }) => summary?.type === 'apply');
  const isDrift = sections.some(({ blocks }) => isSides(blocks));
  const title = sections.flatMap(({ verdict }) => (verdict === undefined ? [] : [verdictText(verdict)])).join(' ');
  const policy = `default-src 'none'; style-src '${contentHash(htmlStyle)}'; script-src '${contentHash(htmlScript)}'; base-uri 'none'; form-action 'none'`;
  const head = element('head', {}, [
    empty('meta', { charset: 'utf-8' }),
    empty('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    empty('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    empty('meta', { name: 'color-scheme', content: 'light dark' }),
    empty('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    verbatim('style', htmlStyle),
  ]);
  // Browsers draw a large page faster when they skip the parts outside the view.
  const changes = sections.flatMap(({ blocks }) => blocksOfType(blocks, 'rows').flatMap(({ entries }) => entries));
  const isMuch = changes.length > many;
  const body = element('body', { class: isMuch ? 'many' : undefined }, [
    element('a', { class: 'skip', href: '#main' }, `Skip to the ${isApplied ? 'results' : isDrift ? 'drift' : 'plan'}`),
    element('main', { id: 'main' }, [element('h1', {}, title), tools(isDrift), ...sections.map((section) => sectionHtml(section, linkOf))]),
    verbatim('script', htmlScript),
  ]);
  return `<!doctype html>\n${element('html', { lang: 'en' }, [head, body]).html}\n`;
}

function contentHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function tools(isDrift: boolean): Html {
  const choices = shownVerdicts.map((verdict) => element('option', { value: verdict }, verdictWord(verdict)));
  return element('div', { class: 'tools', role: 'search' }, [
    element('label', {}, [
      'Search ',
      empty('input', { type: 'search', id: 'search', placeholder: 'a name, or env=prod', autocomplete: 'off' }),
    ]),
    element('label', {}, ['Show ', element('select', { id: 'direction' }, [element('option', { value: '' }, 'everything'), ...choices])]),
    // A drift has no rows of unchanged connections.
    element('label', { hidden: isDrift }, [empty('input', { type: 'checkbox', id: 'same' }), ' Unchanged connections']),
    element('button', { type: 'button', id: 'fold' }, 'Unfold or fold all'),
    element('span', { id: 'count', class: 'quiet', 'aria-live': 'polite' }, ''),
  ]);
}

function sectionHtml({ verdict, place, summary, blocks }: ReportSection, linkOf: LinkOf | undefined): Html {
  const isApplied = summary?.type === 'apply';
  const findings = blocksOfType(blocks, 'findings').map(({ diagnostics }) => findingList(diagnostics, linkOf));
  if (findings.length > 0) return element('section', { 'aria-label': 'Findings' }, findings);
  const rows = blocksOfType(blocks, 'rows').filter(({ entries }) => entries.length > 0);
  const changes = rows.map((one) => rowsSection(one, linkOf));
  // The headline of a single change says all that a table of before and after would.
  const isSingle = isSingleChange(blocks);
  const lists = blocksOfType(blocks, 'list').map(listDetails);
  const isDrift = isSides(blocks);
  const partOf = (part: LinesBlock['part']): readonly LinesBlock[] => blocksOfType(blocks, 'lines').filter((one) => one.part === part);
  const linesOf = (part: LinesBlock['part']): readonly Html[] => partOf(part).flatMap((one) => linesHtml(one, linkOf));
  return element('section', { 'aria-label': `${isDrift ? 'Drift on' : 'Plan for'} ${verdict?.name ?? ''}` }, [
    ...(isDrift && place !== undefined ? [element('p', { class: 'quiet' }, place.where)] : []),
    ...(summary?.type === 'sentence' ? [element('p', {}, element('strong', {}, summary.sentence))] : []),
    ...blocksOfType(blocks, 'overview').flatMap(({ where, facts }) => overviewParagraphs(where, facts, isApplied)),
    ...blocksOfType(blocks, 'results').map(resultsSection),
    ...(isApplied ? [] : linesOf('refusals')),
    ...linesOf('allowances'),
    ...linesOf('notices'),
    element('h2', {}, 'Protection'),
    ...linesOf('headlines'),
    ...(changes.length === 0 ? [] : [element('h2', {}, isDrift ? 'Changed outside Ostiary' : 'Changes'), ...changes]),
    ...blocksOfType(blocks, 'choices').flatMap(({ choices }) => choiceList(choices)),
    ...blocksOfType(blocks, 'outside').flatMap(({ section }) => outsideParts(section, linkOf)),
    ...blocksOfType(blocks, 'permission-matrix').flatMap(({ delta }) =>
      isSingle && partOf('permissions').every(({ lines }) => lines.length === 0) ? [] : permissionSection(delta, linkOf),
    ),
    ...blocksOfType(blocks, 'postures').flatMap((block) =>
      block.connections.length === 0 || isSingle
        ? []
        : [element('h2', {}, isDrift ? 'Protection by the manifests and on the gateway' : 'Before and after'), postureList(block, linkOf)],
    ),
    ...blocksOfType(blocks, 'matrix').flatMap(({ matrix }) =>
      matrix.rows.length === 0 ? [] : [element('h2', {}, 'Connections and their protection'), matrixTable(matrix)],
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

/** Returns the facts of a plan. Its counts are in the verdict, unless that is about an apply. */
function overviewParagraphs(
  where: string,
  { seals, base, counts, unchanged, policies, highest }: PlanFacts,
  isApplied: boolean,
): readonly Html[] {
  const rest = [...(highest === undefined ? [] : [`Highest risk: ${highest}.`]), policies].filter((text) => text !== '');
  return [
    ...(unchanged === '' ? [] : [element('p', {}, [isApplied && counts !== '' ? counts : unchanged, ...rest].join(' '))]),
    element('p', { class: 'quiet' }, [
      `${where} · digest `,
      element('code', {}, seals.digest.slice(0, 12)),
      ' · manifests ',
      element('code', {}, seals.tree.slice(0, 12)),
      ...(base === undefined ? [] : [' · applied last ', element('code', {}, base.slice(0, 12))]),
    ]),
  ];
}

/** Returns whether the plan has one change that affects one control of one connection, which a headline states. */
function isSingleChange(blocks: readonly ReportBlock[]): boolean {
  const headlines = blocksOfType(blocks, 'lines').flatMap(({ part, lines }) =>
    part === 'headlines' ? lines.filter(({ statedBy }) => statedBy !== 'rows') : [],
  );
  const changes = blocksOfType(blocks, 'rows').flatMap(({ entries }) => entries);
  const connections = blocksOfType(blocks, 'postures').flatMap((block) => block.connections);
  const [only] = connections;
  return headlines.length === 1 && changes.length === 1 && connections.length === 1 && only?.controls.length === 1;
}

/** Returns the changes in no manifest: what they do together, then each object with its fields. */
function outsideParts({ title, headlines, rows }: OutsideSection, linkOf: LinkOf | undefined): readonly Html[] {
  return [element('h2', {}, title), ...linesHtml(headlines, linkOf), rowsSection(rows, linkOf)];
}

/** Returns whether a section shows both sides of what differs: that of a drift. */
function isSides(blocks: readonly ReportBlock[]): boolean {
  return blocksOfType(blocks, 'rows').some(({ form }) => form === 'sides');
}

/** Returns what a person can do about the drift, with the effect of each. */
function choiceList(choices: ChoicesBlock['choices']): readonly Html[] {
  if (choices.length === 0) return [];
  return [element('h2', {}, 'What to do'), element('ul', {}, choices.map(choiceItem))];
}

function choiceItem({ goal, command, text }: Choice): Html {
  return element('li', {}, [element('strong', {}, goal), ', ', element('code', {}, command), ` ${text}.`]);
}

function postureList(
  { connections: changed, ...table }: Extract<ReportBlock, { readonly type: 'postures' }>,
  linkOf: LinkOf | undefined,
): Html {
  const sorted = changed.toSorted((left, right) => verdicts.indexOf(left.direction) - verdicts.indexOf(right.direction));
  const details = sorted.slice(0, mostPostures).map((change) => postureDetails(change, table, linkOf));
  const more = sorted.length - mostPostures;
  return element('div', { 'data-part': true }, [
    ...unfoldFirst(details, 'more connection'),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more connections; the JSON of the plan has them`)] : []),
  ]);
}

function listDetails({ title, entries }: ListBlock): Html {
  const items = shortList(entries, mostListed).map((entry) => element('li', { class: 'mono' }, entry));
  return element('details', {}, [element('summary', {}, title), element('ul', {}, items)]);
}
