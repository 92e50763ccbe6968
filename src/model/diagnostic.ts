import type { DiagnosticCode } from './catalog/diagnostic-code.ts';
import { type Pointer, pointer } from './pointer.ts';
import type { ResourceId } from './resource.ts';
import { type Json, compareText } from './json.ts';

/** A file that the user wrote: its path relative to the working directory (with `/`) and its text. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  /** The value of its only document, when the text was generated from it and need not be parsed. */
  readonly said?: Json;
  /** Only a link leads to the file, and it is hidden or ignored by git: no error may quote it. */
  readonly isPrivate?: true;
};

/** Returns whether a file with this name may contain manifests. */
export function isManifestName(name: string): boolean {
  return name.endsWith('.yaml') || name.endsWith('.yml');
}

/** Returns whether a file at this path, or at `COMMIT:PATH`, has the defaults of its folder. */
export function isDefaultsPath(path: string): boolean {
  return path.endsWith('_defaults.yaml') && /(?:^|[\\/]|^[\da-f]{10}:)_defaults\.yaml$/.test(path);
}

/** Returns the paths that defaults files in the folders above the given paths have; the root ends with a separator or is empty. */
export function defaultsAbove(paths: readonly string[], root: string, separator = '/'): readonly string[] {
  const folders = paths.flatMap((path) => {
    const names = path.startsWith(root) ? path.slice(root.length).split(separator) : [];
    return names.map((_, depth) =>
      names
        .slice(0, depth)
        .map((name) => name + separator)
        .join(''),
    );
  });
  return [...new Set(folders)].map((folder) => `${root}${folder}_defaults.yaml`);
}

/** Returns whether a folder with this name is searched for manifests. */
export function isManifestFolder(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

const badCharacters = /[\p{Cc}\u2028\u2029\ufffd]/u;

/** Returns whether a name is valid UTF-8 and contains no control characters or line breaks. */
export function isPrintableName(name: string): boolean {
  return !badCharacters.test(name);
}

/** A position in a file that the user wrote; line and column start at 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number };

/** Parses `file:line:column`; returns undefined for any other text. */
export function parsePosition(text: string): Position | undefined {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/s.exec(text) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

/** Formats a position as `file:line:column`. */
export function formatPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

export type Severity = 'error' | 'warning' | 'notice';

/** The lines around an error: `line` is the number of the first line, `caret` marks part of the last line. */
export type CodeFrame = {
  readonly line: number;
  readonly lines: readonly string[];
  readonly caret: { readonly column: number; readonly length: number };
};

/**
 * An error, warning or notice about the user's input, or the reason why a plan is refused: one type from detection to
 * printing. Codes are `area/kebab-reason` and stable.
 */
export type Diagnostic = {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly at?: Position | undefined;
  readonly frame?: CodeFrame | undefined;
  readonly resource?: ResourceId | undefined;
  /** The place in the document, by index in lists, from the document's root. No report prints it. */
  readonly pointer?: Pointer;
  /** What `at` marks: the value at the pointer (the default), its key, or the map without the field at the pointer. */
  readonly part?: 'key' | 'value' | 'parent';
  /** The text at the pointer, and the index (from 0) of the character that `at` marks. */
  readonly within?: { readonly text: string; readonly index: number };
  /** The field expects a string, or a list of strings: the hint quotes the text of the source, because 007 is not 7. */
  readonly quotes?: 'string' | 'array';
  /** The targets that it is about, in a run over several. */
  readonly targets?: readonly string[];
  /** Set on refusals only: whether `--allow CODE=REASON` overrides this one. */
  readonly allowable?: boolean;
};

/** A diagnostic about a place in a document. */
export type DocumentDiagnostic = Diagnostic & { readonly pointer: Pointer };

/** Creates an error about a place in a document, by its pointer or the tokens of that. An empty hint is none. */
export function documentError(
  code: DiagnosticCode,
  at: Pointer | readonly string[],
  message: string,
  hint: string = '',
): DocumentDiagnostic {
  const place = typeof at === 'string' ? at : pointer(...at);
  return { code, severity: 'error', pointer: place, message, ...(hint === '' ? {} : { hint }) };
}

/** A result with its diagnostics. Warnings may accompany a value; with an error, the value must not be used. */
export type Checked<T> = { readonly value?: T | undefined; readonly diagnostics: readonly Diagnostic[] };

/** Returns whether one of the diagnostics is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** Leaves out the warning about an unfamiliar value where an error is about the same place: one mistake has one finding. */
export function withoutDoubts(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (!diagnostics.some(({ code }) => code === 'manifest/unfamiliar-value')) return diagnostics;
  const places = new Set(diagnostics.flatMap(({ severity, at }) => (severity === 'error' && at !== undefined ? [formatPosition(at)] : [])));
  return diagnostics.filter(({ code, at }) => code !== 'manifest/unfamiliar-value' || at === undefined || !places.has(formatPosition(at)));
}

/** Sorts diagnostics by file, line, column, code and message; those without a position come first. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((left, right) => {
    const byPosition = comparePositions(left.at ?? start, right.at ?? start);
    return byPosition || compareText(`${left.code} ${left.message}`, `${right.code} ${right.message}`);
  });
}

const start: Position = { file: '', line: 0, column: 0 };

/** Compares two positions by file, line and column. */
export function comparePositions(left: Position, right: Position): number {
  return compareText(left.file, right.file) || left.line - right.line || left.column - right.column;
}

/** Returns the closest candidate for a misspelled text; undefined when none is close. */
export function suggest(text: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(text.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of [...candidates].toSorted(compareText)) {
    if (Math.abs(candidate.length - text.length) >= bestDistance) continue;
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns `did you mean "x"?` for the closest candidate; undefined when none is close. */
export function didYouMean(text: string, candidates: Iterable<string>): string | undefined {
  return suggestWord(suggest(text, candidates));
}

/** Returns `did you mean "x"?`, or undefined without a similar word. */
export function suggestWord(word: string | undefined): string | undefined {
  return word === undefined ? undefined : `did you mean "${word}"?`;
}

/** Returns the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbors. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min((last[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      line.push(cost);
    }
    beforeLast = last;
    last = line;
  }
  return last[right.length] ?? 0;
}
