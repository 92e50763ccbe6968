import type { JsonObject } from '../model/json.ts';
import type { Outcome, OutcomeStatus } from '../model/result/outcome.ts';
import type { Action } from '../model/plan/plan.ts';
import type { ResourceId } from '../model/resource.ts';
import { codeSpan, escapeJson, escapeMarkdown, escapeTerminal } from './escape.ts';
import { flow, gap, glued, words, type Piece } from './flow.ts';
import { appliedText, outcomeCounts, participleOf, type Applied, type Participle } from './outcomes.ts';
import { commentLimit, shed, type Block } from './shed.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';
import { clip, pad } from './width.ts';

/** The results of an apply for people at a terminal: one line an object, failures with what to do, the counts last. */
export function applyText(applied: readonly Applied[], terminal: Terminal): string {
  const { bold, dim } = terminal.colour;
  const columns = widthFor(terminal);
  const sections = applied.map(({ plan, result }) => {
    const { target } = plan;
    const title: Piece[] = [
      { text: escapeTerminal(target.name), paint: bold },
      ...gap,
      { text: escapeTerminal(target.url), paint: dim, glue: true },
    ];
    const lines = result.outcomes.flatMap((outcome) => outcomeLines(outcome, terminal));
    const last = flow(words(appliedText(result), bold), { columns, indent: 0 });
    const head = [...flow(title, { columns, indent: 2 }), ...auditLines(plan, terminal)];
    return [...head, '', ...lines, ...(lines.length === 0 ? [] : ['']), ...last].join('\n');
  });
  return sections.map((section) => `${section}\n`).join('\n\n');
}

/** Which plan it was, and what was overridden for it. */
function auditLines({ digest, allowed = [] }: Applied['plan'], terminal: Terminal): readonly string[] {
  const { dim, yellow } = terminal.colour;
  const columns = widthFor(terminal);
  const allowances = allowed.flatMap(({ code, reason }) =>
    flow([{ text: 'Allowed', paint: yellow }, ...words(escapeTerminal(`${code}: ${reason}`))], { columns, indent: 2 }),
  );
  return [...flow(words(`Digest ${escapeTerminal(digest)}`, dim), { columns, indent: 2 }), ...allowances];
}

const wordColumn = 11;

function outcomeLines(outcome: Outcome, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  const word = participleOf(outcome);
  const indent = wordColumn + 4;
  const head: Piece[] = [{ text: '  ' }, { text: pad(word, wordColumn), paint: paintOf(word, terminal.colour) }, ...gap];
  const lines = flow([...head, { text: escapeTerminal(outcome.id), glue: true }], { columns, indent });
  const said = [outcome.message, outcome.hint].flatMap((text) => (text === undefined ? [] : [words(escapeTerminal(text))]));
  const code = outcome.code === undefined ? [] : [{ text: escapeTerminal(outcome.code), paint: terminal.colour.dim }, ...gap];
  const [message, ...hints] = said;
  const first = message === undefined ? code : [...code, ...(code.length === 0 ? message : glued(message))];
  const below = first.length === 0 ? [] : [first, ...hints];
  return [...lines, ...below.flatMap((pieces) => flow([{ text: ' '.repeat(indent) }, ...pieces], { columns, indent }))];
}

function paintOf(word: Participle, colour: Palette): Paint {
  const paints = {
    created: colour.green,
    updated: colour.yellow,
    renamed: colour.yellow,
    deleted: colour.red,
    unchanged: colour.dim,
    failed: colour.red,
    skipped: colour.dim,
    blocked: colour.cyan,
    held: colour.cyan,
    interrupted: colour.red,
  } as const;
  return paints[word];
}

/** The results of an apply as the JSON value that `schemas/documents/apply.schema.json` describes. */
export function applyDocument(applied: readonly Applied[]): JsonObject {
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
export function applyJson(applied: readonly Applied[]): string {
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
export function applyMarkdown(applied: readonly Applied[], limit: number = commentLimit): string {
  return shed(applied.flatMap(appliedBlocks), limit, { sorts: ['target', 'allowance', 'failure', 'table row'] });
}

const blank: Block = { text: '\n', rank: 1, sort: 'blank' };

function appliedBlocks({ plan, result }: Applied): readonly Block[] {
  const { target, digest, allowed = [] } = plan;
  const where = `At ${codeSpan(target.url)}, plan ${codeSpan(digest)}.`;
  const head = { text: `### Apply to ${codeSpan(target.name)}\n\n**${appliedText(result)}**\n\n${where}\n\n`, rank: 0, sort: 'target' };
  const allowances = allowed.map(({ code, reason }) => ({
    text: `- Allowed ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestMessage))}\n`,
    rank: 2,
    sort: 'allowance',
  }));
  const failures = result.outcomes.filter(({ status, begun }) => status === 'failed' || begun === true).map(failureBlock);
  const rows = result.outcomes.map((outcome) => ({
    text: `| ${participleOf(outcome)} | ${codeSpan(outcome.id)} |\n`,
    rank: 10 + importance[outcome.status],
    sort: 'table row',
  }));
  return [
    head,
    ...(allowances.length === 0 ? [] : [...allowances, blank]),
    ...(failures.length === 0 ? [] : [...failures, blank]),
    ...(rows.length === 0 ? [] : [{ text: '| | Resource |\n|---|---|\n', rank: 1, sort: 'table row' }, ...rows, blank]),
  ];
}

function failureBlock(outcome: Outcome): Block {
  const { id, code, message, hint } = outcome;
  const said = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestMessage))]));
  const why = code === undefined ? said : [codeSpan(code), ...said];
  return { text: `- ${codeSpan(id)} ${participleOf(outcome)}${why.length === 0 ? '' : `: ${why.join('; ')}`}\n`, rank: 2, sort: 'failure' };
}

/** How far an apply is. */
export type Progress = {
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
export function progressLine(progress: Progress, columns: number): string {
  const failed = progress.failed === 0 ? '' : `, ${progress.failed} failed`;
  const verb = progress.action === undefined ? '' : `${doing[progress.action]} `;
  const now = progress.id === undefined ? '' : `  ${verb}${escapeTerminal(progress.id)}`;
  return clip(`${progress.done}/${progress.total} done${failed}${now}`, columns);
}
