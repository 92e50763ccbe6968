import type { Acknowledgment } from '../model/desired.ts';
import type { Diagnostic, SourceFile } from '../model/diagnostic.ts';
import type { SourceMap } from './source-map.ts';
import { commentsOf } from './yaml/comments.ts';

const marker = 'ostiary:ok';

/** Returns the comment that accepts findings of a code. */
export function acknowledgment(code: string, reason: string): string {
  return `# ${marker} ${code} ${reason}`;
}

/**
 * Returns a finding with the reason why it is accepted, if a comment on its line, or alone on the line above, says so:
 * `# ostiary:ok rule/matches-harmless the demo gateway blocks everything`. Only warnings can be acknowledged, and errors that only a write of
 * the object would have; a comment without the code or without a reason has no effect, and the hint says so.
 */
export function acknowledge<T extends Diagnostic>(
  sources: SourceMap,
  finding: T,
  isOfWrite = false,
): { readonly finding: T; readonly reason?: string } {
  const { code, severity, at } = finding;
  const text = at === undefined ? undefined : sources.findFile(at.file)?.file.text;
  if (at === undefined || text === undefined || (severity !== 'warning' && !isOfWrite) || !text.includes(marker)) return { finding };
  const marked = commentsOf(text).filter((comment) => comment.line === at.line && comment.text.startsWith(marker));
  const reasons = marked.flatMap((comment) => {
    const [, about, reason = ''] = /^\S+\s+(\S+)\s*(.*)$/s.exec(comment.text) ?? [];
    return about === code && reason !== '' ? [reason] : [];
  });
  if (marked.length === 0) return { finding };
  const [reason] = reasons;
  const hint = `${finding.hint ?? ''}; to keep it, write # ${marker} ${code} and a reason`;
  return reason === undefined ? { finding: { ...finding, hint } } : { finding, reason };
}

/** Returns the comments of files that accept findings. */
export function acknowledgmentsIn(files: readonly Pick<SourceFile, 'text'>[]): readonly Acknowledgment[] {
  return files.flatMap(({ text }) => {
    if (!text.includes(marker)) return [];
    const lines = text.split('\n');
    return commentsOf(text).flatMap(({ line, text: comment }) => {
      const [, code = '', reason = ''] = /^\S+\s+(\S+)\s*(.*)$/s.exec(comment) ?? [];
      return comment.startsWith(marker) ? [{ code, text: `${reason} ${lines[line - 1]?.trim() ?? ''}` }] : [];
    });
  });
}
