import { git } from './workflow.ts';

/** The access levels of people, whose ids begin with 8: developers and maintainers. Their addresses are `LOGIN@example.com`. */
export const people: Readonly<Record<string, number>> = { ada: 40, grace: 40, dev: 30, mallory: 40, linus: 40 };

/** The account of the project's access token. */
export const projectBot = 'project_42_bot_f00';

/** Returns an account as the API shows it in other objects. */
export function accountView(username: string): object {
  return { id: username === projectBot ? 7 : 8 + Math.max(Object.keys(people).indexOf(username), 0), username };
}

/** Returns the account of the address that a commit states for its author; undefined for an address without one. */
export function authorOf(repository: string, commit: string): string | undefined {
  const [login = '', host] = git(repository, ['log', '-1', '--format=%ae', commit]).split('@');
  return host === 'example.com' && (people[login] !== undefined || login === projectBot) ? login : undefined;
}

/** A line that begins a quick action; GitLab looks for them outside of code, of which it knows only fences of three backticks. */
const quickAction = /^\s*\/(?:merge|approve|close|assign|label|lock|target_branch|rebase|reopen)\b.*$/gm;

/** Returns the text that GitLab stores, trimmed and without the commands that it runs, and these commands. */
export function storedText(text: string): { readonly stored: string; readonly actions: readonly string[] } {
  const code = [...text.matchAll(/^```[\s\S]*?\n```$|`[^`\n]+`/gm)].map(({ 0: part, index }) => [index, index + part.length] as const);
  const actions = [...text.matchAll(quickAction)].filter(({ index }) => !code.some(([from, to]) => from <= index && index < to));
  const lines = actions.reduceRight((rest, { 0: line, index }) => `${rest.slice(0, index)}${rest.slice(index + line.length + 1)}`, text);
  return { stored: lines.trim(), actions: actions.map(([line]) => line.trim()) };
}
