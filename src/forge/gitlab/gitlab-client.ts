import { listIn, numberIn, objectIn, textIn } from '../answers.ts';
import { unlessRefused } from '../forge-errors.ts';
import {
  type Comment,
  type Forge,
  goneAccount,
  type Issue,
  type IssueCalls,
  type IssueUpdate,
  type NewIssue,
  type PeopleCalls,
  type PullRequest,
  type PullRequestCalls,
  type PullRequestSummary,
} from '../forge.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { asObject, asText, isObject, type JsonObject } from '../../model/json.ts';
import { type GitLabApi, type GitLabOptions, openGitLabApi } from './gitlab-api.ts';
import { withoutQuickActions } from './quick-actions.ts';

/** Creates a client for one project, by its id. */
export function openGitLab({ project, ...options }: GitLabOptions & { readonly project: string }): Forge {
  const api = openGitLabApi(options);
  const home = `/projects/${project}`;
  return {
    ...issueCalls(api, home),
    ...mergeRequestCalls(api, home),
    ...noteCalls(api, home),
    people: peopleCalls(api, project),
    async whoAmI() {
      return textIn(objectIn(await api.get('/user'), 'an account'), 'username', 'an account');
    },
    async setStatus(commit, { state, context, description, url }) {
      const status = { state: state === 'success' ? 'success' : 'failed', name: context, description, target_url: url };
      await api.send('POST', `${home}/statuses/${commit}`, status);
    },
  };
}

/** The access level of maintainers; owners have more. */
const maintainer = 40;

/** Creates the requests on people. */
function peopleCalls(api: GitLabApi, project: string): PeopleCalls {
  const levelIn = async (members: string, login: string): Promise<number> => {
    const [found] = await api.list('/users', { username: login }, 1);
    if (found === undefined) return 0;
    const id = numberIn(objectIn(found, 'an account'), 'id', 'an account');
    const member = objectIn(await api.get(`${members}/members/all/${id}`), 'a member');
    return member['state'] === 'active' ? numberIn(member, 'access_level', 'a member') : 0;
  };
  return {
    mayWrite: async (login) => (await levelIn(`/projects/${project}`, login)) >= maintainer,
    isBot: (login) => bots.test(login),
    async accountsOf({ id, author, committer, coAuthors }) {
      // GitLab says whose account the address of an author is, and of no other.
      const query =
        'query ($ids: [ID!], $ref: String!) { projects(ids: $ids) { nodes { repository { tree(ref: $ref) { lastCommit { sha author { username } } } } } } }';
      const { projects } = await api.graphql(query, { ids: [`gid://gitlab/Project/${project}`], ref: id });
      const { nodes } = asObject(projects);
      const [node] = listIn(nodes, 'projects');
      const last = asObject(asObject(asObject(asObject(node)['repository'])['tree'])['lastCommit']);
      const login = last['sha'] === id ? usernameIn(last) || undefined : undefined;
      return [author, committer, ...coAuthors].map(({ email }) => (email === author.email ? login : loginInAddress(email)));
    },
    async isTeamMember(organization, team, login) {
      // A 404, for a group that the token may not read, or for a person who is no member.
      const level = await unlessRefused(() => levelIn(`/groups/${encodeURIComponent(`${organization}/${team}`)}`, login));
      return level === undefined ? undefined : level > 0;
    },
  };
}

/** The accounts of project and group access tokens, and service accounts. */
const bots = /^(?:(?:project|group)_\d+_bot|service_account)/;

/** Returns the login in an address that GitLab makes for an account that hides its own: `ID-LOGIN@users.noreply.HOST`. */
function loginInAddress(email: string): string | undefined {
  return /^\d+-([\w.-]+)@users\.noreply\.[\w.-]+$/i.exec(email)?.[1];
}

/** The most pages of issues that are read to find one without its label. */
const mostPages = 10;

const issueName = 'an issue';

function issueCalls(api: GitLabApi, home: string): IssueCalls {
  const newestFirst = { scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc' };
  return {
    labeledIssues: async (label) => (await api.list(`${home}/issues`, { ...newestFirst, labels: label })).map(issueOf),
    async issuesOf(login) {
      const query = { ...newestFirst, author_username: login, order_by: 'updated_at' };
      return (await api.list(`${home}/issues`, query, mostPages)).map(issueOf);
    },
    async ensureLabel(label) {
      // It exists, or the token may not create labels; an issue can still have it.
      await unlessRefused(() => api.send('POST', `${home}/labels`, label));
    },
    openIssue: (wish) => openIssue(api, home, wish),
    async updateIssue(number, rewrite) {
      await api.send('PUT', `${home}/issues/${number}`, updateOf(rewrite));
    },
    async commentOnIssue(number, body) {
      await api.send('POST', `${home}/issues/${number}/notes`, { body: withoutQuickActions(body) });
    },
  };
}

/** Opens an issue and returns its number; a warning names assignees that GitLab does not know. */
async function openIssue(api: GitLabApi, home: string, { title, body, labels, assignees }: NewIssue): Promise<Checked<number>> {
  const ids: number[] = [];
  const unknown: string[] = [];
  for (const username of assignees) {
    const [found] = await api.list('/users', { username }, 1);
    if (found === undefined) unknown.push(username);
    else ids.push(numberIn(objectIn(found, 'an account'), 'id', 'an account'));
  }
  const wish = { title, description: withoutQuickActions(body), labels: labels.join(','), assignee_ids: ids };
  const number = issueOf(await api.send('POST', `${home}/issues`, wish)).number;
  const warnings = unknown.map((username): Diagnostic => {
    const message = `issue ${number} was opened without the assignee "${username}": GitLab shows no such account`;
    return { code: 'forge/refused', severity: 'warning', message, hint: 'correct --assignees' };
  });
  return { value: number, diagnostics: warnings };
}

function updateOf({ title, body, open }: IssueUpdate): JsonObject {
  return {
    ...(title === undefined ? {} : { title }),
    ...(body === undefined ? {} : { description: withoutQuickActions(body) }),
    ...(open === undefined ? {} : { state_event: open ? 'reopen' : 'close' }),
  };
}

/** Reads an issue, or a merge request as an issue. */
function issueOf(raw: unknown): Issue {
  const one = objectIn(raw, issueName);
  const { description, state } = one;
  return { number: numberIn(one, 'iid', issueName), author: usernameIn(one), body: asText(description), open: state === 'opened' };
}

function usernameIn({ author }: JsonObject): string {
  return asText(asObject(author)['username']);
}

const requestName = 'a merge request';

type MergeRequestCalls = Omit<PullRequestCalls, keyof ReturnType<typeof noteCalls>>;

function mergeRequestCalls(api: GitLabApi, home: string): MergeRequestCalls {
  const requests = `${home}/merge_requests`;
  const readPullRequest = async (number: number): Promise<PullRequest | undefined> => eventOf(await api.get(`${requests}/${number}`));
  const listFrom = (branch: string, state: string): Promise<readonly unknown[]> =>
    api.list(requests, { source_branch: branch, state, order_by: 'created_at', sort: 'desc' });
  return {
    pullRequest: async (number) => requestSummary(await api.get(`${requests}/${number}`)),
    async pullRequestsOf(commit) {
      const found = await api.list(`${home}/repository/commits/${commit}/merge_requests`, {});
      return found.filter(isOfTarget(home)).map(requestSummary);
    },
    readPullRequest,
    async openPullRequestsFrom(_, branch) {
      const found = await listFrom(branch, 'opened');
      const all = await Promise.all(found.map((raw) => readPullRequest(issueOf(raw).number)));
      return all.filter((one) => one !== undefined);
    },
    async pullRequestsFrom(branch) {
      const found = (await listFrom(branch, 'all')).filter((raw) => !isFromFork(objectIn(raw, requestName)));
      return found.map((raw) => ({ ...issueOf(raw), merged: objectIn(raw, requestName)['state'] === 'merged' }));
    },
    async createPullRequest({ title, body, head, base }) {
      const description = withoutQuickActions(body);
      const wish = { title, description, source_branch: head, target_branch: base, remove_source_branch: true };
      return issueOf(await api.send('POST', requests, wish)).number;
    },
    async updatePullRequest(number, rewrite) {
      await api.send('PUT', `${requests}/${number}`, updateOf(rewrite));
    },
  };
}

/** Returns whether a merge request is one into this project: a commit also belongs to those of forks. */
function isOfTarget(home: string): (raw: unknown) => boolean {
  return (raw) => `/projects/${numberIn(objectIn(raw, requestName), 'target_project_id', requestName)}` === home;
}

function isFromFork({ source_project_id: from, target_project_id: to }: JsonObject): boolean {
  // A deleted fork has no project.
  return typeof from !== 'number' || from !== to;
}

function requestSummary(raw: unknown): PullRequestSummary {
  const one = objectIn(raw, requestName);
  const { merge_commit_sha: mergeCommit, squash_commit_sha: squashCommit, updated_at: updatedAt } = one;
  const head = textIn(one, 'sha', requestName);
  const merged = one['state'] === 'merged';
  // A fast-forward makes no commit.
  const made = [mergeCommit, squashCommit, ...(merged ? [head] : [])].find((value) => typeof value === 'string');
  return {
    number: numberIn(one, 'iid', requestName),
    author: usernameIn(one),
    merged,
    mergeCommit: made,
    head,
    base: textIn(one, 'target_branch', requestName),
    updatedAt: asText(updatedAt),
  };
}

/** Returns a merge request as an event describes it; undefined while GitLab has not compared its commits yet. */
function eventOf(raw: unknown): PullRequest | undefined {
  const one = objectIn(raw, requestName);
  const { start_sha: base } = asObject(one['diff_refs']);
  if (typeof base !== 'string') return undefined;
  const { number, head, author, merged, base: baseBranch, updatedAt } = requestSummary(raw);
  return { number, head, base, baseBranch, author, merged, fork: isFromFork(one), ...(updatedAt === '' ? {} : { updatedAt }) };
}

function noteCalls(
  api: GitLabApi,
  home: string,
): Pick<PullRequestCalls, 'comments' | 'latestOf' | 'createComment' | 'updateComment' | 'deleteComment'> {
  const notesOf = (number: number): string => `${home}/merge_requests/${number}/notes`;
  return {
    async comments(number) {
      const found = await api.list(notesOf(number), { order_by: 'created_at', sort: 'asc' });
      return listIn(found, 'notes').flatMap(noteOf);
    },
    async latestOf({ node }) {
      // The REST API does not say who edited a note: every maintainer can.
      const query = 'query ($id: NoteID!) { note(id: $id) { body lastEditedAt lastEditedBy { username } } }';
      const found = objectIn((await api.graphql(query, { id: node }))['note'], 'a note');
      const { lastEditedAt, lastEditedBy } = found;
      const editor = asText(asObject(lastEditedBy)['username']) || goneAccount;
      const isEdited = isObject(lastEditedBy) || asText(lastEditedAt) !== '';
      return { body: textIn(found, 'body', 'a note'), editor: isEdited ? editor : undefined };
    },
    async createComment(number, body) {
      await api.send('POST', notesOf(number), { body: withoutQuickActions(body) });
    },
    async updateComment(number, id, body) {
      await api.send('PUT', `${notesOf(number)}/${id}`, { body: withoutQuickActions(body) });
    },
    async deleteComment(number, id) {
      await api.send('DELETE', `${notesOf(number)}/${id}`);
    },
  };
}

/** Returns a note by a person or a token that everybody sees; GitLab itself writes notes about events. */
function noteOf(raw: unknown): readonly Comment[] {
  const one = objectIn(raw, 'a note');
  const { body, system, internal, confidential } = one;
  if (system === true || internal === true || confidential === true) return [];
  const id = numberIn(one, 'id', 'a note');
  return [{ id, node: `gid://gitlab/Note/${id}`, author: usernameIn(one), body: asText(body) }];
}
