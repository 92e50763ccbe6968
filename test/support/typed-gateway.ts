import { afterEach, expect } from 'vitest';
import { openGateway, type GatewayOptions } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { AppError } from '../../src/model/errors.ts';
import type { Gateway, WriteRequest } from '../../src/model/gateway.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { seal } from '../../src/model/secret.ts';
import { json, startFlakyServer, text, type FlakyServer, type Reply, type Seen } from './flaky-server.ts';

export const agent: { readonly id: string; readonly name: string } = { id: '11111111-1111-4111-8111-111111111111', name: 'prod' };
export const ruleId = '22222222-2222-4222-8222-222222222222';
export const connectionId = '33333333-3333-4333-8333-333333333333';

export const entry: JsonObject & { readonly secret: JsonObject } = {
  id: connectionId,
  name: 'orders',
  type: 'database',
  subtype: 'postgres',
  agent_id: agent.id,
  managed_by: '',
  status: 'online',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'enabled',
  reviewers: ['b', 'a'],
  guardrail_rules: [ruleId, '44444444-4444-4444-8444-444444444444'],
  vendor_extension: { keep: 1 },
  secret: { 'envvar:PASS': 'Y2FuYXJ5LXN0b3JlZA==' },
  default_database: 'canary-stored',
  created_at: '2026-01-01T00:00:00Z',
};
const rule = { id: ruleId, name: 'no-drop', connection_ids: [connectionId], managed_by: null };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Creates a gateway from replies by `METHOD path`; the replies of a list are used in order. */
export async function serve(replies: Readonly<Record<string, Reply | readonly Reply[]>>, server = 'gateway/1'): Promise<FlakyServer> {
  const used = new Map<string, number>();
  const flaky = await startFlakyServer((response, seen: Seen) => {
    const key = `${seen.method} ${seen.path}`;
    const found = replies[key] ?? (typed[key] === undefined ? text(404, 'no') : typed[key]);
    const count = used.get(key) ?? 0;
    used.set(key, count + 1);
    response.setHeader('server', server);
    const reply = typeof found === 'function' ? found : (found[count] ?? found.at(-1));
    reply?.(response, seen);
  });
  closing.push(() => flaky.close());
  return flaky;
}

const typed: Readonly<Record<string, Reply>> = {
  'GET /serverinfo': json(200, { version: '1.2.3', role: 'admin', organisation: 'acme' }),
  'GET /agents': json(200, [agent]),
  'GET /connections': json(200, [entry]),
  'GET /guardrails': json(200, [rule]),
  'GET /datamasking-rules': json(200, []),
  'GET /runbooks/configurations': json(200, []),
};

export async function open(url: string, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await openGateway({
    url,
    token: 'canary-token-123',
    auth: 'auto',
    dialect: 'auto',
    registry,
    random: () => 0.5,
    sleep: async () => {},
    ...options,
  });
  closing.push(() => gateway.close());
  return gateway;
}

export async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => 'it succeeded',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error('no AppError', { cause: error });
  expect(`${error.message} ${error.hint}`).not.toMatch(/canary|Y2FuYXJ5/);
  return error;
}

export const kinds: readonly string[] = [...registry.keys()];
export const request: WriteRequest = {
  id: 'Connection/fresh',
  spec: {
    type: 'database',
    subtype: 'postgres',
    agent_id: 'prod',
    resource_name: '',
    reviewers: ['a'],
    redact_types: [],
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'enabled',
  },
  secrets: { '/secret/envvar:PASS': seal('inline', 'Y2FuYXJ5LWdpdmVu') },
  dropped: [],
  edges: { guardrail_rules: ['GuardrailRule/no-drop'] },
};
