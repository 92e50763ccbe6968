import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { applyMarkdown } from './apply.ts';
import { diagnosticsMarkdown } from './diagnostics-markdown.ts';
import { codeSpan, escapeMarkdown } from './escape.ts';
import type { LinkOf } from './links.ts';
import { planMarkdown } from './plan-markdown.ts';
import { clip } from './width.ts';

/** What one run has to say of one target. */
export type Message = {
  /** The headline where there is neither a plan nor a result. */
  readonly title: string;
  /** Sentences of ours that stand above everything. */
  readonly notes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan | undefined;
  readonly result?: ApplyResult | undefined;
  /** The commit that it was made at, and the page of the run. */
  readonly at?: { readonly commit: string; readonly runUrl: string };
  readonly version: string;
  readonly linkOf?: LinkOf | undefined;
};

/** Diagnostics of these areas stand above the plan: they change what it was checked with. */
const headline = /^config\/after-merge$/;

const diagnosticsRoom = 12_000;

/** A comment or a summary within the limit: what heads the report, the plan or its result, the other diagnostics, the footer. */
export function messageMarkdown(message: Message, limit: number): string {
  const { plan, result, diagnostics, linkOf } = message;
  const first = diagnostics.filter(({ code }) => headline.test(code));
  const others = diagnostics.filter(({ code }) => !headline.test(code));
  const notes = message.notes.map((note) => `> ${escapeMarkdown(clip(note, 1000))}\n\n`).join('');
  const head = `${notes}${diagnosticsMarkdown(first, diagnosticsRoom, linkOf)}`;
  const foot = footer(message);
  if (plan === undefined) {
    const title = `### ${escapeMarkdown(clip(message.title, 300))}\n\n`;
    const room = limit - title.length - head.length - foot.length;
    return `${title}${head}${diagnosticsMarkdown(others, room, linkOf)}${foot}`;
  }
  const tail = `${diagnosticsMarkdown(others, diagnosticsRoom, linkOf)}${foot}`;
  const room = limit - head.length - tail.length;
  return `${head}${result === undefined ? planMarkdown([plan], room, linkOf) : applyMarkdown([{ plan, result }], room)}${tail}`;
}

function footer({ at, version }: Message): string {
  if (at === undefined) return '';
  return `Ostiary ${codeSpan(version)} at commit ${codeSpan(at.commit.slice(0, 12))}, in [this run](${at.runUrl}).\n`;
}
