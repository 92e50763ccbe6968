import { highestPlanRisk, type Orphan, type Orphans, type Plan, type Refusal } from '../../model/plan/plan.ts';
import type { ApplyResult, Outcome, OutcomeStatus } from '../../model/result/outcome.ts';
import {
  blocksOfType,
  type Deletion,
  labeledName,
  type ReportDocument,
  type ReportSection,
  type ReportSummary,
  type RunFindings,
  type SubjectPlace,
} from '../document.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { isUnfinished, outcomeWord } from '../subjects/apply.ts';
import { findingDiagnostics } from '../subjects/findings.ts';
import { type EqualFindings, mergeEqual, policyWarnings } from '../rows/equal-findings.ts';
import { hasSentences, type SideList } from '../rows/groups.ts';
import type { OutsideSection } from '../rows/outside-rows.ts';
import { clip } from '../wrap.ts';
import { plural, policiesText, shortList, showsSeveral, stayingEdgesText, type Verdict, verdictText } from '../wording/summary.ts';
import { rankOf } from '../rows/entries.ts';
import { rowsBlocks } from './rows.ts';
import { blank, commentLimit, diagnosticsMarkdown, equalPlaces, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import type { PermissionChange, Headline, SampleChange } from '../../model/protection/protection.ts';
import { morePermissionsText, mostPermissions, permissionPlaces, permissionsTitle, permissionTable } from '../wording/permissions.ts';
import { sampleSign, sampleText, sampleTurn } from '../wording/value.ts';
import { causesText, headlineConnections } from '../wording/causes.ts';

const longestText = 1000;
const listed = 10;

/** The labels of blocks, in the order in which a note counts those that were omitted. */
const labels = ['target', 'headline', 'refusal', 'allowance', 'failure', 'permission', 'cause', 'table row', 'object', 'list', 'detail'];

/** Renders a document for a comment, an issue or a job's summary. Where the limit requires it, rows have the differences, and details are omitted before headlines. */
export function renderMarkdown(
  document: ReportDocument,
  { limit = commentLimit, linkOf, fullReport, label }: MarkdownOptions = {},
): string {
  const sections = document.sections();
  const blocksOf = (isDense: boolean): readonly MarkdownBlock[] =>
    sections.flatMap((section) => sectionBlocks(section, { linkOf, label, isDense }));
  const whole = blocksOf(false);
  const blocks = whole.reduce((length, { text }) => length + text.length, 0) <= limit ? whole : blocksOf(true);
  const rest = fullReport === undefined ? document.completeIn : `[The full report](${fullReport}) has everything.`;
  return fitToLimit(blocks, limit, { labels, ...(rest === undefined ? {} : { rest }) });
}

/** The longest length in characters, the links to files, the URL of a report that omits nothing, and the label of the config. */
type MarkdownOptions = {
  readonly limit?: number | undefined;
  readonly linkOf?: LinkOf | undefined;
  readonly fullReport?: string | undefined;
  readonly label?: string | undefined;
};

type SectionOptions = Pick<MarkdownOptions, 'linkOf' | 'label'> & { readonly isDense: boolean };

function sectionBlocks(
  { verdict, place, summary, blocks }: ReportSection,
  { linkOf, label, isDense }: SectionOptions,
): readonly MarkdownBlock[] {
  const headlines = blocksOfType(blocks, 'headlines').flatMap((block) => [
    ...(isDense ? fewerHeadlines : headlineBlocks)(block.headlines, block.orphans, linkOf),
    ...block.deletions.map((deletion) => deletionBlock(deletion, linkOf)),
    ...sampleBlocks(block.changedSamples),
  ]);
  const groups = blocksOfType(blocks, 'rows');
  const isOnly = groups.length === 1 && headlines.length > 0;
  return [
    ...(verdict === undefined ? [] : [titleBlock(verdict, label)]),
    ...blocksOfType(blocks, 'findings').map(({ run }) => findingsBlock(run, linkOf)),
    ...blocksOfType(blocks, 'refusals').flatMap(({ refusals }) => refusalBlocks(refusals, linkOf)),
    ...(place === undefined ? [] : resultBlocks(place, summary)),
    ...paragraph(blocksOfType(blocks, 'notices').flatMap(({ lines }) => lines.map(noticeBlock))),
    ...paragraph(headlines),
    ...blocksOfType(blocks, 'permissions').flatMap(({ changes }) =>
      permissionBlocks(changes, isDense ? fewPermissions : mostPermissions, linkOf),
    ),
    ...blocksOfType(blocks, 'allowances').flatMap(({ allowed }) => allowanceBlocks(allowed)),
    ...groups.flatMap((rows) => rowsBlocks(rows, { linkOf, isOnly, isDense })),
    ...blocksOfType(blocks, 'outside').flatMap(({ section }) => outsideMarkdown(section)),
    ...blocksOfType(blocks, 'outcomes').flatMap(({ result }) => outcomeBlocks(result)),
    ...paragraph(blocksOfType(blocks, 'list').map(({ list }) => listBlock(list))),
    ...(summary?.type === 'plan' ? [...policyWarningBlocks(summary.plan, linkOf), digestBlock(summary.plan)] : []),
  ];
}

const mostHeadlines = 3;
const fewPermissions = 3;

/** Returns the headlines of a long comment: each about several connections, and the first others, whose changes have rows below. */
function fewerHeadlines(headlines: readonly Headline[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  const kept = headlines.filter(({ connections }, index) => index < mostHeadlines || connections.length !== 1);
  const more = headlines.length - kept.length;
  const text = `- and ${more} more about one connection each, with its change below\n`;
  return [...headlineBlocks(kept, orphans, linkOf), ...(more === 0 ? [] : [{ text, rank: 1, label: 'headline' }])];
}

/** Returns blocks with a blank line after them, if there are any. */
function paragraph(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  return blocks.length === 0 ? [] : [...blocks, blank];
}

function findingsBlock(run: RunFindings, linkOf: LinkOf | undefined): MarkdownBlock {
  return { text: diagnosticsMarkdown(findingDiagnostics(run), findingsRoom, linkOf), rank: 1, label: 'list' };
}

const findingsRoom = 50_000;

function titleBlock({ before, name, after }: Verdict, label: string | undefined): MarkdownBlock {
  // Spaces and colons beside the name stay as they are.
  const [first, last] = [before, after].map((text) => clip(text, longestVerdict).replace(/[^ :.].*[^ ]/s, (own) => escapeMarkdown(own)));
  const nameText = (text: string): string => labeledName(codeSpan(text), label === undefined ? undefined : escapeMarkdown(label));
  return { text: `### ${verdictText({ before: first ?? '', name, after: last ?? '' }, nameText)}\n\n`, rank: 0, label: 'target' };
}

const longestVerdict = 400;

/** Returns what follows the verdict: the gateway, and the facts of the plan or of what was applied. */
function resultBlocks({ where }: SubjectPlace, summary: ReportSummary | undefined): readonly MarkdownBlock[] {
  switch (summary?.type) {
    case 'plan':
      return [resultBlock(planResult(summary.plan))];
    case 'apply': {
      const { plan } = summary;
      const allowances = (plan.allowed ?? []).map(({ code, reason }) => ({
        text: `- Overridden: ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestText))}\n`,
        rank: 2,
        label: 'allowance',
      }));
      return [resultBlock(`${codeSpan(where)}, plan ${codeSpan(plan.seals.digest)}.`), ...paragraph(allowances)];
    }
    case 'sentence':
      return [resultBlock(codeSpan(where)), resultBlock(escapeMarkdown(summary.sentence))];
    case undefined:
      return [resultBlock(codeSpan(where))];
  }
}

function resultBlock(text: string): MarkdownBlock {
  return { text: `${text}\n\n`, rank: 0, label: 'target' };
}

function planResult(plan: Plan): string {
  const isNothing = plan.changes.length + plan.accepted.length === 0;
  const highest = !isNothing && showsSeveral(plan) ? highestPlanRisk(plan) : undefined;
  const parts = [
    codeSpan(plan.target.url),
    ...(isNothing ? [] : [`, ${plural(plan.unchanged, 'resource')} unchanged`]),
    '.',
    ...(isNothing ? [] : [stayingEdgesText(plan)]),
    ...(highest === undefined ? [] : [` Highest risk: **${highest}**.`]),
  ];
  const policies = policiesText(plan.policies);
  return `${parts.join('')}${policies === '' ? '' : ` ${escapeMarkdown(policies)}.`}`;
}

function digestBlock({ seals: { digest, tree } }: Plan): MarkdownBlock {
  return { text: `Digest ${codeSpan(digest)} of the manifests ${codeSpan(tree.slice(0, 12))}.\n\n`, rank: 1, label: 'list' };
}

function allowanceBlocks(allowed: Plan['allowed']): readonly MarkdownBlock[] {
  const lines = allowed.map(({ code, reason }) => ({
    text: `- ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestText))}\n`,
    rank: 2,
    label: 'refusal',
  }));
  const title = { text: '**Overrides:**\n\n', rank: 1, label: 'refusal' };
  return lines.length === 0 ? [] : [title, ...lines, blank];
}

function refusalBlocks(refusals: readonly Refusal[], linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  if (refusals.length === 0) return [];
  const title = { text: '**Apply rejects this plan:**\n\n', rank: 1, label: 'refusal' };
  return [title, ...paragraph(mergeEqual(refusals).map((equal) => refusalBlock(equal, linkOf)))];
}

/** Returns the reason of a refusal, or of several that are equal, and how to override it. */
function refusalBlock({ first, message, all }: EqualFindings<Refusal>, linkOf: LinkOf | undefined): MarkdownBlock {
  const { code, hint, allowable } = first;
  const { resource, at } = all.length === 1 ? first : {};
  const place = at === undefined ? '' : ` ${positionMarkdown(at, linkOf)}`;
  const about = `${place}${resource === undefined ? '' : ` ${codeSpan(resource)}:`}`;
  const advice = [
    ...(hint === undefined ? [] : [escapeMarkdown(clip(hint, longestText))]),
    ...(allowable ? [`override: ${codeSpan(`--allow ${code}=REASON`)}`] : []),
  ].filter((text) => text !== '');
  const lines = [`- ${codeSpan(code)}${about} ${escapeMarkdown(clip(message, longestText))}`, ...advice.map((text) => `  - ${text}`)];
  const places = all.length === 1 ? '' : equalPlaces(all, linkOf);
  return { text: `${lines.join('\n')}\n${places}`, rank: 1, label: 'refusal' };
}

/** Returns the warnings of policies as a list, each with its connections. */
function policyWarningBlocks({ policies }: Pick<Plan, 'policies'>, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const found = mergeEqual(policyWarnings(policies));
  const rows = found.map(({ first: { code }, message, all }): MarkdownBlock => {
    const text = `- ${codeSpan(code)} ${escapeMarkdown(clip(message, longestText))}\n${equalPlaces(all, linkOf)}`;
    return { text, rank: 3, label: 'list' };
  });
  const title = { text: `**${plural(rows.length, 'policy warning')}:**\n\n`, rank: 3, label: 'blank' };
  return rows.length === 0 ? [] : [title, ...paragraph(rows)];
}

function noticeBlock(line: string): MarkdownBlock {
  return { text: `- **${escapeMarkdown(clip(line, longestText))}**\n`, rank: 1, label: 'headline' };
}

function listBlock(list: SideList): MarkdownBlock {
  const { title, entries } = list;
  if (hasSentences(list)) {
    const lines = shortList(entries, listed).map((entry) => `  - ${escapeMarkdown(clip(entry, longestText))}\n`);
    return { text: `- ${escapeMarkdown(title)}:\n${lines.join('')}`, rank: rankOf('list'), label: 'list' };
  }
  const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
  return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank: rankOf('list'), label: 'list' };
}

/** The order in which outcomes are omitted for length; the first ones stay longest. */
const outcomeOrder: Readonly<Record<OutcomeStatus, number>> = {
  failed: 0,
  interrupted: 1,
  skipped: 2,
  blocked: 3,
  held: 4,
  done: 5,
  already: 6,
};

/** Returns the failures with their hints, then every object. */
function outcomeBlocks({ outcomes }: ApplyResult): readonly MarkdownBlock[] {
  const failures = outcomes
    .filter((one) => one.status === 'failed' || one.begun === true || (one.status === 'blocked' && isUnfinished(one)))
    .map(failureBlock);
  const rows = outcomes.map((outcome) => ({
    text: `| ${outcomeWord(outcome)} | ${codeSpan(outcome.id)} |\n`,
    rank: 10 + outcomeOrder[outcome.status],
    label: 'table row',
  }));
  const head = { text: '| | Resource |\n|---|---|\n', rank: 1, label: 'table row' };
  return [...paragraph(failures), ...(rows.length === 0 ? [] : paragraph([head, ...rows]))];
}

function failureBlock(outcome: Outcome): MarkdownBlock {
  const { id, code, message, hint } = outcome;
  const texts = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestText))]));
  const why = code === undefined ? texts : [codeSpan(code), ...texts];
  return { text: `- ${codeSpan(id)} ${outcomeWord(outcome)}${why.length === 0 ? '' : `: ${why.join('; ')}`}\n`, rank: 2, label: 'failure' };
}

const longestCauses = 3000;

const longestName = 60;
const longestCause = 200;

/** Returns the objects that one commit removed, with a link to that commit. */
function deletionBlock({ ids, orphan, replacedBy }: Deletion, linkOf: LinkOf | undefined): MarkdownBlock {
  const names = shortList(
    ids.map((id) => codeSpan(clip(id, longestCause))),
    listed,
  ).join(', ');
  const what = ids.length === 1 ? `**Deletes ${names}**` : `**Deletes ${ids.length} objects** (${names})`;
  const why = replacedBy === undefined ? removalMarkdown(orphan, linkOf) : `replaced by ${codeSpan(clip(replacedBy, longestCause))}`;
  return { text: `- ${what}${why === '' ? '' : `: ${why}`}\n`, rank: 1, label: 'headline' };
}

/** Returns the commit that removed a manifest, as a link if there is one, with its subject. */
function removalMarkdown(orphan: Orphan | undefined, linkOf: LinkOf | undefined): string {
  if (orphan?.removedIn === undefined) return '';
  const { removedIn: commit, subject = '' } = orphan;
  const shown = codeSpan(commit.slice(0, 7));
  const link = linkOf?.({ commit });
  const said = subject === '' ? '' : ` ${escapeMarkdown(`"${clip(subject, longestCause)}"`)}`;
  return `removed in ${link === undefined ? shown : `[${shown}](${link})`}${said}`;
}

/** Returns headlines as a list, with links to the lines that cause them. */
function headlineBlocks(headlines: readonly Headline[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  return headlines.map((headline) => {
    const causes = causesText(headline.causes, {
      orphans,
      position: (at) => positionMarkdown(at, linkOf),
      name: escapeMarkdown,
      named: headline.connections,
      removal: (orphan) => removalMarkdown(orphan, linkOf),
    });
    const because = causes === '' || causes.length > longestCauses ? '' : `: ${causes}`;
    const beside = headlineConnections(headline, codeSpan);
    const text = `- **${escapeMarkdown(headline.text)}**${beside === '' ? '' : ` ${beside}`}${because}\n`;
    return { text, rank: 1, label: 'headline' };
  });
}

/** Returns the changes in no manifest: what they do together, then each object. */
function outsideMarkdown({ title, headlines, rows }: OutsideSection): readonly MarkdownBlock[] {
  return [
    { text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' },
    ...paragraph(headlineBlocks(headlines, new Map())),
    ...rowsBlocks(rows, { linkOf: undefined, isOnly: false, isDense: false }),
  ];
}

/** Returns the samples that are less protected after the change, or may be, as a list. */
function sampleBlocks(changedSamples: readonly SampleChange[]): readonly MarkdownBlock[] {
  const losses = changedSamples.filter((changedSample) => sampleSign(changedSample) !== '+');
  return losses.map((changedSample) => {
    const { text, note } = sampleText(changedSample);
    const end = note === '' ? '' : ` ${escapeMarkdown(note)}`;
    return {
      text: `- ${codeSpan(clip(changedSample.rule, 100))}: **${escapeMarkdown(sampleTurn(changedSample))}**: ${codeSpan(text)}${end}\n`,
      rank: 1,
      label: 'headline',
    };
  });
}

/** Returns what people can do after the plan as a list, the largest effect first. */
function permissionBlocks(changes: readonly PermissionChange[], most: number, linkOf?: LinkOf): readonly MarkdownBlock[] {
  if (changes.length === 0) return [];
  const all = permissionTable(changes, (text) => codeSpan(clip(text, longestName)));
  const rows = all.slice(0, most).map(({ who, what, turn, causes }): MarkdownBlock => {
    const places = permissionPlaces({ causes }, (place) => placeLink(place, linkOf));
    return { text: `- ${who}: ${what}: **${escapeMarkdown(turn)}** (${places})\n`, rank: 2, label: 'permission' };
  });
  const more = morePermissionsText(all, most);
  return [
    { text: `**${permissionsTitle}:**\n\n`, rank: 2, label: 'blank' },
    ...paragraph(more === '' ? rows : [...rows, { text: `- ${more}\n`, rank: 2, label: 'blank' }]),
  ];
}

function placeLink(place: string, linkOf: LinkOf | undefined): string {
  const at = parsePosition(place);
  return at === undefined ? codeSpan(place) : positionMarkdown(at, linkOf);
}
