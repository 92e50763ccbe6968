import { analyzerRuleOf, governingRule } from './access-links.ts';
import { mayUse } from './auth.ts';
import { readBody } from './body.ts';
import { created, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { pullRepository } from './runbook-files.ts';
import { mayRunFile } from './runbook-listing.ts';
import { configuration } from './runbooks.ts';
import { openReview, type ReviewSeed } from './review-seed.ts';
import type { AccessRuleRow, ConnectionRow, SessionRow } from './rows.ts';

/** What a person asks of a connection. No agent runs anything here. */
export const sessionRoutes: readonly Route[] = [
  { method: 'GET', path: '/sessions', access: 'reader', answer: listSessions },
  { method: 'POST', path: '/sessions', access: 'member', answer: execute },
  { method: 'POST', path: '/runbooks/exec', access: 'member', answer: executeRunbook },
  { method: 'POST', path: '/connections/:nameOrID/credentials', access: 'member', answer: createCredential },
];

const twoDays = 172_800;
const paidReview = 'Accessing a connection with review from the web requires an Enterprise plan.';

const [mostListed, deepest] = [100, 10_000];

/** Lists sessions without their scripts, newest first; standard users see their own ones, and those that they review. */
function listSessions({ store, caller, query, context }: Call): Reply {
  const limit = numberIn(query, 'limit', 20);
  const offset = numberIn(query, 'offset', 0);
  if (limit < 1) refuseOption('limit', `must be at least 1, got ${limit}`);
  if (offset < 0) refuseOption('offset', `must not be negative, got ${offset}`);
  if (offset > deepest)
    refuseOption(
      'offset',
      `must not be greater than ${deepest}, got ${offset}; narrow the result set with a filter instead of paginating deeper`,
    );
  const since = query.get('start_date') ?? '';
  if (since !== '' && Number.isNaN(Date.parse(since))) refuseOption('start_date', 'start_date or end_date in wrong format');
  const found = store.sessions.filter(
    ({ userId, connection, createdAt }) =>
      (caller.role !== 'standard' || caller.id === userId) &&
      [connection, ''].includes(query.get('connection') ?? '') &&
      (since === '' || createdAt >= BigInt(Date.parse(since)) * 1_000_000n),
  );
  const newest = found.toReversed().slice(offset, offset + Math.min(limit, mostListed));
  return ok({
    data: newest.map((row) => sessionView({ store, context }, row)),
    total: query.get('count') === 'none' ? null : found.length,
    total_is_capped: false,
    has_next_page: offset + newest.length < found.length,
  });
}

function refuseOption(option: string, reason: string): never {
  throw new ModelError(422, `failed listing sessions, invalid "${option}" option: ${reason}`);
}

function numberIn(query: URLSearchParams, option: string, fallback: number): number {
  const text = query.get(option);
  if (text !== null && !/^[+-]?\d+$/.test(text)) refuseOption(option, `${JSON.stringify(text)} is not a number`);
  return text === null ? fallback : Number(text);
}

/** Shows a session as lists do; one session has its script, too. */
export function sessionView({ context, store }: Pick<Call, 'context' | 'store'>, row: SessionRow): JsonObject {
  const { type = '', subtype = '', connectionTags = {} } = row.of ?? {};
  return {
    id: row.id,
    org_id: context.organisation.id,
    script: null,
    // Of the text in JSON.
    script_size: Buffer.byteLength(JSON.stringify(row.input)) - 2,
    labels: row.labels,
    integrations_metadata: null,
    metadata: null,
    metrics: null,
    user: row.userEmail,
    user_id: row.userId,
    user_name: row.userName,
    type,
    connection_subtype: subtype,
    connection: row.connection,
    resource_name: store.findConnection(row.connection)?.resourceName ?? '',
    role_name: row.connection,
    connection_tags: connectionTags,
    review: null,
    verb: row.verb,
    status: 'open',
    exit_code: null,
    event_size: 0,
    start_date: microTime(row.createdAt),
    end_date: null,
    ai_analysis: null,
    guardrails_info: row.guardrails === null ? null : [...row.guardrails],
    identity_type: 'user',
  };
}

function record({ store, caller, context }: Call, { connection, verb, input, labels = null }: Recorded): string {
  const id = context.random.uuid();
  const of = store.findConnection(connection);
  const { id: userId, email: userEmail, name: userName } = caller;
  const createdAt = context.clock.now();
  store.sessions.push({ id, connection, verb, input, labels, userId, userEmail, userName, createdAt, guardrails: null, ...(of && { of }) });
  return id;
}

type Recorded = Pick<SessionRow, 'connection' | 'verb' | 'input'> & Partial<Pick<SessionRow, 'labels'>>;

function execute(call: Call): Reply {
  const { store, caller } = call;
  const body = readBody(call.text, 'SessionPostBody');
  const name = body.string('connection');
  const row = store.findConnection(name);
  if (row === undefined || !mayUse(call.context, caller, row.name)) throw new ModelError(400, `connection ${name} not found`);
  if (analyzerRuleOf(store, row.name) !== undefined) throw new ModelError(500, 'failed analyzing session');
  const session = record(call, { connection: row.name, verb: 'exec', input: body.string('script') });
  return run(call, row, { mode: 'exec', input: body.string('script'), session });
}

/** Runs a file of a repository; the runbook rules come first, before the gateway looks for the connection. */
function executeRunbook(call: Call): Reply {
  const { store, context, caller } = call;
  const body = readBody(call.text, 'RunbookExec');
  const name = body.string('connection_name');
  const file = { repository: body.string('repository'), name: body.string('file_name') };
  body.require({ ConnectionName: name, Repository: file.repository, FileName: file.name });
  if (!mayRunFile(call, file, name)) throw new ModelError(403, 'user is not allowed to run this runbook on this connection');
  const row = store.findConnection(name);
  if (row === undefined || !mayUse(context, caller, row.name)) throw new ModelError(404, 'connection not found');
  const repository = configuration(call).repositories.get(file.repository);
  if (repository === undefined) throw new ModelError(400, `runbook repository config ${file.repository} not found`);
  const { files, problem } = pullRepository(context, repository.gitUrl);
  if (files === undefined) throw new ModelError(500, `failed cloning runbook repository: ${problem}`);
  if (!files.files.some((one) => one.name === file.name)) throw new ModelError(404, `runbook file ${file.name} not found on git repo`);
  if (analyzerRuleOf(store, row.name) !== undefined) throw new ModelError(500, 'failed analyzing runbook session');
  const labels = { runbookRepository: file.repository, runbookFile: file.name, runbookParameters: '{}' };
  const session = record(call, { connection: row.name, verb: 'exec', input: file.name, labels });
  return run(call, row, { mode: 'runbooks', input: file.name, session });
}

type Command = { readonly mode: 'exec' | 'runbooks'; readonly input: string; readonly session: string };

/** Runs a command, or opens the review that it waits for. */
function run(call: Call, row: ConnectionRow, { mode, input, session }: Command): Reply {
  const { store, caller } = call;
  if (row[mode] !== 'enabled') return executed({ output: `${mode} is disabled for this connection` });
  const forwarded = forwardedAs(row);
  if (forwarded !== undefined)
    return executed({ output: `exec is not allowed for ${forwarded} type connections. Use 'hoop connect ${row.name}' instead` });
  const seed = { connection: row.name, input, session, type: 'onetime', ...ownerOf(call) } as const;
  const rule = governingRule(store, row.name, 'command');
  if (rule !== undefined && asksCaller(call, rule) && !skipsCaller(call, rule)) return reviewed(call, { ...seed, ...approvalOf(rule) });
  if (row.reviewers.length === 0) {
    const output = 'rpc error: code = FailedPrecondition desc = agent is offline';
    return executed({ session_id: session, output, truncated: false, execution_time: 15_000, ai_analysis: null });
  }
  if (caller.licence === 'oss') return executed({ output: paidReview });
  return reviewed(call, { ...seed, groups: row.reviewers });
}

/** Returns the type that the gateway forwards instead of running commands (gateway/transport/client.go); undefined for others. */
function forwardedAs({ type, subtype }: Pick<ConnectionRow, 'type' | 'subtype'>): 'ssh' | 'tcp' | undefined {
  if (type === 'ssh' || type === 'tcp') return type;
  if (type !== 'application') return undefined;
  return subtype === 'tcp' ? 'tcp' : ['ssh', 'ssh-local', 'git', 'github'].includes(subtype) ? 'ssh' : undefined;
}

/** An execution that failed before it reached an agent, and so needed no review. */
function executed(shown: JsonObject): Reply {
  return { status: 200, body: { has_review: false, output_status: 'failed', exit_code: -2, ...shown } };
}

function reviewed(call: Call, seed: ReviewSeed): Reply {
  const { session } = openReview(call.context, seed);
  const output = `${call.context.apiUrl}/sessions/${session}`;
  return { status: 200, body: { has_review: true, session_id: session, output, output_status: 'success', exit_code: 0 } };
}

function ownerOf({ caller }: Call): Pick<ReviewSeed, 'ownerId' | 'ownerEmail'> {
  return { ownerId: caller.id, ownerEmail: caller.email };
}

function asksCaller({ caller }: Call, { approvalRequiredGroups }: AccessRuleRow): boolean {
  const required = approvalRequiredGroups ?? [];
  return required.length === 0 || required.some((group) => caller.groups.includes(group));
}

function skipsCaller({ caller }: Call, { approvalRequiredGroups, skipReviewGroups }: AccessRuleRow): boolean {
  return (approvalRequiredGroups ?? []).length === 0 && (skipReviewGroups ?? []).some((group) => caller.groups.includes(group));
}

function approvalOf(rule: AccessRuleRow): Pick<ReviewSeed, 'groups' | 'ruleName' | 'minApprovals' | 'forceApprovalGroups'> {
  const groups = rule.reviewersGroups ?? [];
  const minApprovals = rule.allGroupsMustApprove ? groups.length : (rule.minApprovals ?? groups.length);
  return { groups, ruleName: rule.name, minApprovals, forceApprovalGroups: rule.forceApprovalGroups ?? [] };
}

/** Creates a credential for a native client, or the review that it waits for. */
function createCredential(call: Call): Reply {
  const { store, caller, context } = call;
  const name = param(call, 'nameOrID');
  const seconds = readBody(call.text, 'ConnectionCredentialsRequest').int('access_duration_seconds') ?? 0;
  const row = store.findConnection(name);
  if (row === undefined || !mayUse(context, caller, row.name)) throw new ModelError(404, `connection ${name} not found`);
  if (row.connect !== 'enabled') throw new ModelError(400, 'access mode connect is not enabled for this connection');
  const rule = governingRule(store, row.name, 'jit');
  const isReviewed = row.reviewers.length > 0 || (rule !== undefined && !skipsCaller(call, rule));
  checkDuration(seconds, row.reviewers.length > 0 ? undefined : rule, isReviewed);
  const session = record(call, { connection: row.name, verb: 'connect', input: '' });
  if (!isReviewed) return created({ connection_name: row.name, has_review: false, expire_at: null, ...credentialOf(row) });
  const isKey = store.identities.every(({ kind, id }) => kind !== 'user' || id !== caller.id);
  // The gateway fails where no rule has the reviewers, and looks a key up among the users.
  if (rule === undefined || row.reviewers.length > 0 || isKey) throw new ModelError(500, 'failed creating review');
  // Only here, the number of approvals of a rule counts although all groups must approve.
  const { minApprovals: _, ...approval } = approvalOf(rule);
  const least = rule.minApprovals === null ? {} : { minApprovals: rule.minApprovals };
  const review = openReview(context, { connection: row.name, session, type: 'jit', ...ownerOf(call), ...approval, ...least });
  const shown = { connection_name: row.name, has_review: true, session_id: review.session, review_id: review.id };
  return { status: 202, body: { ...shown, created_at: nanoTime(context.clock.now()), ...credentialOf(row) } };
}

function credentialOf({ type, subtype }: ConnectionRow): JsonObject {
  return { connection_type: type, connection_sub_type: subtype };
}

function checkDuration(seconds: number, rule: AccessRuleRow | undefined, isReviewed: boolean): void {
  if (seconds <= 0 && (isReviewed || rule !== undefined))
    throw new ModelError(400, 'access_duration_seconds is required for connections with an access request rule');
  if (seconds > twoDays) throw new ModelError(400, 'access duration cannot exceed 48 hours');
  const longest = rule?.accessMaxDuration ?? null;
  if (longest !== null && seconds > longest)
    throw new ModelError(400, `access duration cannot exceed ${longest} seconds for this connection`);
}
