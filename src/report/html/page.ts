import { createHash } from 'node:crypto';
import { blocksOfType, type Deletion, type ReportBlock, type ReportDocument, type ReportSection } from '../document.ts';
import type { DriftChoice } from '../rows/drift-choices.ts';
import type { LinkOf } from '../links.ts';
import { highestPlanRisk, type Orphan, type Orphans, type Plan } from '../../model/plan/plan.ts';
import type { Cause, Headline } from '../../model/protection/protection.ts';
import { type Diagnostic, parsePosition, type Position, sortDiagnostics } from '../../model/diagnostic.ts';
import { nameOf } from '../../model/resource.ts';
import { findingDiagnostics } from '../subjects/findings.ts';
import { planSummaryText, plural, policiesText, shortList, showsSeveral, stayingEdgesText, verdictText } from '../wording/summary.ts';
import { driftCause, headlineObjects } from '../wording/causes.ts';
import type { SideList } from '../rows/groups.ts';
import type { OutsideSection } from '../rows/outside-rows.ts';
import { outcomeSection, postureDetails } from './changes.ts';
import { rowsSection, unfoldFirst } from './rows.ts';
import {
  element,
  empty,
  type Html,
  joinHtml,
  matrixTable,
  positionHtml,
  shownVerdicts,
  verbatim,
  verdictBadge,
  verdicts,
  verdictWord,
} from './markup.ts';
import { permissionSection } from './permissions.ts';
import { htmlScript, htmlStyle } from './page-assets.ts';

const many = 200;
const mostNames = 12;
const mostLines = 3;
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
  const findings = blocksOfType(blocks, 'findings').map(({ run }) => findingList(findingDiagnostics(run), linkOf));
  if (findings.length > 0) return element('section', { 'aria-label': 'Findings' }, findings);
  const rows = blocksOfType(blocks, 'rows').filter(({ entries }) => entries.length > 0);
  const changes = rows.map((one) => rowsSection(one, linkOf));
  // The headline of a single change says all that a table of before and after would.
  const isSingle = isSingleChange(blocks);
  const lists = blocksOfType(blocks, 'list').map(({ list }) => listDetails(list));
  const isDrift = isSides(blocks);
  return element('section', { 'aria-label': `${isDrift ? 'Drift on' : 'Plan for'} ${verdict?.name ?? ''}` }, [
    ...(isDrift && place !== undefined ? [element('p', { class: 'quiet' }, place.where)] : []),
    ...(summary?.type === 'sentence' ? [element('p', {}, element('strong', {}, summary.sentence))] : []),
    ...blocksOfType(blocks, 'overview').flatMap(({ plan }) => overviewParagraphs(plan, isApplied)),
    ...blocksOfType(blocks, 'outcomes').map(({ result }) => outcomeSection(result)),
    ...(isApplied ? [] : blocksOfType(blocks, 'refusals').flatMap(({ refusals }) => refusalSection(refusals, linkOf))),
    ...blocksOfType(blocks, 'allowances').flatMap(({ allowed }) => allowanceList(allowed)),
    ...blocksOfType(blocks, 'notices').flatMap(({ lines }) => noticeList(lines)),
    element('h2', {}, 'Protection'),
    ...blocksOfType(blocks, 'headlines').map((block) => headlineList(block, linkOf)),
    ...(changes.length === 0 ? [] : [element('h2', {}, isDrift ? 'Changed outside Ostiary' : 'Changes'), ...changes]),
    ...blocksOfType(blocks, 'choices').flatMap(({ choices }) => choiceList(choices)),
    ...blocksOfType(blocks, 'outside').flatMap(({ section }) => outsideParts(section, linkOf)),
    ...blocksOfType(blocks, 'permission-matrix').flatMap(({ delta }) =>
      isSingle && blocksOfType(blocks, 'permissions').every(({ changes: unstated }) => unstated.length === 0)
        ? []
        : permissionSection(delta, linkOf),
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
  const items = sortDiagnostics(found).map(({ at, severity, code, message, hint, resource }) =>
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
function overviewParagraphs(plan: Plan, isApplied: boolean): readonly Html[] {
  const highest = highestPlanRisk(plan);
  const policies = policiesText(plan.policies);
  const rest = `${plural(plan.unchanged, 'resource')} unchanged.${stayingEdgesText(plan)}`;
  return [
    ...(plan.changes.length + plan.accepted.length === 0
      ? []
      : [
          element('p', {}, [
            isApplied ? planSummaryText(plan) : rest,
            highest === undefined || !showsSeveral(plan) ? '' : ` Highest risk: ${highest}.`,
            policies === '' ? '' : ` ${policies}.`,
          ]),
        ]),
    element('p', { class: 'quiet' }, [
      `${plan.target.url} · digest `,
      element('code', {}, plan.seals.digest.slice(0, 12)),
      ' · manifests ',
      element('code', {}, plan.seals.tree.slice(0, 12)),
      ...(plan.base === undefined ? [] : [' · applied last ', element('code', {}, plan.base.slice(0, 12))]),
    ]),
  ];
}

/** Returns whether the plan has one change that affects one control of one connection, which a headline states. */
function isSingleChange(blocks: readonly ReportBlock[]): boolean {
  const headlines = blocksOfType(blocks, 'headlines').flatMap((block) => block.headlines);
  const changes = blocksOfType(blocks, 'rows').flatMap(({ entries }) => entries);
  const connections = blocksOfType(blocks, 'postures').flatMap((block) => block.connections);
  const [only] = connections;
  return headlines.length === 1 && changes.length === 1 && connections.length === 1 && only?.controls.length === 1;
}

/** Returns an entry for the objects that one commit removed, with a link to that commit. */
function deletionItem({ ids, orphan, replacedBy }: Deletion, linkOf: LinkOf | undefined): Html {
  const names = shortList(ids, mostNames).join(', ');
  return element('li', { class: 'weakens' }, [
    element('strong', {}, ids.length === 1 ? 'Deletes 1 object' : `Deletes ${ids.length} objects`),
    ' ',
    element('span', { class: 'mono' }, names),
    ...(replacedBy === undefined ? removalParts(orphan, linkOf) : [` replaced by ${replacedBy}`]),
  ]);
}

/** Returns the commit that removed a manifest, as a link if there is one, with its subject. */
function removalParts(orphan: Orphan | undefined, linkOf: LinkOf | undefined): readonly (string | Html)[] {
  if (orphan?.removedIn === undefined) return [];
  const { removedIn: commit, subject } = orphan;
  const href = linkOf?.({ commit });
  const hash = element('span', { class: 'mono' }, commit.slice(0, 7));
  return [
    ' removed in ',
    href === undefined ? hash : element('a', { href, rel: 'noreferrer' }, [hash]),
    subject === undefined ? '' : ` "${subject}"`,
  ];
}

type HeadlineParts = Pick<Extract<ReportBlock, { readonly type: 'headlines' }>, 'headlines' | 'deletions' | 'orphans'>;

function headlineList({ headlines, deletions, orphans }: HeadlineParts, linkOf: LinkOf | undefined): Html {
  if (headlines.length + deletions.length === 0) return element('p', { class: 'quiet' }, 'No connection gains or loses protection.');
  return element('ul', { class: 'headlines' }, [
    ...headlines.map((headline) => {
      const { direction, text, causes } = headline;
      const names = shortList(headlineObjects(headline).map(nameOf), mostNames).join(', ');
      const lines = causeLines(causes);
      const removals = removalsOf(headline, orphans);
      return element('li', { class: direction }, [
        verdictBadge(direction),
        ' ',
        element('strong', {}, text),
        ' ',
        element('span', { class: 'mono' }, names),
        ...lines.slice(0, mostLines).map((at) => joinHtml([' ', positionHtml(at, linkOf)])),
        ...(lines.length > mostLines ? [` and ${lines.length - mostLines} more`] : []),
        ...removals.slice(0, mostLines).map(({ name, orphan }) => joinHtml([' ·', name, ...removalParts(orphan, linkOf)])),
        ...(removals.length > mostLines ? [` and ${removals.length - mostLines} more`] : []),
        ...(causes.some(({ byHand }) => byHand === true) ? [element('span', { class: 'quiet' }, ` ${driftCause('')}`)] : []),
      ]);
    }),
    ...deletions.map((deletion) => deletionItem(deletion, linkOf)),
  ]);
}

/** Returns the manifests whose removal causes a headline: each with its name, or by commit those of the connections that the headline names. */
function removalsOf({ causes, connections }: Headline, orphans: Orphans): readonly { readonly name: string; readonly orphan: Orphan }[] {
  const removed = causes.flatMap(({ by, place }) => (place === undefined ? (orphans.get(by) ?? []) : []));
  const found = removed
    .filter(({ removedIn }) => removedIn !== undefined)
    .map((orphan) => ({ name: connections.includes(orphan.id) ? '' : ` ${orphan.id}`, orphan }));
  return [...new Map(found.map((one) => [`${one.name} ${one.orphan.removedIn}`, one])).values()];
}

/** Returns the lines that cause a headline, each once: entries of a list can share one. */
function causeLines(causes: readonly Cause[]): readonly Position[] {
  const positions = causes.flatMap(({ place }) => (place === undefined ? [] : (parsePosition(place) ?? [])));
  return [...new Map(positions.map((at) => [`${at.file}:${at.line}`, at])).values()];
}

function refusalSection(refusals: Plan['refusals'], linkOf: LinkOf | undefined): readonly Html[] {
  if (refusals.length === 0) return [];
  const items = refusals.map(({ code, message, hint, resource, at, allowable }) =>
    element('li', {}, [
      element('code', {}, code),
      ...(resource === undefined ? [] : [' ', element('span', { class: 'mono' }, resource)]),
      ` ${message}`,
      ...(at === undefined ? [] : [' ', positionHtml(at, linkOf)]),
      ...(hint === undefined ? [] : [element('div', {}, hint)]),
      ...(allowable ? [element('div', {}, ['override: ', element('code', {}, `--allow ${code}=REASON`)])] : []),
    ]),
  );
  const heading = element('h2', {}, 'Apply rejects this plan');
  return [element('section', { class: 'refusals' }, [heading, element('ul', {}, items)])];
}

function noticeList(lines: readonly string[]): readonly Html[] {
  if (lines.length === 0) return [];
  const items = lines.map((line) => element('li', { class: 'weakens' }, line));
  return [element('ul', { class: 'headlines' }, items)];
}

/** Returns the changes in no manifest: what they do together, then each object with its fields. */
function outsideParts({ title, headlines, rows }: OutsideSection, linkOf: LinkOf | undefined): readonly Html[] {
  return [element('h2', {}, title), headlineList({ headlines, deletions: [], orphans: new Map() }, linkOf), rowsSection(rows, linkOf)];
}

/** Returns whether a section shows both sides of what differs: that of a drift. */
function isSides(blocks: readonly ReportBlock[]): boolean {
  return blocksOfType(blocks, 'rows').some(({ form }) => form === 'sides');
}

/** Returns what a person can do about the drift, with the effect of each. */
function choiceList(choices: Extract<ReportBlock, { readonly type: 'choices' }>['choices']): readonly Html[] {
  if (choices.length === 0) return [];
  return [element('h2', {}, 'What to do'), element('ul', {}, choices.map(choiceItem))];
}

function choiceItem({ goal, command, text }: DriftChoice): Html {
  return element('li', {}, [element('strong', {}, goal), ', ', element('code', {}, command), ` ${text}.`]);
}

function allowanceList(allowed: Plan['allowed']): readonly Html[] {
  if (allowed.length === 0) return [];
  const items = allowed.map(({ code, reason }) => element('li', {}, ['Overridden: ', element('code', {}, code), `: ${reason}`]));
  return [element('ul', {}, items)];
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

function listDetails({ title, entries }: SideList): Html {
  const items = shortList(entries, mostListed).map((entry) => element('li', { class: 'mono' }, entry));
  return element('details', {}, [element('summary', {}, title), element('ul', {}, items)]);
}
