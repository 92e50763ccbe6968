import type { Outcome, Plan } from '../../src/index.ts';
import { openHoop, scenarioToken } from '../support/hoop-scenario.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { passOn, startFaultProxy, type FaultProxy } from '../torture/fault-proxy.ts';
import { readMoment, type Moment } from './exposed-moments.ts';
import type { PermissionPair } from './permission-pairs.ts';
import { applyPlanned, planPair, readerOf, readLive, startAccessGateway } from './run-access-pair.ts';

/** A plan and its apply, with what everybody could do after each write. */
export type PermissionRun = {
  readonly plan: Plan;
  readonly moments: readonly Moment[];
  readonly failed: readonly Outcome[];
};

/** A run of a pair from its live state to its end. */
export type WholeRun = PermissionRun & { readonly before: Moment; readonly after: Moment };

/** A pair on a gateway of its own, behind a proxy that reads the gateway after each write. */
export type PermissionWorld = {
  readonly proxy: FaultProxy;
  readonly read: () => Promise<Moment>;
  /** Plans, with the record of an interrupted apply if there is one, and applies; undefined where the manifests cannot be planned. */
  readonly apply: (interrupted?: Plan) => Promise<PermissionRun | undefined>;
  /** What everybody could do after each write since it was asked for last. */
  readonly takeMoments: () => readonly Moment[];
};

/** Runs the work on a gateway with the live state of a pair. */
export async function onPermissionGateway<T>(pair: PermissionPair, work: (world: PermissionWorld) => Promise<T>): Promise<T> {
  const model = await startAccessGateway(pair);
  let moments: Moment[] = [];
  const read = (): Promise<Moment> => readMoment(readerOf(model));
  const proxy = await startFaultProxy(model.url, async () => void moments.push(await read()));
  const takeMoments = (): readonly Moment[] => moments.splice(0);
  const apply = async (interrupted?: Plan): Promise<PermissionRun | undefined> => {
    const gateway = await openHoop({ ...model, url: proxy.url });
    try {
      const live = await readLive(gateway);
      const planned = await planPair(pair, live, gateway, { interrupted });
      // Commands stop at errors.
      if (planned === undefined || planned.diagnostics.some(({ severity }) => severity === 'error')) return undefined;
      const failed = await applyPlanned(planned, live, gateway);
      return { plan: planned.plan, failed, moments: takeMoments() };
    } finally {
      await gateway.close();
    }
  };
  try {
    await addAttachedRules(model, pair);
    return await work({ proxy, read, apply, takeMoments });
  } finally {
    await proxy.close();
    await model.close();
  }
}

async function addAttachedRules(model: HoopModel, { guardrails, maskings }: PermissionPair): Promise<void> {
  const send = async (path: string, sent: object): Promise<void> => {
    const { status, body } = await model.send('POST', path, scenarioToken, sent);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  };
  for (const [index, { attributes, blocks }] of guardrails.entries())
    await send('/guardrails', {
      name: `words-${index}`,
      attributes,
      input: { rules: [{ name: 'words', type: 'deny_words_list', words: blocks, pattern_regex: '' }] },
      output: { rules: [] },
    });
  for (const [index, { attributes, blocks }] of maskings.entries())
    await send('/datamasking-rules', { name: `types-${index}`, attributes, supported_entity_types: [{ name: 'X', entity_types: blocks }] });
}

/** Stops an apply after one of its writes, and loses all later requests. */
export function stopAfterWrite(proxy: FaultProxy, write: number): void {
  let writes = 0;
  proxy.disturb(async (exchange) => {
    if (writes >= write) return exchange.reset();
    if (exchange.method === 'GET') return passOn(exchange);
    writes += 1;
    if (writes < write) return passOn(exchange);
    await exchange.forward();
    exchange.reset();
  });
}
