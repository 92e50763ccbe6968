import { randomBytes } from 'node:crypto';
import { asText, isObject, type Json, type JsonObject, textsIn } from '../../src/model/json.ts';

/**
 * Asks a running public gateway what each of some people may do, and compares its answers with a prediction. It makes its own groups,
 * users, connections and rules, and deletes them at the end; it switches access control on only when asked to, because the API
 * cannot switch it off. An agent must be connected, and may end every session at once.
 * `OSTIARY_LIVE_URL=http://127.0.0.1:8009 OSTIARY_LIVE_KEY=… npx vitest run test/hoop/live.test.ts` runs it.
 */
export async function checkLiveAccess({ gateway, predictor, isAccessControlled, print }: LiveCheck): Promise<LiveResult> {
  const call = callerOf(gateway);
  const scene = createScene();
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const tokens = await makeScene({ call, scene, undo, isAccessControlled });
    const predict = await predictor();
    const differences: string[] = [];
    let compared = 0;
    for (const [email, token] of tokens) {
      const person = scene.people.find((one) => one.email === email);
      if (person === undefined) continue;
      const ask = callerOf({ url: gateway.url, key: token });
      const listed = new Set(rowsIn((await ask('GET', '/connections')).body).map(({ name }) => name));
      for (const { name } of scene.connections) {
        const answers = {
          reach: { can: listed.has(name) },
          exec: await askExec(ask, call, name),
          credential: await askCredential(ask, call, name),
        };
        for (const request of liveRequests) {
          // Runs over HTTP are refused to auditors; the gateway's own client is not asked here.
          if (request === 'exec' && person.groups.includes('auditor')) continue;
          const prediction = predict(person.groups, name, request);
          if (prediction === undefined) continue;
          const [found, expected] = [textOfAnswer(answers[request]), textOfAnswer(prediction)];
          compared += 1;
          const line = `${person.groups.join('+') || 'no group'} ${request} ${name}: ${found}`;
          print(`${line}${found === expected ? '' : `, expected ${expected}`}`);
          if (found !== expected) differences.push(`${line}, expected ${expected}`);
        }
      }
    }
    return { compared, differences };
  } finally {
    for (const one of undo.toReversed()) await one();
  }
}

export const liveRequests = ['reach', 'exec', 'credential'] as const;

/** What a person may do: nothing, or something, maybe after an approval. */
export type LiveAnswer = { readonly can: boolean; readonly approval?: LiveApproval };

type LiveApproval = { readonly reviewers: readonly string[]; readonly needed: number; readonly forcing: readonly string[] };

/** Predicts what a person with these groups may do on a connection; undefined without a prediction. */
export type Predict = (groups: readonly string[], connection: string, request: (typeof liveRequests)[number]) => LiveAnswer | undefined;

type LiveCheck = {
  readonly gateway: LiveGateway;
  /** Reads the gateway, and returns what predicts its answers. */
  readonly predictor: () => Promise<Predict>;
  /** Whether access control is switched on, which cannot be undone. */
  readonly isAccessControlled: boolean;
  readonly print: (line: string) => void;
};

/** The address of a gateway without `/api`, and a key of an admin. */
export type LiveGateway = { readonly url: string; readonly key: string };

export type LiveResult = { readonly compared: number; readonly differences: readonly string[] };

/** Returns a function that sends requests with a key; throws unless the gateway runs on this machine. */
export function callerOf({ url, key }: LiveGateway): LiveCall {
  const { hostname } = new URL(url);
  if (!/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))
    throw new Error(`${hostname} is not this machine: run a gateway of its own for this`);
  // The key of the organization has another header.
  const auth: Readonly<Record<string, string>> = /^xapi-|\|/.test(key) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
  return async (method, path, sent) => {
    const request = { method, headers: { ...auth, 'content-type': 'application/json' } };
    const answer = await fetch(`${url}/api${path}`, { ...request, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) });
    const text = await answer.text();
    const body: Json = text === '' ? null : JSON.parse(text);
    return { status: answer.status, body, token: answer.headers.get('token') };
  };
}

type LiveReply = { readonly status: number; readonly body: Json; readonly token: string | null };
export type LiveCall = (method: string, path: string, sent?: JsonObject) => Promise<LiveReply>;

type LivePerson = { readonly email: string; readonly groups: readonly string[] };
type LiveConnection = { readonly name: string; readonly spec: JsonObject; readonly groups?: readonly string[] };
type Scene = {
  readonly people: readonly LivePerson[];
  readonly connections: readonly LiveConnection[];
  readonly attributes: readonly (JsonObject & { readonly name: string })[];
  readonly rules: readonly (JsonObject & { readonly name: string })[];
};

/** Names everything anew, so that nothing of the gateway is touched. */
function createScene(): Scene {
  const prefix = `live-${randomBytes(4).toString('hex')}`;
  const named = (name: string): string => `${prefix}-${name}`;
  const [dev, dba, sec, sre] = [named('dev'), named('dba'), named('sec'), named('sre')];
  const people = [[], [dev], [dba], [dev, dba], [sec], ['auditor'], [dev, 'auditor']].map((groups, index) => ({
    email: `${prefix}-${index}@example.com`,
    groups,
  }));
  const [asks, grants] = [named('asks'), named('grants')];
  const rule = { connection_names: [], attributes: [], approval_required_groups: [], skip_review_groups: [], force_approval_groups: [] };
  return {
    people,
    attributes: [
      { name: asks, access_control_group_names: [] },
      { name: grants, access_control_group_names: [dba] },
    ],
    rules: [
      {
        ...rule,
        name: named('by-attribute'),
        access_type: 'jit_command',
        attributes: [asks],
        skip_review_groups: [dev],
        reviewers_groups: [sec, sre],
        force_approval_groups: [sre],
        all_groups_must_approve: true,
        min_approvals: 1,
        access_max_duration: 3600,
      },
      {
        ...rule,
        name: named('by-name'),
        access_type: 'command',
        connection_names: [named('named'), named('both')],
        approval_required_groups: [dev],
        reviewers_groups: [sec],
        min_approvals: 1,
      },
    ],
    connections: [
      { name: named('plain'), spec: {}, groups: [dev, dba, sec] },
      { name: named('hidden'), spec: {} },
      { name: named('granted'), spec: { attributes: [grants] } },
      { name: named('asked'), spec: { attributes: [asks] }, groups: [dev, dba] },
      { name: named('named'), spec: {}, groups: [dev, dba, sec] },
      { name: named('both'), spec: { attributes: [asks, grants], reviewers: [sec] }, groups: [dev] },
      {
        name: named('reviewed'),
        spec: { reviewers: [sec, sre], min_review_approvals: 1, force_approve_groups: [sre] },
        groups: [dev],
      },
      { name: named('closed'), spec: { access_mode_exec: 'disabled', access_mode_connect: 'disabled' }, groups: [dev] },
    ],
  };
}

const connectionFields: JsonObject = {
  type: 'database',
  subtype: 'postgres',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'enabled',
  access_schema: 'disabled',
  secret: {},
};

type Making = {
  readonly call: LiveCall;
  readonly scene: Scene;
  /** How to delete what was made. */
  readonly undo: (() => Promise<unknown>)[];
  readonly isAccessControlled: boolean;
};

/** Makes everything, rules before connections; returns a token for each person. */
async function makeScene({ call, scene, undo, isAccessControlled }: Making): Promise<ReadonlyMap<string, string>> {
  const make = async (path: string, body: JsonObject, removal: string): Promise<JsonObject> => {
    const made = await call('POST', path, body);
    if (made.status !== 201) throw new Error(`POST ${path}: ${made.status} ${JSON.stringify(made.body)}`);
    undo.push(() => call('DELETE', removal));
    return isObject(made.body) ? made.body : {};
  };
  for (const attribute of scene.attributes) await make('/attributes', attribute, `/attributes/${attribute.name}`);
  const info = (await call('GET', '/serverinfo')).body;
  const license = isObject(info) && isObject(info['license_info']) ? info['license_info']['type'] : undefined;
  // The free license allows one rule.
  const rules = license === 'enterprise' ? scene.rules : scene.rules.slice(0, 1);
  for (const rule of rules) await make('/access-requests/rules', rule, `/access-requests/rules/${rule.name}`);
  const [agent] = rowsIn((await call('GET', '/agents?status=CONNECTED')).body);
  // The gateway looks for the agent first: without one, every run waits 15 seconds for it, also a run that needs a review.
  if (agent === undefined) throw new Error('the gateway has no connected agent, and cannot tell who needs a review: connect one');
  const ids = new Map<string, string>();
  for (const { name, spec } of scene.connections) {
    const body = { ...connectionFields, agent_id: agent['id'] ?? '', ...spec, name };
    ids.set(name, asText((await make('/connections', body, `/connections/${name}`))['id']));
  }
  await grantRows({ call, scene, undo, isAccessControlled }, ids);
  const tokens = new Map<string, string>();
  for (const { email, groups } of scene.people) {
    const password = randomBytes(12).toString('hex');
    await make('/users', { email, name: email, password, groups: [...groups], status: 'active' }, `/users/${email}`);
    const { token } = await call('POST', '/localauth/login', { email, password });
    if (token === null) throw new Error('the gateway signs nobody in with a password: start it with local authentication');
    tokens.set(email, token);
  }
  return tokens;
}

/** Writes a row for each connection with groups, where access control is on or may be switched on. */
async function grantRows({ call, scene, isAccessControlled }: Making, ids: ReadonlyMap<string, string>): Promise<void> {
  const rows = scene.connections.flatMap(({ name, groups }) =>
    groups === undefined ? [] : [{ id: ids.get(name) ?? '', config: [...groups] }],
  );
  const isOn = (await call('GET', '/plugins/access_control')).status === 200;
  if (!isOn && isAccessControlled) await call('POST', '/plugins', { name: 'access_control', connections: rows });
  else if (isOn) for (const { id, config } of rows) await call('PUT', `/plugins/access_control/conn/${id}`, { config });
}

/** Asks to run a command. */
export async function askExec(ask: LiveCall, admin: LiveCall, connection: string): Promise<LiveAnswer> {
  return askCommand(admin, connection, await ask('POST', '/sessions', { connection, script: 'select 1' }));
}

/** Asks to run a runbook. */
export async function askRunbook(
  ask: LiveCall,
  admin: LiveCall,
  connection: string,
  file: { readonly repository: string; readonly name: string },
): Promise<LiveAnswer> {
  const sent = { connection_name: connection, repository: file.repository, file_name: file.name };
  return askCommand(admin, connection, await ask('POST', '/runbooks/exec', sent));
}

async function askCommand(admin: LiveCall, connection: string, { status, body }: LiveReply): Promise<LiveAnswer> {
  if (status >= 500) throw new Error(`${connection}: ${status} ${JSON.stringify(body)}`);
  if (status >= 400 || !isObject(body)) return { can: false };
  if (body['has_review'] === true) return { can: true, approval: await approvalIn(admin, asText(body['session_id']), connection) };
  const isRefused = /is disabled for this connection|exec is not allowed for|requires an Enterprise plan/.test(asText(body['output']));
  return { can: !isRefused };
}

/** Asks for a credential of a native client. */
export async function askCredential(ask: LiveCall, admin: LiveCall, connection: string): Promise<LiveAnswer> {
  const { status, body } = await ask('POST', `/connections/${connection}/credentials`, { access_duration_seconds: 60 });
  if (status === 201) return { can: true };
  if (status !== 202 || !isObject(body)) return { can: false };
  return { can: true, approval: await approvalIn(admin, asText(body['review_id']), connection) };
}

/** Reads whose approval a review waits for; a review of the connection's own reviewers has their number and forcing groups. */
async function approvalIn(admin: LiveCall, review: string, connection: string): Promise<LiveApproval> {
  const [found, own] = [(await admin('GET', `/reviews/${review}`)).body, (await admin('GET', `/connections/${connection}`)).body];
  if (!isObject(found) || !isObject(own)) throw new Error(`the review of ${connection} cannot be read`);
  const reviewers = rowsIn(found['review_groups_data']).map(({ group }) => asText(group));
  const isByRule = typeof found['access_request_rule_name'] === 'string';
  const least = isByRule ? found['min_approvals'] : own['min_review_approvals'];
  const forcing = textsIn(isByRule ? found['force_approval_groups'] : own['force_approve_groups']);
  return { reviewers, needed: Math.min(reviewers.length, typeof least === 'number' ? least : reviewers.length), forcing };
}

function rowsIn(body: Json | undefined): readonly JsonObject[] {
  return Array.isArray(body) ? body.filter(isObject) : [];
}

/** Returns an answer in words: `after 1 of dba, sec, forced by sre`. */
export function textOfAnswer({ can, approval }: LiveAnswer): string {
  if (!can) return 'no';
  if (approval === undefined) return 'yes';
  const { reviewers, needed, forcing } = approval;
  return `after ${needed} of ${reviewers.toSorted().join(', ')}${forcing.length === 0 ? '' : `, forced by ${forcing.toSorted().join(', ')}`}`;
}
