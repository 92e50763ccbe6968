import { rescheduleSteps } from '../../../src/reconcile/reconcile.ts';
import { apply } from '../../../src/apply/apply.ts';
import { registry } from '../../../src/kinds/index.ts';
import { ApiError } from '../../../src/model/errors.ts';
import type { Gateway } from '../../../src/model/gateway.ts';
import type { ApplyEvent, Outcome } from '../../../src/model/result/outcome.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { ResourceId } from '../../../src/model/resource.ts';
import { desiredState } from '../../support/desired-state.ts';
import { pruning } from '../../support/history.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from '../../support/memory-gateway.ts';
import type { MemoryResource } from '../../support/memory-store.ts';
import { planAgainst } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';

/** The ids of the resources that the manifests below declare. */
export const db: ResourceId = 'Connection/db';
export const rule: ResourceId = 'GuardrailRule/rule';
export const mask: ResourceId = 'DataMaskingRule/mask';

const modes = { access_mode_exec: 'disabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
export const plain: JsonObject = { type: 'custom', agent_id: 'default', access_mode_connect: 'enabled', ...modes };
export const connection: Manifest = { kind: 'Connection', metadata: { name: 'db' }, spec: { ...plain, reviewers: ['dba'] } };
export const guardrail: Manifest = {
  kind: 'GuardrailRule',
  metadata: { name: 'rule' },
  spec: { description: 'why', connection_ids: ['db'] },
};
export const masking: Manifest = {
  kind: 'DataMaskingRule',
  metadata: { name: 'mask' },
  spec: { connection_ids: ['db'], supported_entity_types: [{ name: 'CONTACT', entity_types: ['PERSON'] }] },
};
export const password: Readonly<Record<string, string>> = { '/secret/envvar:PASS': 'cGFzcw==' };
export const withSecret: Manifest = { ...connection, spec: { ...connection.spec, secret: { 'envvar:PASS': { value: 'pass' } } } };
export const liveDb: MemoryResource = { id: db, spec: plain };
export const liveRule: MemoryResource = { id: rule, spec: { description: '' } };

/** The manifests, live objects and faults of an apply. */
export type Run = {
  readonly manifests: readonly Manifest[];
  readonly live?: readonly MemoryResource[];
  /** The manifests of the last apply; what is missing since is pruned. */
  readonly before?: readonly Manifest[];
  readonly options?: Partial<MemoryOptions>;
  /** Runs between plan and apply. */
  readonly meanwhile?: (gateway: MemoryGateway) => void;
  /** Wraps the gateway to change its behavior. */
  readonly wrap?: (gateway: MemoryGateway) => Partial<Gateway>;
  readonly signal?: AbortSignal;
  readonly concurrency?: number;
  /** The clock, in milliseconds; it stands still by default. */
  readonly steady?: () => number;
};

/** The result of an apply. */
export type ApplyRun = {
  readonly outcomes: readonly Outcome[];
  readonly gateway: MemoryGateway;
  readonly journal: readonly ApplyEvent[];
  readonly interrupted: boolean;
};

/** Plans and applies. */
export async function run({
  manifests,
  before,
  live = [],
  options = {},
  meanwhile,
  wrap,
  signal = new AbortController().signal,
  concurrency = 8,
  steady = () => 0,
}: Run): Promise<ApplyRun> {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: live, ...options });
  const desired = desiredState(manifests);
  const planned = await planAgainst(gateway, desired, before === undefined ? {} : pruning({ before }));
  meanwhile?.(gateway);
  const journal: ApplyEvent[] = [];
  const secretOf = (id: string, path: string): ReturnType<Parameters<typeof apply>[0]['secretOf']> => {
    const secret = desired.resources.find((resource) => resource.id === id)?.secrets[path];
    return secret?.state === 'value' ? secret : undefined;
  };
  const shown: Gateway = { ...gateway, ...wrap?.(gateway) };
  const result = await apply({
    ...planned,
    steps: rescheduleSteps(planned.plan, planned.live, registry),
    gateway: shown,
    registry,
    secretOf,
    concurrency,
    steady,
    signal,
    observe: (event) => journal.push(event),
  });
  return { ...result, gateway, journal };
}

/** The outcomes in words: `id status code`. */
export function words({ outcomes }: ApplyRun): readonly string[] {
  return outcomes.map(({ id, status, code }) => [id, status, ...(code === undefined ? [] : [code])].join(' '));
}

/** Creates an error of the gateway. */
export function failing(code: ApiError['failure']['code'], status?: number): ApiError {
  return new ApiError('it failed', {
    code,
    method: 'PUT',
    url: 'http://memory.test',
    retryable: false,
    ambiguous: false,
    ...(status === undefined ? {} : { status }),
    hint: 'try again',
  });
}
