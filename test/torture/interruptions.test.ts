import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOstiary, type Ended } from '../support/cli.ts';
import { clockOf } from '../support/process-clock.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { passOn, startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { faults, recordFaults, type Fault, type RecordFault, type SendSignal } from './faults.ts';
import { addUnmanaged, textsOf, tortureGateways, type TortureGateway } from './gateways.ts';
import { internalError } from './harmless.ts';
import { fraction } from './mutations.ts';
import { addToTally } from './tally.ts';
import { sides, transitionConfig, transitionSecrets } from './transition.ts';

/** How many disturbed applies each gateway gets; every one is followed by an apply and a plan. */
const disturbed: Readonly<Record<string, number>> = { 'serve on PGlite': 1, 'serve on PostgreSQL': 1, 'the public gateway': 3 };
/** How often each fault of its record disturbs an apply. */
const disturbedRecords = 0.3;
/** Of the faults that need no signal, one of so many disturbs a process of its own. */
const processEvery = 4;

// Only a command that hangs takes longer, also on a busy machine.
const patience = 600_000;

const recordLock = '.git/refs/ostiary/applied/production.lock';
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

  /** Returns the exit code and the changes of a plan. */
  async function readPlan(...more: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await run(['plan', '--prune', '--format', 'json', ...more]);
    const { plans } = JSON.parse(stdout);
    return { code, plans, stderr };
  }

  /** Checks that a plan with an empty cache, as that of a second machine, has the changes of one with the cache that the apply left. */
  async function expectNoCacheNeeded(about: string): Promise<void> {
    const empty = mkdtempSync(join(tmpdir(), 'ostiary-torture-'));
    const plans = [await readPlan(), await readPlan('--cache', empty)];
    rmSync(empty, { recursive: true });
    expect([about, plans[1]]).toEqual([about, plans[0]]);
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

  /** Disturbs the record of an apply in a process of its own while a request waits. */
  async function applyWithoutRecord(disturb: RecordFault, at: number): Promise<Ended> {
    project.write({ '.git/clock': '0' });
    const options = { cwd: project.folder, env: { ...env, ...clockOf(join(project.folder, '.git/clock')) }, patience };
    let signal: SendSignal = ignoreSignal;
    const site = {
      lock: () => project.write({ [recordLock]: '' }),
      async takeOver() {
        project.write({ '.git/clock': '16' });
        const { ended } = await startOstiary(applying, options);
        expect(await ended).toMatchObject({ code: 0 });
      },
    };
    proxy.disturb((exchange) => (exchange.index === at ? disturb(exchange, signal, site) : passOn(exchange)));
    const { child, ended } = await startOstiary(applying, options);
    signal = (one) => void child.kill(one);
    const result = await ended;
    rmSync(join(project.folder, recordLock), { force: true });
    return result;
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

    let turn = 0;

    /** Applies to the other side; one request is disturbed. Codes that promise no write are believed of an apply that is alone. */
    async function expectSurvival(what: string, at: number, apply: (index: number) => Promise<Ended>, isAlone = true): Promise<void> {
      const side = 1 - (turn % 2);
      turn += 1;
      const index = 1 + Math.floor(at * (requests[side] ?? 1));
      const about = `${what} at request ${index}, to side ${side}`;
      turnTo(side);
      const { code, signal, stdout, stderr } = await apply(index);
      const output = `${stdout}${stderr}`;
      expect({ about, internal: internalError.exec(output)?.[0] }).toEqual({ about, internal: undefined });
      expect([about, signal === null ? code : signal, output]).toEqual([
        about,
        expect.toBeOneOf([0, 3, 4, 5, 6, 'SIGKILL', 'SIGINT']),
        output,
      ]);
      // The documented promise of these codes.
      expect([about, states]).toEqual([about, isAlone && code !== null && [3, 4, 6].includes(code) ? [] : states]);
      proxy.disturb(undefined);
      await expectNoCacheNeeded(about);
      if (code !== 0 || output.includes('git/applied-not-recorded')) await expectSuccess(applying);
      await expectSuccess(['plan', '--prune', '--detailed-exitcode']);
      const exposed = states.flatMap((state) => exposedConnections(state, ends[1] ?? {}, ends[0] ?? {}));
      expect([about, exposed]).toEqual([about, []]);
      expect([about, await gateway.states()]).toEqual([about, ends[side]]);
      expect([about, await textsOf(gateway, unmanaged)]).toEqual([about, texts]);
      addToTally('a disturbed at any request', { faults: 1 });
    }

    const cases = fc.record({ chosen: fc.constantFrom(...Object.entries(faults)), at: fraction });
    for (const [number, { chosen, at }] of fc.sample(cases, runCount(disturbed[name] ?? 0)).entries()) {
      const [what, fault] = chosen;
      await expectSurvival(what, at, (index) => applyDisturbed(fault, index, number % processEvery !== 0));
    }
    for (const [what, fault] of Object.entries(recordFaults))
      for (const at of fc.sample(fraction, runCount(disturbedRecords)))
        await expectSurvival(what, at, (index) => applyWithoutRecord(fault, index), !what.includes('another apply'));
  });
});
