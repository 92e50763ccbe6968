import { sendRequest, type RecordedResponse, type RecordedRequest } from './send-request.ts';
import { isObject } from './json.ts';
import type { RepositorySeed } from './options.ts';
import { startHoopModel, type HoopModel } from './start.ts';

const files: RepositorySeed = {
  commit: '7ef4183ed33866ea713c8ea7bbd743e64527d037',
  author: 'A <a@example.com>',
  message: 'First runbooks\n',
  files: [
    { name: 'README.md' },
    { name: 'bad.runbook.sh', error: 'template parse error: template: :2: unclosed action started at :1' },
    { name: 'hello.runbook.sh' },
    { name: 'ops/count.runbook.sql', metadata: { table: { description: '', required: false, type: 'text' } } },
  ],
};

/** The gateway of the recordings, including the changes between them. */
export type RecordedGateway = {
  readonly model: HoopModel;
  /** The tokens of those who made the requests, by name. */
  readonly tokens: Map<string, string>;
  readonly send: (question: RecordedRequest) => Promise<RecordedResponse>;
};

/** Starts the model in the state of the recorded gateway before the first exchange. */
export async function startRecordedGateway(): Promise<RecordedGateway> {
  const tokens = new Map([
    ['ci', 'hpk_ci'],
    ['user', 'token-of-a-signed-in-user'],
    ['wrong', 'hpk_nobody'],
  ]);
  const model = await startHoopModel({
    organisation: { id: 'bdac78b1-adaa-4e3a-bf72-ca0523adf10a' },
    keys: [{ name: 'ci', token: 'hpk_ci', groups: ['admin'] }],
    users: [{ email: 'admin@example.com', token: 'token-of-a-signed-in-user', groups: ['admin'] }],
    agents: [{ name: 'prod-agent' }],
    repositories: { 'git://127.0.0.1/runbooks.git': files },
    random: 7,
  });
  return recordOn(model, tokens);
}

/** Returns a gateway whose requests have the token of `ci` by default. */
export function recordOn(model: HoopModel, tokens: Map<string, string>): RecordedGateway {
  return { model, tokens, send: (question) => sendRequest(model.url, { token: tokens.get('ci'), ...question }) };
}

/** The changes on the first gateway that were not recorded, before the exchange with this index of a file. */
export const gatewaySteps: Readonly<Record<string, (gateway: RecordedGateway) => Promise<void>>> = {
  '15-connection-reads.json 0': measureLoad,
  '70-roles.json 0': async (gateway) => {
    await addKey(gateway, 'rec-auditor', ['auditor']);
    await addKey(gateway, 'rec-standard', ['developers']);
  },
  '61-review-states.json 0': openReviews,
  '41-runbook-listing.json 0': async (gateway) => {
    await must(gateway.send({ method: 'PUT', path: '/runbooks/configurations', body: { repositories: [] } }));
    await removeConnections(gateway, ['unk-field', 'sec-types', 'sub-mssql', 'sub-oracledb']);
  },
  '85-access-rules.json 0': async (gateway) => {
    await removeConnections(gateway, []);
    for (const id of gateway.model.store.guardrails.keys()) await must(gateway.send({ method: 'DELETE', path: `/guardrails/${id}` }));
    for (const id of gateway.model.store.maskings.keys()) await must(gateway.send({ method: 'DELETE', path: `/datamasking-rules/${id}` }));
    await addConnection(gateway, 'acc-db', { secret: { 'envvar:PASS': 'cHc=', 'envvar:TOK': 'X2F3czphcHAvZGI6dG9rZW4=' } });
  },
  '82-protection-profile.json 0': async (gateway) => {
    await removeConnections(gateway, []);
    await addConnection(gateway, 'prof-db', { attributes: ['pci'] });
  },
};

/** Adds the traces of thousands of deleted connections: some of their tags, and their entries in the audit log. */
async function measureLoad(gateway: RecordedGateway): Promise<void> {
  const { model, send } = gateway;
  const tags = [{ a: 'b' }, ...Array.from({ length: 7 }, (_, index) => ({ team: `t${index}` }))];
  for (const tag of tags) {
    await addConnection(gateway, 'load', { connection_tags: tag });
    await must(send({ method: 'DELETE', path: '/connections/load' }));
  }
  await addConnection(gateway, 'payments-db', { subtype: 'mysql', attributes: ['pci'] }, 'PUT');
  const entry = model.store.audit.at(-1);
  if (entry !== undefined) model.store.audit.push(...Array.from({ length: 8071 - model.store.audit.length }, () => entry));
  model.settings.supportChat = true;
}

/** Adds the reviews that sessions opened; some were moved to a later state in the database. */
async function openReviews(gateway: RecordedGateway): Promise<void> {
  await addConnection(gateway, 'rev-db', { reviewers: ['dba'], force_approve_groups: ['sre'] });
  for (const groups of [['dba'], ['dba', 'sec'], ['sre'], ['devs']]) await addKey(gateway, `rev-${groups.join('+')}-30625`, groups);
  const { openReview } = gateway.model;
  openReview({ id: '1e625499-34c9-4b26-a9c3-17c7fa662bdf', connection: 'rev-db', groups: ['dba'] });
  openReview({ id: 'b98028f8-faf9-48dd-8078-94462ad7ebd2', connection: 'rev-db', groups: ['dba', 'sec'] });
  openReview({ id: 'c93ecef5-5557-472b-b76f-77134d9bf82f', connection: 'rev-db', groups: ['dba', 'sec'] });
  openReview({ id: 'f92b2367-9c2f-472e-95b1-948912f8e9e2', connection: 'rev-db', groups: ['dba', 'sec'] });
  openReview({ id: '663ab6b0-6d09-48d0-820f-68013dd0f25a', connection: 'rev-db', groups: ['dba'], type: 'onetime' });
  openReview({ id: '57a81ebd-d3dc-4583-9a02-3746db86a4c4', connection: 'rev-db', groups: ['dba'], status: 'PROCESSING' });
  openReview({ id: 'e1b9c807-1731-44ed-ba27-342daaedd92e', connection: 'rev-db', groups: ['dba'], status: 'EXECUTED' });
  openReview({ id: '3b16c646-8e1a-4465-9f53-fb9bf493bf53', connection: 'rev-db', groups: ['dba'], status: 'REJECTED' });
  openReview({ id: '93ced2e3-69be-4fed-b1e5-61fcd1f5bada', connection: 'rev-db', groups: ['dba'] });
  openReview({ id: '9555e3c9-45e1-4668-bd82-5530131f57cd', connection: 'rev-db', groups: ['dba'] });
}

/** Adds a key, whose token has its name. */
export async function addKey({ send, tokens }: RecordedGateway, name: string, groups: readonly string[]): Promise<void> {
  const { body } = await must(send({ method: 'POST', path: '/api-keys', body: { name, groups } }));
  const key = isObject(body) ? body['key'] : undefined;
  tokens.set(name, typeof key === 'string' ? key : '');
}

async function addConnection(
  gateway: RecordedGateway,
  name: string,
  spec: RecordedRequest['body'],
  method: 'POST' | 'PUT' = 'POST',
): Promise<void> {
  const body = {
    name,
    type: 'database',
    subtype: 'postgres',
    agent_id: 'f1e253f7-e15d-52d9-b115-78c98e834ee5',
    access_mode_runbooks: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_connect: 'enabled',
    access_schema: 'enabled',
    ...(isObject(spec) ? spec : {}),
  };
  await must(gateway.send({ method, path: method === 'POST' ? '/connections' : `/connections/${name}`, body }));
}

async function removeConnections({ model, send }: RecordedGateway, kept: readonly string[]): Promise<void> {
  for (const name of [...model.store.connections.keys()].filter((other) => !kept.includes(other)))
    await must(send({ method: 'DELETE', path: `/connections/${name}` }));
}

/** Returns the response of a step between two recordings; throws when it failed. */
export async function must(asked: Promise<RecordedResponse>, status?: number): Promise<RecordedResponse> {
  const answer = await asked;
  if (status === undefined ? answer.status >= 300 : answer.status !== status)
    throw new Error(`the step between two recordings was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
