import type { DiagnosticCode } from './catalog/diagnostic-code.ts';
import { type Checked, type Diagnostic, withoutDoubts } from './diagnostic.ts';
import type { Refusal } from './plan/plan.ts';

/** Base of every error that ends a command; only `commands/command-line/guard.ts` catches them. */
export class AppError extends Error {
  readonly code: DiagnosticCode;
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(
    code: DiagnosticCode,
    exitCode: number,
    message: string,
    options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.exitCode = exitCode;
    this.hint = options.hint;
  }
}

/** Returns the code of an error of the system or the database, such as `ENOENT`; undefined if it has none. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The command line is wrong. */
export class UsageError extends AppError {
  constructor(message: string, hint?: string) {
    super('cli/usage', 3, message, { hint });
  }
}

/** What the user wrote is wrong: exit 3 with all diagnostics. */
export class InputError extends AppError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super('input/invalid', 3, 'the input is invalid');
    this.diagnostics = withoutDoubts(diagnostics);
  }
}

/** Returns the value of a result. Throws InputError without one. */
export function requireValue<T>({ value, diagnostics }: Checked<T>): T {
  if (value === undefined) throw new InputError(diagnostics);
  return value;
}

/** The run is refused for safety: exit 6. */
export class RefusedError extends AppError {
  readonly refusals: readonly Refusal[];
  /** The refusals that a printed plan contains. */
  readonly printed: ReadonlySet<Refusal>;

  constructor(refusals: readonly Refusal[], printed: readonly Refusal[] = []) {
    super('plan/refused', 6, refusals.map((refusal) => refusal.message).join('; '));
    this.refusals = refusals;
    this.printed = new Set(printed);
  }
}

export type ApiFailure = {
  readonly code: Extract<DiagnosticCode, `api/${string}`>;
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  readonly requestId?: string;
  /** The request may be sent again. */
  readonly retryable: boolean;
  /** It is not known whether the gateway carried the request out. */
  readonly ambiguous: boolean;
  /** The milliseconds that the gateway asks to wait before the next attempt. */
  readonly retryAfterMs?: number;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
};

/** A request failed; the message quotes method and URL. */
export class ApiError extends AppError {
  readonly failure: ApiFailure;

  constructor(message: string, failure: ApiFailure) {
    super(failure.code, 4, `${failure.method} ${failure.url}: ${message}`, {
      hint: failure.hint,
      cause: failure.cause,
    });
    this.failure = failure;
  }
}
