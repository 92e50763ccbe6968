import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOstiary, type Ended } from '../support/cli.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { passOn, startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { faults, type Fault, type SendSignal } from './faults.ts';
import { addUnmanaged, textsOf, tortureGateways, type TortureGateway } from './gateways.ts';
import { internalError } from './harmless.ts';
import { fraction } from './mutations.ts';
import { addToTally } from './tally.ts';
import { sides, transitionConfig, transitionSecrets } from './transition.ts';

/** How many disturbed applies each gateway gets; every one is followed by an apply and a plan. */
const disturbed: Readonly<Record<string, number>> = { 'serve on PGlite': 1, 'serve on PostgreSQL': 1, 'the public gateway': 3 };
/** Of the faults that need no signal, one of so many disturbs a process of its own. */
const processEvery = 4;

// Only a command that hangs takes longer, also on a busy machine.
const patience = 600_000;

const ignoreSignal: SendSignal = () => undefined;
const { make } = useRepositories();

describe.each(Object.entries(tortureGateways))('%s', (name, start) => {
  let gateway: TortureGateway;
  let proxy: FaultProxy;
  let project: TestRepository;
  let env: Readonly<Record<string, string>>;
  let states: ResourceStates[] = [];
  beforeAll(async () => {
    gateway = await start();
    proxy = await startFaultProxy(gateway.url, async () => {
      states.push(await gateway.states());
    });
    project = make({ 'ostiary.yaml': transitionConfig(proxy.url), ...sides[0] });
    env = { ...gitEnv, ...transitionSecrets, OSTIARY_TOKEN: gateway.token };
  });
  afterAll(async () => {
    await proxy.close();
    await gateway.close();
  });

  const applying = ['apply', '--yes', '--prune'];
  const run = (args: readonly string[]): Promise<Ended> => ostiaryInProcess(args, { cwd: project.folder, env });

  /** Commits the manifests of a side, so that the next apply goes to it. */
  function turnTo(side: number): void {
    project.remove('access');
    project.save(sides[side] ?? {});
    proxy.disturb(undefined);
    states = [];
  }

  async function expectSuccess(args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await run(args);
    expect({ args, code, output: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ args, code: 0, output: '' });
  }

  async function applyDisturbed({ signals, lasting, disturb }: Fault, at: number, inProcess: boolean): Promise<Ended> {
    let signal: SendSignal = ignoreSignal;
    const isDisturbed = (index: number): boolean => (lasting === true ? index >= at : index === at);
    proxy.disturb((exchange) => (isDisturbed(exchange.index) ? disturb(exchange, signal) : passOn(exchange)));
    if (signals === undefined && inProcess) return run(applying);
    const { child, ended } = await startOstiary(applying, { cwd: project.folder, env, patience });
    signal = (one) => void child.kill(one);
    return ended;
  }

  test('an apply that any fault disturbs at any request exposes nothing, and the next one converges', { timeout: 0 }, async () => {
    await expectSuccess(['apply', '--yes']);
    const unmanaged = await addUnmanaged(gateway, 'orders-db');
    const texts = await textsOf(gateway, unmanaged);
    const ends: ResourceStates[] = [];
    const requests: number[] = [];
    for (const side of [1, 0]) {
      turnTo(side);
      await expectSuccess(applying);
      requests[side] = proxy.count();
      ends[side] = await gateway.states();
    }

    const count = runCount(disturbed[name] ?? 0);
    const cases = fc.record({ chosen: fc.constantFrom(...Object.entries(faults)), at: fraction });
    for (const [turn, { chosen, at }] of fc.sample(cases, count).entries()) {
      const side = 1 - (turn % 2);
      const index = 1 + Math.floor(at * (requests[side] ?? 1));
      const [what, fault] = chosen;
      const about = `${what} at request ${index}, to side ${side}`;
      turnTo(side);
      const { code, signal, stdout, stderr } = await applyDisturbed(fault, index, turn % processEvery !== 0);
      const output = `${stdout}${stderr}`;
      expect({ about, internal: internalError.exec(output)?.[0] }).toEqual({ about, internal: undefined });
      expect([about, signal === null ? code : signal, output]).toEqual([
        about,
        expect.toBeOneOf([0, 3, 4, 5, 6, 'SIGKILL', 'SIGINT']),
        output,
      ]);
      // The documented promise of these codes.
      expect([about, states]).toEqual([about, code !== null && [3, 4, 6].includes(code) ? [] : states]);
      proxy.disturb(undefined);
      if (code !== 0) await expectSuccess(applying);
      await expectSuccess(['plan', '--prune', '--detailed-exitcode']);
      const exposed = states.flatMap((state) => exposedConnections(state, ends[1] ?? {}, ends[0] ?? {}));
      expect([about, exposed]).toEqual([about, []]);
      expect([about, await gateway.states()]).toEqual([about, ends[side]]);
      expect([about, await textsOf(gateway, unmanaged)]).toEqual([about, texts]);
      addToTally('a disturbed at any request', { faults: 1 });
    }
  });
});
