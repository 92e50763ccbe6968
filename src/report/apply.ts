import type { JsonObject } from '../model/json.ts';
import type { Outcome, OutcomeStatus } from '../model/result/outcome.ts';
import type { Action } from '../model/plan/plan.ts';
import type { ResourceId } from '../model/resource.ts';
import { codeSpan, escapeJson, escapeMarkdown, escapeTerminal } from './escape.ts';
import { wrap, gap, withoutBreak, words, type Span } from './text/wrap.ts';
import { appliedText, outcomeCounts, outcomeWord, type AppliedPlan, type OutcomeWord } from './subjects/apply.ts';
import { commentLimit, fitToLimit, type MarkdownBlock } from './markdown/fit-to-limit.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './text/terminal.ts';
import { clip, pad } from './text/width.ts';

/** The results of an apply for people at a terminal: one line an object, failures with what to do, the counts last. */
export function applyText(applied: readonly AppliedPlan[], terminal: Terminal): string {
  const { bold, dim } = terminal.color;
  const columns = widthFor(terminal);
  const sections = applied.map(({ plan, result }) => {
    const { target } = plan;
    const title: Span[] = [
      { text: escapeTerminal(target.name), paint: bold },
      ...gap,
      { text: escapeTerminal(target.url), paint: dim, noBreak: true },
    ];
    const lines = result.outcomes.flatMap((outcome) => outcomeLines(outcome, terminal));
    const last = wrap(words(appliedText(result), bold), { columns, indent: 0 });
    const head = [...wrap(title, { columns, indent: 2 }), ...auditLines(plan, terminal)];
    return [...head, '', ...lines, ...(lines.length === 0 ? [] : ['']), ...last].join('\n');
  });
  return sections.map((section) => `${section}\n`).join('\n\n');
}

/** Which plan it was, and what was overridden for it. */
function auditLines({ digest, allowed = [] }: AppliedPlan['plan'], terminal: Terminal): readonly string[] {
  const { dim, yellow } = terminal.color;
  const columns = widthFor(terminal);
  const allowances = allowed.flatMap(({ code, reason }) =>
    wrap([{ text: 'Allowed', paint: yellow }, ...words(escapeTerminal(`${code}: ${reason}`))], { columns, indent: 2 }),
  );
  return [...wrap(words(`Digest ${escapeTerminal(digest)}`, dim), { columns, indent: 2 }), ...allowances];
}

const wordColumn = 11;

function outcomeLines(outcome: Outcome, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  const word = outcomeWord(outcome);
  const indent = wordColumn + 4;
  const head: Span[] = [{ text: '  ' }, { text: pad(word, wordColumn), paint: paintOf(word, terminal.color) }, ...gap];
  const lines = wrap([...head, { text: escapeTerminal(outcome.id), noBreak: true }], { columns, indent });
  const said = [outcome.message, outcome.hint].flatMap((text) => (text === undefined ? [] : [words(escapeTerminal(text))]));
  const code = outcome.code === undefined ? [] : [{ text: escapeTerminal(outcome.code), paint: terminal.color.dim }, ...gap];
  const [message, ...hints] = said;
  const first = message === undefined ? code : [...code, ...(code.length === 0 ? message : withoutBreak(message))];
  const below = first.length === 0 ? [] : [first, ...hints];
  return [...lines, ...below.flatMap((pieces) => wrap([{ text: ' '.repeat(indent) }, ...pieces], { columns, indent }))];
}

function paintOf(word: OutcomeWord, color: Palette): Paint {
  const paints = {
    created: color.green,
    updated: color.yellow,
    renamed: color.yellow,
    deleted: color.red,
    unchanged: color.dim,
    failed: color.red,
    skipped: color.dim,
    blocked: color.cyan,
    held: color.cyan,
    interrupted: color.red,
  } as const;
  return paints[word];
}

/** The results of an apply as the JSON value that `schemas/documents/apply.schema.json` describes. */
export function applyDocument(applied: readonly AppliedPlan[]): JsonObject {
  return {
    version: 1,
    targets: applied.map(({ plan: { target, tree, digest, allowed = [] }, result }) => ({
      target: {
        name: target.name,
        url: target.url,
        dialect: target.dialect,
        ...(target.organisation === undefined ? {} : { organisation: target.organisation }),
      },
      tree,
      digest,
      allowed: allowed.map(({ code, reason }) => ({ code, reason })),
      outcomes: result.outcomes.map(({ id, action, status, begun, code, message, hint }) => ({
        id,
        action,
        status,
        ...(begun === undefined ? {} : { begun }),
        ...(code === undefined ? {} : { code }),
        ...(message === undefined ? {} : { message }),
        ...(hint === undefined ? {} : { hint }),
      })),
      counts: outcomeCounts(result.outcomes),
      interrupted: result.interrupted,
    })),
  };
}

/** The apply document as text. */
export function applyJson(applied: readonly AppliedPlan[]): string {
  return `${escapeJson(JSON.stringify(applyDocument(applied), null, 2))}\n`;
}

/** What is left out last. */
const importance: Readonly<Record<OutcomeStatus, number>> = {
  failed: 0,
  interrupted: 1,
  skipped: 2,
  blocked: 3,
  held: 4,
  done: 5,
  already: 6,
};

const longestMessage = 1000;

/** The results of an apply for a job's summary: counts, failures with what to do, then every object. */
export function applyMarkdown(applied: readonly AppliedPlan[], limit: number = commentLimit): string {
  return fitToLimit(applied.flatMap(appliedBlocks), limit, { labels: ['target', 'allowance', 'failure', 'table row'] });
}

const blank: MarkdownBlock = { text: '\n', rank: 1, label: 'blank' };

function appliedBlocks({ plan, result }: AppliedPlan): readonly MarkdownBlock[] {
  const { target, digest, allowed = [] } = plan;
  const where = `At ${codeSpan(target.url)}, plan ${codeSpan(digest)}.`;
  const head = { text: `### Apply to ${codeSpan(target.name)}\n\n**${appliedText(result)}**\n\n${where}\n\n`, rank: 0, label: 'target' };
  const allowances = allowed.map(({ code, reason }) => ({
    text: `- Allowed ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestMessage))}\n`,
    rank: 2,
    label: 'allowance',
  }));
  const failures = result.outcomes.filter(({ status, begun }) => status === 'failed' || begun === true).map(failureBlock);
  const rows = result.outcomes.map((outcome) => ({
    text: `| ${outcomeWord(outcome)} | ${codeSpan(outcome.id)} |\n`,
    rank: 10 + importance[outcome.status],
    label: 'table row',
  }));
  return [
    head,
    ...(allowances.length === 0 ? [] : [...allowances, blank]),
    ...(failures.length === 0 ? [] : [...failures, blank]),
    ...(rows.length === 0 ? [] : [{ text: '| | Resource |\n|---|---|\n', rank: 1, label: 'table row' }, ...rows, blank]),
  ];
}

function failureBlock(outcome: Outcome): MarkdownBlock {
  const { id, code, message, hint } = outcome;
  const said = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestMessage))]));
  const why = code === undefined ? said : [codeSpan(code), ...said];
  return { text: `- ${codeSpan(id)} ${outcomeWord(outcome)}${why.length === 0 ? '' : `: ${why.join('; ')}`}\n`, rank: 2, label: 'failure' };
}

/** How far an apply is. */
export type ApplyProgress = {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly action?: Action;
  readonly id?: ResourceId;
};

const doing: Readonly<Record<Action, string>> = {
  create: 'creating',
  update: 'updating',
  rename: 'renaming',
  delete: 'deleting',
  blocked: 'skipping',
  held: 'leaving',
};

/** One line for a terminal, no wider than it: counts first, then what is being written. */
export function progressLine(progress: ApplyProgress, columns: number): string {
  const failed = progress.failed === 0 ? '' : `, ${progress.failed} failed`;
  const verb = progress.action === undefined ? '' : `${doing[progress.action]} `;
  const now = progress.id === undefined ? '' : `  ${verb}${escapeTerminal(progress.id)}`;
  return clip(`${progress.done}/${progress.total} done${failed}${now}`, columns);
}
