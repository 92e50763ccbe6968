import type { Pointer } from './pointer.ts';
import type { ResourceId } from './resource.ts';

/** A place in a file the user wrote: line and column start at 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number };

/** The place that `file:line:column` says. */
export function positionOf(text: string): Position | undefined {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/s.exec(text) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

export type Severity = 'error' | 'warning' | 'notice';

/** The lines around a mistake: `line` is the first line's number, `caret` the marked part of the last line. */
export type CodeFrame = {
  readonly line: number;
  readonly lines: readonly string[];
  readonly caret: { readonly column: number; readonly length: number };
};

/** Something that the user wrote is wrong or worth a word; codes are `area/kebab-reason` and stable. */
export type Diagnostic = {
  readonly code: `${string}/${string}`;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
  readonly at?: Position;
  readonly frame?: CodeFrame;
  readonly resource?: ResourceId;
};

/** Something found in a document, at a pointer into it. */
export type Finding = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> & {
  readonly at: Pointer;
  /** The text there, and the character of it (from 0) that is meant. */
  readonly within?: { readonly text: string; readonly index: number };
};

/** A value and what was found on the way to it; warnings may ride with a value, an error means there is none to rely on. */
export type Checked<T> = { readonly value?: T; readonly diagnostics: readonly Diagnostic[] };

/** Tells whether one of the diagnostics is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** Orders diagnostics by file, line, column, then code and message; those without a place come first. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((left, right) => {
    const byFile = order(left.at?.file ?? '', right.at?.file ?? '');
    if (byFile !== 0) return byFile;
    const byLine = (left.at?.line ?? 0) - (right.at?.line ?? 0);
    if (byLine !== 0) return byLine;
    const byColumn = (left.at?.column ?? 0) - (right.at?.column ?? 0);
    if (byColumn !== 0) return byColumn;
    return order(`${left.code} ${left.message}`, `${right.code} ${right.message}`);
  });
}

function order(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
