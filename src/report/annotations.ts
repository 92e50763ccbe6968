import type { Annotation } from './blocks.ts';
import { findingBlocks, type ReportDocument } from './document.ts';
import { escapeCommandData, escapeCommandProperty } from './escape.ts';
import { clip } from './wrap.ts';

/** The annotations of each severity that GitHub shows for one step. */
const most = 10;
const longestMessage = 1000;

/** Renders what a run found as workflow commands that annotate the files of a pull request. */
export function renderAnnotations(document: ReportDocument): string {
  return findingBlocks(document)
    .map(({ annotations, pathOf }) => annotationCommands(annotations(), pathOf))
    .join('');
}

/** Returns the first annotations of each severity as workflow commands; the last one counts those that are omitted. */
export function annotationCommands(annotations: readonly Annotation[], pathOf: (file: string) => string | undefined): string {
  const severities = ['error', 'warning', 'notice'] as const;
  return severities
    .flatMap((severity) => limited(annotations.filter((one) => one.severity === severity)).map((one) => commandOf(one, pathOf)))
    .join('');
}

function limited(annotations: readonly Annotation[]): readonly Annotation[] {
  if (annotations.length <= most) return annotations;
  const rest = annotations.length - most + 1;
  const severity = annotations[0]?.severity ?? 'notice';
  return [...annotations.slice(0, most - 1), { severity, title: 'Ostiary', message: `and ${rest} more: see the log` }];
}

function commandOf({ severity, title, message, at }: Annotation, pathOf: (file: string) => string | undefined): string {
  const path = at === undefined ? undefined : pathOf(at.file);
  const place =
    at === undefined || path === undefined ? [] : [`file=${escapeCommandProperty(path)}`, `line=${at.line}`, `col=${at.column}`];
  const properties = [...place, `title=${escapeCommandProperty(clip(title, 200))}`];
  return `::${severity} ${properties.join(',')}::${escapeCommandData(clip(message, longestMessage))}\n`;
}
