import type { Plan } from '../../src/index.ts';
import { openHoop, scenarioToken } from '../support/hoop-scenario.ts';
import type { InjectedFault } from '../support/hoop/options.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import type { AccessPair } from './access-pairs.ts';
import { readMoment, type Moment } from './exposed-moments.ts';
import { entriesOf, textOf } from './gateway-objects.ts';
import type { OrderedMoments } from './moments-between.ts';
import { applyPlanned, planPair, readLive } from './run-access-pair.ts';

/** A plan and its apply. */
export type Watched = OrderedMoments & {
  readonly plan: Plan;
  /** What is not done, with the reason. */
  readonly failed: readonly string[];
  /** The writes, and the ends of stages, as they came. */
  readonly steps: readonly string[];
};

/** Returns the fault of a write; writes are counted from 1. */
export type WriteFault = (write: number, request: string) => InjectedFault | undefined;

type WatchOptions = {
  /** The plan of an apply that did not complete. */
  readonly interrupted?: Plan | undefined;
  readonly fault?: WriteFault;
};

/** Plans a pair and applies it, and reads what everybody can do before each write; undefined where it cannot be planned. */
export async function watchApply(
  model: HoopModel,
  pair: AccessPair,
  { interrupted, fault }: WatchOptions = {},
): Promise<Watched | undefined> {
  const gateway = await openHoop(model);
  try {
    const live = await readLive(gateway);
    const planned = await planPair(pair, live, gateway, { interrupted });
    if (planned === undefined) return undefined;
    const moments: Promise<Moment>[] = [];
    const boundaries: number[] = [];
    const steps: string[] = [];
    model.setFault(({ method, path }) => {
      if (method === 'GET') return undefined;
      steps.push(`${method} ${path}`);
      moments.push(momentNow(model));
      return fault?.(moments.length, `${method} ${path}`);
    });
    const failed = await applyPlanned(planned, live, gateway, ({ event, id = '', step = '' }) => {
      if (event === 'verified') boundaries.push(moments.length);
      if (event === 'written' || event === 'verified') steps.push(`${event} ${id} ${step}`);
    });
    model.setFault(undefined);
    moments.push(momentNow(model));
    return {
      plan: planned.plan,
      failed: failed.map(({ id, code, message }) => `${id} ${code ?? ''} ${message ?? ''}`),
      moments: await Promise.all(moments),
      boundaries,
      steps,
    };
  } finally {
    await gateway.close();
  }
}

const lists = [
  '/serverinfo',
  '/connections',
  '/plugins/access_control',
  '/attributes?page=1&page_size=100',
  '/access-requests/rules',
  '/runbooks/rules',
  '/ai/session-analyzer/rules',
  '/machineidentities',
  '/guardrails',
  '/datamasking-rules',
];

/** Reads the moment between two requests: everything at once, before the model goes on. */
function momentNow(model: HoopModel): Promise<Moment> {
  const answers = new Map<string, unknown>();
  const read = (path: string): void => {
    const { status, body } = model.readNow(path, scenarioToken);
    if (status !== 200 && status !== 404) throw new Error(`GET ${path}: ${status}`);
    answers.set(path, status === 404 ? undefined : body);
  };
  for (const path of lists) read(path);
  for (const { name } of entriesOf(answers.get('/connections'))) read(`/connections/${textOf(name)}`);
  return readMoment(async (path) => {
    if (!answers.has(path)) throw new Error(`${path} was not read`);
    return answers.get(path);
  });
}
