import { sortDiagnostics, type Diagnostic, type Severity } from '../../model/diagnostic.ts';
import { diagnosticCounts } from '../text/diagnostics.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { positionMarkdown, type LinkOf } from '../links.ts';
import { commentLimit, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';
import { clip } from '../text/width.ts';

const importance: Readonly<Record<Severity, number>> = { error: 0, warning: 1, notice: 2 };

const longestMessage = 1000;

/** Returns the counts of diagnostics, then a line each. Where the limit requires it, the least severe ones are omitted. */
export function diagnosticsMarkdown(diagnostics: readonly Diagnostic[], limit: number = commentLimit, linkOf?: LinkOf): string {
  if (diagnostics.length === 0) return '';
  const head: MarkdownBlock = { text: `**${diagnosticCounts(diagnostics)}**\n\n`, rank: 0, label: 'count' };
  const lines = sortDiagnostics(diagnostics).map((diagnostic) => ({
    text: diagnosticLine(diagnostic, linkOf),
    rank: 1 + importance[diagnostic.severity],
    label: diagnostic.severity,
  }));
  const blocks = [head, ...lines, { text: '\n', rank: 0, label: 'blank' }];
  return fitToLimit(blocks, limit, { labels: ['error', 'warning', 'notice'], rest: 'The log has everything.' });
}

function diagnosticLine({ at, resource, severity, code, message, hint }: Diagnostic, linkOf?: LinkOf): string {
  const place = at === undefined ? resource && codeSpan(clip(resource, 200)) : positionMarkdown(at, linkOf);
  const texts = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestMessage))]));
  return `- ${place === undefined ? '' : `${place} `}${severity} ${codeSpan(code)} ${texts.join('; ')}\n`;
}
