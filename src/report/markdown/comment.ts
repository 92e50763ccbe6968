import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { applyMarkdown } from '../apply.ts';
import { diagnosticsMarkdown } from '../diagnostics-markdown.ts';
import { driftMarkdown } from '../drift-markdown.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import type { LinkOf } from '../links.ts';
import { planMarkdown } from './changes.ts';
import { clip } from '../text/width.ts';

/** What one run has to say of one target. */
export type Message = {
  /** The headline where there is no plan, or an error beside it. */
  readonly title: string;
  /** Sentences of ours that stand above everything. */
  readonly notes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan | undefined;
  readonly result?: ApplyResult | undefined;
  readonly drift?: Drift | undefined;
  /** The commit that it was made at, and the page of the run. */
  readonly at?: { readonly commit: string; readonly runUrl: string };
  readonly version: string;
  readonly linkOf?: LinkOf | undefined;
};

const partRoom = 12_000;

/** A comment or a summary within the limit: what heads the report, the plan or its result, the other diagnostics, the footer. */
export function messageMarkdown(message: Message, limit: number): string {
  const { title, plan, drift, diagnostics, linkOf } = message;
  const changed = diagnostics.filter(isOfConfig);
  const errors = diagnostics.filter((one) => !isOfConfig(one) && one.severity === 'error');
  const others = diagnostics.filter((one) => !isOfConfig(one) && one.severity !== 'error');
  const notes = message.notes.map((note) => `> ${escapeMarkdown(clip(note, 1000))}\n\n`).join('');
  const isTitled = plan === undefined && drift === undefined;
  const titled = isTitled || errors.length > 0 ? `### ${escapeMarkdown(clip(title, 300))}\n\n` : '';
  const head = `${titled}${notes}${diagnosticsMarkdown(changed, partRoom, linkOf)}${diagnosticsMarkdown(errors, partRoom, linkOf)}`;
  const tail = `${diagnosticsMarkdown(others, partRoom, linkOf)}${footer(message)}`;
  return `${head}${bodyOf(message, limit - head.length - tail.length)}${tail}`;
}

/** What was undone says more than what there was to undo. */
function bodyOf({ plan, result, drift, linkOf }: Message, room: number): string {
  if (plan !== undefined && result !== undefined) return applyMarkdown([{ plan, result }], room);
  if (drift !== undefined) return driftMarkdown([drift], room, linkOf);
  return plan === undefined ? '' : planMarkdown([plan], room, linkOf);
}

/** What a proposal changes of its own checks comes first. */
function isOfConfig({ code }: Diagnostic): boolean {
  return code === 'config/after-merge';
}

/** Which version said it, of which commit, and where. */
export function footer({ at, version }: Pick<Message, 'at' | 'version'>): string {
  if (at === undefined) return '';
  return `Ostiary ${codeSpan(version)} at commit ${codeSpan(at.commit.slice(0, 12))}, in [this run](${at.runUrl}).\n`;
}
