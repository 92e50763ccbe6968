/** A command in a comment: its whole first line. What follows is free text. */
export type CommentCommand =
  | { readonly name: 'allow'; readonly commit: string; readonly code: string; readonly reason: string }
  | { readonly name: 'apply'; readonly digest: string };

/** The command that asks for a plan. */
export const planCommand = '/ostiary plan';

/** Returns the command that overrides a refusal of the plan of a commit. */
export function allowCommandFor(commit: string, code: string): string {
  return `/ostiary allow ${commit} ${code}=REASON`;
}

/** Returns the command that agrees to a plan. */
export function applyCommandFor(digest: string): string {
  return `/ostiary apply ${digest}`;
}

/** Returns whether a comment begins as a command about a plan does. Like `firstLineOf`, it uses no pattern: anybody may write a comment, of any length. */
export function beginsWithCommand(body: string): boolean {
  return body.startsWith('/ostiary ') && firstLineOf(body) !== planCommand;
}

/** Returns the first line of a comment, without a pattern. */
export function firstLineOf(body: string): string {
  const end = body.indexOf('\n');
  return (end === -1 ? body : body.slice(0, end)).trimEnd();
}

const allowForm = /^\/ostiary allow ([0-9a-f]+) ([a-z]+\/[a-z-]+)=(\S.*)$/;
const applyForm = /^\/ostiary apply ([0-9a-f]+)$/;

/** Parses the first line of a comment; undefined if it is no command about a plan. */
export function parseCommand(line: string): CommentCommand | undefined {
  const [, commit, code, reason] = allowForm.exec(line) ?? [];
  if (commit !== undefined && code !== undefined && reason !== undefined) return { name: 'allow', commit, code, reason };
  const [, digest] = applyForm.exec(line) ?? [];
  return digest === undefined ? undefined : { name: 'apply', digest };
}
