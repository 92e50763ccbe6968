import type { Plan } from '../model/plan/plan.ts';
import type { LinkOf } from './links.ts';
import type { AppliedPlan } from './document.ts';
import { renderMarkdown } from './markdown/markdown.ts';
import { renderJson } from './serialize.ts';
import { applyDocument } from './subjects/apply.ts';
import { planDocument } from './subjects/plan.ts';
import type { Terminal } from './wrap.ts';
import { renderReportText } from './text/text.ts';

/** Returns plans as text for a terminal. */
export function planText(plans: readonly Plan[], terminal: Terminal): string {
  return renderReportText(planDocument(plans), terminal);
}

/** Returns plans as Markdown, at most `limit` characters long. */
export function planMarkdown(plans: readonly Plan[], limit?: number, linkOf?: LinkOf): string {
  return renderMarkdown(planDocument(plans), { limit, linkOf });
}

/** Returns plans as JSON: the same bytes for the same plans. */
export function planJson(plans: readonly Plan[]): string {
  return renderJson(planDocument(plans));
}

/** Returns the results of applies as text for a terminal. */
export function applyText(applied: readonly AppliedPlan[], terminal: Terminal): string {
  return renderReportText(applyDocument(applied), terminal);
}

/** Returns the results of applies as Markdown, at most `limit` characters long. */
export function applyMarkdown(applied: readonly AppliedPlan[], limit?: number): string {
  return renderMarkdown(applyDocument(applied), { limit });
}

/** Returns the results of applies as JSON. */
export function applyJson(applied: readonly AppliedPlan[]): string {
  return renderJson(applyDocument(applied));
}
