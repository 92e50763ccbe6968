/** A problem with one field of a request body (JSON Pointer) or with one query parameter (name). */
export type FieldProblem = { readonly field: string; readonly reason: string };

/** An error response. Routes and store functions throw it, so that the transaction around them rolls back. */
export class Rejection extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 429 | 501 | 503;
  readonly problems: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: Rejection['status'], message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Rejection';
    this.status = status;
    this.problems = [];
    this.headers = headers;
  }
}

/** A response with every problem of a body: a 422, or a 400 when the body is not well-formed. */
export class InvalidBody extends Rejection {
  override readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[], status: 400 | 422 = 422) {
    super(status, problems.map(({ field, reason }) => `${field} ${reason}`.trim()).join('; '));
    this.name = 'InvalidBody';
    this.problems = problems;
  }
}

/** Throws an `InvalidBody` when there are problems. */
export function requireNoProblems(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw new InvalidBody(problems);
}
