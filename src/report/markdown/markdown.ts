import { type Plan, type Refusal, highestPlanRisk } from '../../model/plan/plan.ts';
import type { ApplyResult, Outcome, OutcomeStatus } from '../../model/result/outcome.ts';
import {
  blocksOfType,
  type ReportDocument,
  type ReportSection,
  type ReportSummary,
  type SectionHeading,
  type Orphans,
  type LinkOf,
  positionMarkdown,
} from '../document.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { appliedText, outcomeWord } from '../subjects/apply.ts';
import type { SideList } from '../subjects/groups.ts';
import { clip } from '../text/wrap.ts';
import { countActions, countsText, digestScope, planSummaryText, policiesText, shortList, plural } from '../wording/counts.ts';
import { driftedBlocks, groupBlocks, rankOf } from './changes.ts';
import { blank, commentLimit, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import type { SampleChange, Headline, Impact } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { sampleSign, sampleText, sampleTurn } from '../wording/value.ts';
import { causeName, causePlaces, causesText, headlineConnections, tagTexts } from '../wording/impact.ts';

const longestText = 1000;
const listed = 10;

/** The labels of blocks, in the order in which a note counts those that were omitted. */
const labels = ['target', 'headline', 'refusal', 'allowance', 'failure', 'cause', 'table row', 'object', 'list', 'detail'];

/** Renders a document for a comment, an issue or a job's summary. Where the limit requires it, details are omitted before headlines. */
export function renderMarkdown(document: ReportDocument, limit: number = commentLimit, linkOf?: LinkOf): string {
  const blocks = document.sections().flatMap((section) => sectionBlocks(section, linkOf));
  return fitToLimit(blocks, limit, { labels, ...(document.completeIn === undefined ? {} : { rest: document.completeIn }) });
}

/** Renders a document as Markdown of the longest length that GitHub accepts. */
export function renderFullMarkdown(document: ReportDocument): string {
  return renderMarkdown(document);
}

function sectionBlocks({ heading, summary, blocks }: ReportSection, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const headlines = blocksOfType(blocks, 'headlines').flatMap((block) => [
    ...headlineBlocks(block.headlines, block.orphans, linkOf),
    ...sampleBlocks(block.flips),
  ]);
  return [
    ...(heading === undefined || summary === undefined ? [] : headBlocks(heading, summary)),
    ...paragraph(blocksOfType(blocks, 'notices').flatMap(({ lines }) => lines.map(noticeBlock))),
    ...paragraph(headlines),
    ...blocksOfType(blocks, 'impact').flatMap(({ causes, orphans }) => impactBlocks(causes, orphans, linkOf)),
    ...blocksOfType(blocks, 'refusals').flatMap(({ refusals }) => refusalBlocks(refusals)),
    ...blocksOfType(blocks, 'allowances').flatMap(({ allowed }) => allowanceBlocks(allowed)),
    ...blocksOfType(blocks, 'changes').flatMap(({ group }) => groupBlocks(group, linkOf)),
    ...blocksOfType(blocks, 'drifted').flatMap(({ rows }) => driftedBlocks(rows, linkOf)),
    ...blocksOfType(blocks, 'outcomes').flatMap(({ result }) => outcomeBlocks(result)),
    ...paragraph(blocksOfType(blocks, 'list').map(({ list }) => listBlock(list))),
    ...(summary?.type === 'plan' ? [digestBlock(summary.plan)] : []),
  ];
}

/** Returns blocks with a blank line after them, if there are any. */
function paragraph(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  return blocks.length === 0 ? [] : [...blocks, blank];
}

/** Returns the heading of a section with its result. */
function headBlocks({ title, name, url }: SectionHeading, summary: ReportSummary): readonly MarkdownBlock[] {
  const head = (text: string): MarkdownBlock => ({ text: `### ${title} ${codeSpan(name)}\n\n${text}\n\n`, rank: 0, label: 'target' });
  switch (summary.type) {
    case 'plan':
      return [head(planResult(summary.plan))];
    case 'apply': {
      const { plan, result } = summary;
      const allowances = (plan.allowed ?? []).map(({ code, reason }) => ({
        text: `- Allowed ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestText))}\n`,
        rank: 2,
        label: 'allowance',
      }));
      return [head(`**${appliedText(result, plan)}**\n\nAt ${codeSpan(url)}, plan ${codeSpan(plan.digest)}.`), ...paragraph(allowances)];
    }
    case 'drift': {
      const { sentence, adopted } = summary;
      const adoption = adopted === undefined ? [] : [{ text: `${escapeMarkdown(adopted)}\n\n`, rank: 0, label: 'target' }];
      return [head(`${escapeMarkdown(sentence)} ${codeSpan(url)}`), ...adoption];
    }
    case 'sentence':
      return [head(escapeMarkdown(summary.sentence))];
  }
}

function planResult(plan: Plan): string {
  const policiesResult = policiesText(plan.policies);
  const policies = policiesResult === '' ? '' : ` ${escapeMarkdown(policiesResult)}.`;
  const counts = countActions(plan);
  if (plan.changes.length === 0 && counts.orphaned === 0) return `${planSummaryText(plan)}${policies}`;
  const highest = highestPlanRisk(plan);
  const risk = highest === undefined ? '' : ` Highest risk: **${highest}**.`;
  return `**${countsText(counts)}**, ${counts.unchanged} unchanged, at ${codeSpan(plan.target.url)}.${risk}${policies}`;
}

function digestBlock({ digest, tree }: Plan): MarkdownBlock {
  return { text: `Digest ${codeSpan(digest)} of the manifests ${codeSpan(tree.slice(0, 12))}. ${digestScope}\n\n`, rank: 1, label: 'list' };
}

function refusalBlocks(refusals: Plan['refusals']): readonly MarkdownBlock[] {
  const lines = refusals.map((refusal) => ({ text: refusalLine(refusal), rank: 2, label: 'refusal' }));
  const title = { text: '**Refused: apply would not run this plan.**\n\n', rank: 1, label: 'refusal' };
  return lines.length === 0 ? [] : [title, ...lines, blank];
}

function allowanceBlocks(allowed: Plan['allowed']): readonly MarkdownBlock[] {
  const lines = allowed.map(({ code, reason }) => ({
    text: `- ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestText))}\n`,
    rank: 2,
    label: 'refusal',
  }));
  const title = { text: '**Allowed all the same:**\n\n', rank: 1, label: 'refusal' };
  return lines.length === 0 ? [] : [title, ...lines, blank];
}

function refusalLine({ code, message, hint, allowable, resource, at }: Refusal): string {
  const place = at === undefined ? '' : ` ${codeSpan(`${at.file}:${at.line}`)}`;
  const about = `${place}${resource === undefined ? '' : ` ${codeSpan(resource)}:`}`;
  const advice = [
    ...(hint === undefined ? [] : [escapeMarkdown(clip(hint, longestText))]),
    ...(allowable ? [`to go on all the same: ${codeSpan(`--allow ${code}=reason`)}`] : []),
  ].filter((text) => text !== '');
  const lines = [`- ${codeSpan(code)}${about} ${escapeMarkdown(clip(message, longestText))}`, ...advice.map((text) => `  - ${text}`)];
  return `${lines.join('\n')}\n`;
}

function noticeBlock(line: string): MarkdownBlock {
  return { text: `- **${escapeMarkdown(clip(line, longestText))}**\n`, rank: 1, label: 'headline' };
}

function listBlock({ title, entries }: SideList): MarkdownBlock {
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
  const failures = outcomes.filter(({ status, begun }) => status === 'failed' || begun === true).map(failureBlock);
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

const mostTags = 4;
const mostNames = 3;
const longestName = 60;
const longestCause = 200;

/** Returns headlines as a list, with links to the lines that cause them. */
export function headlineBlocks(headlines: readonly Headline[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  return headlines.map((headline) => {
    const causes = causesText(headline.causes, { orphans, position: (at) => positionMarkdown(at, linkOf), name: escapeMarkdown });
    const because = causes === '' || causes.length > longestCauses ? '' : `: ${causes}`;
    const text = `- **${escapeMarkdown(headline.text)}** (${headlineConnections(headline, codeSpan)})${because}\n`;
    return { text, rank: 1, label: 'headline' };
  });
}

/** Returns the samples that are less protected after the change, or may be, as a list. */
export function sampleBlocks(flips: readonly SampleChange[]): readonly MarkdownBlock[] {
  const losses = flips.filter((flip) => sampleSign(flip) !== '+');
  return losses.map((flip) => {
    const { text, note } = sampleText(flip);
    const end = note === '' ? '' : ` ${escapeMarkdown(note)}`;
    return {
      text: `- ${codeSpan(clip(flip.rule, 100))}: **${escapeMarkdown(sampleTurn(flip))}**: ${codeSpan(text)}${end}\n`,
      rank: 1,
      label: 'headline',
    };
  });
}

/** Returns the impact as a table: each cause with the connections that it affects. */
export function impactBlocks(causes: readonly Impact[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  if (causes.length === 0) return [];
  const rows = causes.slice(0, listed).map((cause): MarkdownBlock => {
    const places = causePlaces(cause, orphans, { place: (text) => placeLink(text, linkOf), name: escapeMarkdown });
    const names = shortList(
      cause.connections.map((id) => codeSpan(clip(nameOf(id), longestName))),
      mostNames,
    );
    const tags = tagTexts(cause, mostTags).map((text, index) => (index < mostTags ? codeSpan(text) : text));
    const cells = [
      `${codeSpan(clip(causeName(cause), longestCause))}${places === '' ? '' : ` ${places}`}`,
      cause.way,
      `${cause.connections.length}: ${names.join(', ')}`,
      tags.join(', '),
    ];
    return { text: `| ${cells.join(' | ')} |\n`, rank: 4, label: 'cause' };
  });
  const more = causes.length - listed;
  const head = '| Cause | Which way | Connections | Their tags |\n|---|---|---|---|\n';
  return [
    { text: head, rank: 3, label: 'blank' },
    ...rows,
    { text: more > 0 ? `\nand ${plural(more, 'more cause')}\n\n` : '\n', rank: 3, label: 'blank' },
  ];
}

function placeLink(place: string, linkOf: LinkOf | undefined): string {
  const at = parsePosition(place);
  return at === undefined ? codeSpan(place) : positionMarkdown(at, linkOf);
}
