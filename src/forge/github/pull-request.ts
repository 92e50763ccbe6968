import type { PullRequest } from '../forge.ts';
import { asObject, asText, isObject, type Json, type JsonObject } from '../../model/json.ts';

const robot = '[bot]';

/** Returns the login of the author of an object, that of a bot with its suffix; empty if the account was deleted. */
export function loginIn({ user }: JsonObject): string {
  const { login, type } = asObject(user);
  return withSuffix(asText(login), type === 'Bot');
}

/** Returns the login of an account in an answer to a query, as the rest of GitHub spells it; undefined if there is none. */
export function queriedLogin(account: Json | undefined): string | undefined {
  const { login, __typename: sort } = asObject(account);
  return typeof login === 'string' ? withSuffix(login, sort === 'Bot') : undefined;
}

function withSuffix(login: string, isRobot: boolean): string {
  return isRobot && !isBot(login) ? `${login}${robot}` : login;
}

/** Returns whether a login is that of a bot. */
export function isBot(login: string): boolean {
  return login.endsWith(robot);
}

/** Reads a pull request of an event or of the API; undefined for anything else. */
export function readPullRequest(value: unknown, before?: string): PullRequest | undefined {
  if (!isObject(value)) return undefined;
  const { number, head, base, merged, merged_at: mergedAt, user, updated_at: updatedAt } = value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || !isObject(head) || !isObject(base)) return undefined;
  const [from, to] = [repositoryOf(head), repositoryOf(base)];
  const commits = { head: commitAt(head, 'sha'), base: commitAt(base, 'sha') };
  if (commits.head === undefined || commits.base === undefined) return undefined;
  const author = loginIn({ user: user ?? null });
  // A deleted fork has no repository.
  const fork = from === undefined || from !== to;
  const baseBranch = asText(base['ref']);
  return {
    number,
    head: commits.head,
    base: commits.base,
    baseBranch,
    fork,
    author,
    merged: merged === true || typeof mergedAt === 'string',
    before,
    ...(typeof updatedAt === 'string' ? { updatedAt } : {}),
  };
}

function repositoryOf({ repo }: JsonObject): string | undefined {
  return isObject(repo) && typeof repo['full_name'] === 'string' ? repo['full_name'] : undefined;
}

/** The id of a commit. */
export const commitPattern: RegExp = /^[0-9a-f]{40,64}$/;

/** Returns the commit that a field of an event or an answer names; undefined if it names none. */
export function commitAt(value: JsonObject, key: string): string | undefined {
  const commit = value[key];
  return typeof commit === 'string' && commitPattern.test(commit) ? commit : undefined;
}
