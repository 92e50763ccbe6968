import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Reply } from './actions-cache.ts';
import { endpointOf, wrongParameters } from './gitlab-endpoints.ts';
import { accountView, authorOf, people, projectBot, storedText } from './gitlab-people.ts';
import { readRef } from './read-ref.ts';
import { git } from './workflow.ts';

/** A request that GitLab received. */
type Heard = { readonly method: string; readonly path: string; readonly endpoint: string };

type Note = NoteKind & {
  readonly id: number;
  body: string;
  readonly author: string;
  editor?: string | null;
  readonly created: string;
  updated: string;
};

/** What makes a note special: GitLab itself wrote it, or only members see it. */
type NoteKind = { readonly system?: boolean; readonly internal?: boolean };

type Request = {
  readonly iid: number;
  readonly source: string;
  readonly target: string;
  readonly author: string;
  readonly fork: boolean;
  title: string;
  description: string;
  state: 'opened' | 'closed' | 'merged';
  merge?: string;
  squash?: string;
  head: string;
  readonly notes: Note[];
};

type GitLabIssue = {
  readonly iid: number;
  readonly author: string;
  readonly labels: readonly string[];
  title: string;
  description: string;
  state: 'opened' | 'closed';
  readonly notes: Note[];
};

type Status = Readonly<Record<string, unknown>> & { readonly sha: string };

/** A GitLab with one project whose repository is a bare folder: the endpoints that Ostiary uses, with their parameters and their state. */
export type TestGitLab = {
  readonly url: string;
  /** The token of the project's bot, and that of another member. */
  readonly token: string;
  readonly heard: readonly Heard[];
  /** Requests that GitLab does not have, or with parameters that it does not accept. */
  readonly wrong: readonly string[];
  readonly requests: readonly Request[];
  readonly issues: readonly GitLabIssue[];
  readonly statuses: readonly Status[];
  /** Commands that GitLab would have run, because a text contained them. */
  readonly actions: readonly string[];
  /** Opens a merge request of a branch that was pushed, as a person. */
  readonly open: (source: string, options?: { readonly fork?: boolean; readonly author?: string }) => number;
  /** Merges a merge request as a person: with a commit, a squash of its commits, or none of its own. Returns the last commit of the target. */
  readonly merge: (iid: number, how?: 'merge' | 'squash' | 'fast-forward', by?: string) => string;
  /** Writes a note as another account, edits one, whose editor may be gone, or removes one. */
  readonly write: (iid: number, body: string, author?: string, kind?: NoteKind) => void;
  readonly edit: (iid: number, note: number, body: string, editor?: string | null) => void;
  readonly remove: (iid: number, note: number) => void;
  /** Runs before the reply to each request; a reply of it replaces that of GitLab. */
  readonly intercept: (interception: ((heard: Heard) => Promise<Reply | undefined> | Reply | undefined) | undefined) => void;
  readonly close: () => Promise<void>;
};

export const projectId = 42;
const botToken = 'glpat-of-the-bot';
const bot = projectBot;
const person = 'ada';
const home = `/projects/${projectId}`;

/** Returns a note as the API shows it. */
const noteView = ({ id, body, author, created, updated, system = false, internal = false }: Note): object => ({
  id,
  type: null,
  body,
  system,
  internal,
  author: accountView(author),
  created_at: created,
  updated_at: updated,
});

/** Starts GitLab on a free port of this machine, for the bare repository in the folder; with its own certificate if one is given. */
export async function startGitLab(repository: string, certificate?: { readonly key: string; readonly cert: string }): Promise<TestGitLab> {
  const heard: Heard[] = [];
  const wrong: string[] = [];
  const actions: string[] = [];
  const requests: Request[] = [];
  const issues: GitLabIssue[] = [];
  const statuses: Status[] = [];
  const labels = new Set<string>();
  let interception: Parameters<TestGitLab['intercept']>[0];
  let clock = Date.parse('2026-11-27T10:00:00Z');
  let noteIds = 100;
  const now = (): string => new Date((clock += 1000)).toISOString();

  const tip = (branch: string): string => git(repository, ['rev-parse', `refs/heads/${branch}`]);

  /** Notes what GitLab would run, and returns the text that it stores: trimmed, without the commands. */
  const stored = (text: string): string => {
    const found = storedText(text);
    actions.push(...found.actions);
    return found.stored;
  };

  /** Follows the branch, as GitLab does after each push to an open merge request. */
  const current = (request: Request): Request => {
    if (request.state === 'opened' && !request.fork) request.head = tip(request.source);
    const ref = `refs/merge-requests/${request.iid}/head`;
    if (readRef(repository, ref) !== request.head) git(repository, ['update-ref', ref, request.head]);
    return request;
  };

  const requestView = (request: Request): object => {
    const { iid, source, target, author, fork, title, description, state, merge, squash, head } = current(request);
    return {
      id: 1000 + iid,
      iid,
      project_id: projectId,
      title,
      description,
      state,
      author: accountView(author),
      source_branch: source,
      target_branch: target,
      source_project_id: fork ? 43 : projectId,
      target_project_id: projectId,
      sha: head,
      merge_commit_sha: merge ?? null,
      squash_commit_sha: squash ?? null,
      updated_at: new Date(clock).toISOString(),
      diff_refs: { base_sha: tip(target), head_sha: head, start_sha: tip(target) },
    };
  };

  const issueView = ({ iid, author, title, description, state, labels: names }: GitLabIssue): object => ({
    id: 2000 + iid,
    iid,
    title,
    description,
    state,
    labels: names,
    author: { id: 7, username: author },
  });

  const addNote = (notes: Note[], body: string, author: string, kind: NoteKind = {}): Note => {
    const at = now();
    const note = { ...kind, id: (noteIds += 1), body: stored(body), author, created: at, updated: at };
    notes.push(note);
    return note;
  };

  const changed = <T extends { title: string; description: string; state: string }>(thing: T, body: Record<string, unknown>): T => {
    const { title, description, state_event: event } = body;
    if (typeof title === 'string') thing.title = title;
    if (typeof description === 'string') thing.description = stored(description);
    if (event !== undefined) thing.state = event === 'close' ? 'closed' : 'opened';
    now();
    return thing;
  };

  function replyTo(name: string, [, id = '', other = '']: readonly string[], given: Record<string, unknown>): Reply {
    const request = requests.find(({ iid }) => String(iid) === id);
    const issue = issues.find(({ iid }) => String(iid) === id);
    const note = request?.notes.find((one) => String(one.id) === other);
    const missing: Reply = { status: 404, body: { message: '404 Not found' } };
    switch (name) {
      case 'GET /user':
        return { status: 200, body: { id: 7, username: bot } };
      case 'GET /users':
        return {
          status: 200,
          body: Object.keys(people).flatMap((username, at) => (given['username'] === username ? [{ id: 8 + at, username }] : [])),
        };
      case 'GET /projects/:id/members/all/:user': {
        const level = Object.values(people)[Number(id) - 8];
        return level === undefined ? missing : { status: 200, body: { id: Number(id), state: 'active', access_level: level } };
      }
      case 'GET /projects/:id/merge_requests': {
        const found = requests.filter(
          ({ source, state }) => source === given['source_branch'] && ['all', state].includes(String(given['state'])),
        );
        return { status: 200, body: found.toReversed().map(requestView) };
      }
      case 'POST /projects/:id/merge_requests': {
        const [source, target] = [String(given['source_branch']), String(given['target_branch'])];
        if (requests.some((one) => one.source === source && one.state === 'opened'))
          return { status: 409, body: { message: ['Another open merge request already exists for this source branch'] } };
        const made: Request = {
          iid: requests.length + 1,
          source,
          target,
          author: bot,
          fork: false,
          title: String(given['title']),
          description: stored(String(given['description'])),
          state: 'opened',
          head: tip(source),
          notes: [],
        };
        requests.push(made);
        return { status: 201, body: requestView(made) };
      }
      case 'GET /projects/:id/merge_requests/:iid':
        return request === undefined ? missing : { status: 200, body: requestView(request) };
      case 'PUT /projects/:id/merge_requests/:iid':
        return request === undefined ? missing : { status: 200, body: requestView(changed(request, given)) };
      case 'GET /projects/:id/merge_requests/:iid/notes':
        return request === undefined ? missing : { status: 200, body: request.notes.map(noteView) };
      case 'POST /projects/:id/merge_requests/:iid/notes':
        return request === undefined ? missing : { status: 201, body: noteView(addNote(request.notes, String(given['body']), bot)) };
      case 'PUT /projects/:id/merge_requests/:iid/notes/:note':
        if (note === undefined) return missing;
        // GitLab records no edit that changes nothing.
        if (note.body !== given['body']) Object.assign(note, { body: stored(String(given['body'])), editor: bot, updated: now() });
        return { status: 200, body: noteView(note) };
      case 'DELETE /projects/:id/merge_requests/:iid/notes/:note':
        if (request === undefined || note === undefined) return missing;
        request.notes.splice(request.notes.indexOf(note), 1);
        return { status: 204, body: undefined };
      case 'GET /projects/:id/repository/commits/:sha/merge_requests':
        return { status: 200, body: requests.filter(({ merge, squash, head }) => [merge, squash, head].includes(id)).map(requestView) };
      case 'GET /projects/:id/issues': {
        const [label, author] = [given['labels'], given['author_username']].map((value) => (typeof value === 'string' ? value : undefined));
        const found = issues.filter(
          (one) => (label === undefined || one.labels.includes(label)) && [undefined, one.author].includes(author),
        );
        return { status: 200, body: found.toReversed().map(issueView) };
      }
      case 'POST /projects/:id/issues': {
        const names = String(given['labels']).split(',');
        for (const one of names) labels.add(one);
        const made: GitLabIssue = {
          iid: issues.length + 1,
          author: bot,
          labels: names,
          title: String(given['title']),
          description: stored(String(given['description'])),
          state: 'opened',
          notes: [],
        };
        issues.push(made);
        return { status: 201, body: issueView(made) };
      }
      case 'PUT /projects/:id/issues/:iid':
        return issue === undefined ? missing : { status: 200, body: issueView(changed(issue, given)) };
      case 'POST /projects/:id/issues/:iid/notes':
        return issue === undefined ? missing : { status: 201, body: noteView(addNote(issue.notes, String(given['body']), bot)) };
      case 'POST /projects/:id/labels':
        if (labels.has(String(given['name']))) return { status: 409, body: { message: 'Label already exists' } };
        labels.add(String(given['name']));
        return { status: 201, body: { id: labels.size, name: given['name'] } };
      case 'POST /projects/:id/statuses/:sha':
        statuses.push({ ...given, sha: id });
        return { status: 201, body: { id: statuses.length } };
      default:
        return missing;
    }
  }

  /** Answers the two queries: who edited a note last, and who wrote a commit. */
  function graphqlReply({ variables, query }: Record<string, unknown>): Reply {
    const [, ref = ''] = /"ref":"([0-9a-f]+)"/.exec(JSON.stringify(variables)) ?? [];
    if (String(query).includes('lastCommit')) {
      const username = authorOf(repository, ref);
      const lastCommit = { sha: git(repository, ['rev-parse', ref]), author: username === undefined ? null : { username } };
      return { status: 200, body: { data: { projects: { nodes: [{ repository: { tree: { lastCommit } } }] } } } };
    }
    const [id = ''] = /\d+$/.exec(JSON.stringify(variables).replaceAll(/\D+$/g, '')) ?? [];
    const note = requests.flatMap(({ notes }) => notes).find((one) => String(one.id) === id);
    const { body, editor, updated } = note ?? {};
    const edited = {
      lastEditedAt: editor === undefined ? null : updated,
      lastEditedBy: typeof editor === 'string' ? { username: editor } : null,
    };
    return { status: 200, body: { data: { note: note === undefined ? null : { body, ...edited } } } };
  }

  const listener: RequestListener = (incoming, response) => {
    void (async () => {
      const text = await bodyOf(incoming);
      const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://gitlab');
      const method = incoming.method ?? 'GET';
      const path = pathname.replace(/^\/api\/v4/, '');
      const found = endpointOf(method, path);
      const isQuery = method === 'POST' && pathname === '/api/graphql';
      const one = { method, path, endpoint: found?.name ?? (isQuery ? 'graphql' : '') };
      heard.push(one);
      const given: Record<string, unknown> = { ...Object.fromEntries(searchParams), ...(text === '' ? {} : JSON.parse(text)) };
      if (found === undefined && !isQuery) wrong.push(`${method} ${path}`);
      else if (found !== undefined) wrong.push(...wrongParameters(found.name, given));
      const authorized = incoming.headers.authorization === `Bearer ${botToken}`;
      const reply =
        (await interception?.(one)) ??
        (!authorized
          ? { status: 401, body: { message: '401 Unauthorized' } }
          : isQuery
            ? graphqlReply(given)
            : found === undefined || (found.ids[0] !== undefined && !path.startsWith(home))
              ? { status: 404, body: { error: '404 Not Found' } }
              : replyTo(found.name, found.ids, given));
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
    })();
  };
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `${certificate === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const requestAt = (iid: number): Request => {
    const found = requests.find((one) => one.iid === iid);
    if (found === undefined) throw new Error(`there is no merge request ${iid}`);
    return current(found);
  };
  return {
    url,
    token: botToken,
    heard,
    wrong,
    get requests() {
      return requests.map(current);
    },
    issues,
    statuses,
    actions,
    open(source, { fork = false, author = person } = {}) {
      const iid = requests.length + 1;
      const rest = { title: source, description: '', state: 'opened' as const, head: tip(source), notes: [] };
      requests.push({ iid, source, target: 'main', author, fork, ...rest });
      requestAt(iid);
      return iid;
    },
    merge(iid, how = 'merge', by = person) {
      const request = requestAt(iid);
      const main = tip('main');
      const tree = git(repository, ['merge-tree', '--write-tree', main, request.head]);
      const parents = how === 'merge' ? ['-p', main, '-p', request.head] : ['-p', main];
      const commit =
        how === 'fast-forward'
          ? request.head
          : git(repository, ['commit-tree', tree, ...parents, '-m', `Merge branch '${request.source}'`], by);
      if (how === 'merge') request.merge = commit;
      if (how === 'squash') request.squash = commit;
      git(repository, ['update-ref', 'refs/heads/main', commit]);
      request.state = 'merged';
      now();
      return commit;
    },
    write: (iid, body, author = person, kind = {}) => void addNote(requestAt(iid).notes, body, author, kind),
    edit(iid, note, body, editor = person) {
      Object.assign(requestAt(iid).notes.find(({ id }) => id === note) ?? {}, { body, editor, updated: now() });
    },
    remove(iid, note) {
      const { notes } = requestAt(iid);
      notes.splice(
        notes.findIndex(({ id }) => id === note),
        1,
      );
    },
    intercept: (next) => {
      interception = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts).toString();
}
