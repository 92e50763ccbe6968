import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOstiary, type Ended } from '../support/cli.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { idOf, idsIn } from '../server/client.ts';
import { passOn, startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { addUnmanaged, tortureGateways, type TortureGateway } from './gateways.ts';
import { internalError } from './harmless.ts';
import { addToTally } from './tally.ts';
import { sides, transitionConfig, transitionSecrets } from './transition.ts';

const { make, makeOrigin, clone } = useRepositories();
const applying = ['apply', '--yes', '--prune'];
const section = 'b races';
// One of two applies waits for the lock of the other for up to 50 seconds before it begins.
const patience = 600_000;

const chosen = Object.entries(tortureGateways).filter(([name]) => name !== 'serve on PGlite');

describe.each(chosen)('%s', (name, start) => {
  let gateway: TortureGateway;
  let proxy: FaultProxy;
  let ours: TestRepository;
  let other: TestRepository;
  let env: Readonly<Record<string, string>>;
  let states: ResourceStates[] = [];
  const ends: ResourceStates[] = [];
  beforeAll(async () => {
    gateway = await start();
    proxy = await startFaultProxy(gateway.url, async () => {
      states.push(await gateway.states());
    });
    env = { ...gitEnv, ...transitionSecrets, OSTIARY_TOKEN: gateway.token };
    ours = make({ 'ostiary.yaml': transitionConfig(proxy.url), ...sides[0] });
    const origin = makeOrigin(ours);
    await run(ours, ['apply', '--yes']);
    other = clone(origin);
    await addUnmanaged(gateway);
    for (const side of [1, 0]) {
      publish(side);
      await run(ours, applying);
      ends[side] = await gateway.states();
    }
  });
  afterAll(async () => {
    await proxy.close();
    await gateway.close();
  });

  const run = ({ folder }: TestRepository, args: readonly string[]): Promise<Ended> => ostiaryInProcess(args, { cwd: folder, env });

  /** Pushes a commit with the manifests of a side; the other clone keeps its own commit. */
  function publish(side: number): void {
    ours.remove('access');
    ours.save(sides[side] ?? {});
    ours.git('push', '--quiet', 'origin', 'main');
    proxy.disturb(undefined);
    states = [];
  }

  function update(): void {
    other.git('fetch', '--quiet', 'origin', 'main');
    other.git('reset', '--quiet', '--hard', 'origin/main');
  }

  async function expectConverged(side: number, about: unknown, clones: readonly TestRepository[]): Promise<void> {
    proxy.disturb(undefined);
    for (const [index, one] of clones.entries()) {
      const lines = index === 0 ? [applying, ['plan', '--prune', '--detailed-exitcode']] : [['plan', '--prune', '--detailed-exitcode']];
      for (const args of lines) {
        const { code, stdout, stderr } = await run(one, args);
        expect([about, args, code, code === 0 ? '' : `${stdout}${stderr}`]).toEqual([about, args, 0, '']);
      }
    }
    expect([about, await gateway.states()]).toEqual([about, ends[side]]);
    const exposed = states.flatMap((state) => exposedConnections(state, ends[0] ?? {}, ends[1] ?? {}));
    expect([about, exposed]).toEqual([about, []]);
  }

  test('two applies at once from two clones leave one of their two states, and expose nothing', { timeout: 0 }, async () => {
    const lock = fc.constantFrom<readonly string[]>([], ['--lock-timeout', '50s']);
    const race = fc.record({
      pulled: fc.boolean(),
      locks: fc.tuple(lock, lock),
      head: fc.nat({ max: 400 }),
      delays: fc.infiniteStream(fc.nat({ max: 25 })),
    });
    for (const [turn, { pulled, locks, head, delays }] of fc.sample(race, runCount(1)).entries()) {
      const side = 1 - (turn % 2);
      publish(side);
      if (pulled) update();
      const about = { turn, pulled, locks, head };
      proxy.disturb(async (exchange) => {
        await sleep(delays.next().value ?? 0);
        await passOn(exchange);
      });
      const first = await startOstiary([...applying, ...locks[0]], { cwd: ours.folder, env, patience });
      await sleep(head);
      const second = await startOstiary([...applying, ...locks[1]], { cwd: other.folder, env, patience });
      for (const { code, signal, stdout, stderr } of await Promise.all([first.ended, second.ended])) {
        const output = `${stdout}${stderr}`;
        expect([about, signal, code, output]).toEqual([about, null, expect.toBeOneOf([0, 5, 6]), output]);
        expect([about, internalError.exec(output)?.[0]]).toEqual([about, undefined]);
      }
      update();
      await expectConverged(side, about, [ours, other]);
      addToTally(section, { faults: 1 });
    }
  });

  test('an object that another user changes between the read and the write keeps what is not ours', { timeout: 0 }, async () => {
    const rule = (await gateway.call('GET', '/guardrails')).list.find((one) => one['name'] === 'unmanaged-rule') ?? {};
    for (const [turn, at] of fc.sample(fc.nat({ max: 17 }), runCount(1)).entries()) {
      const side = 1 - (turn % 2);
      publish(side);
      let writes = 0;
      let attached = '';
      proxy.disturb(async (exchange) => {
        const [path = ''] = /\/connections\/[^/?]+$/.exec(exchange.path) ?? [];
        writes += exchange.method === 'PUT' && path !== '' ? 1 : 0;
        if (exchange.method === 'PUT' && path !== '' && writes === 1 + (at % 4)) {
          attached = idOf(await gateway.call('GET', path));
          await attach(rule, attached);
        }
        await passOn(exchange);
      });
      const { code, stdout, stderr } = await run(ours, applying);
      const about = { turn, at, attached, output: `${stdout}${stderr}` };
      expect([about, code]).toEqual([about, expect.toBeOneOf([0, 5])]);
      const exists = (await gateway.call('GET', '/connections')).list.some((one) => one['id'] === attached);
      const kept = idsIn(await gateway.call('GET', `/guardrails/${idOf({ body: rule })}`), 'connection_ids').includes(attached);
      // The public gateway has no version to write against: a change in this instant can be overwritten there.
      expect([about, kept]).toEqual([about, name === 'the public gateway' ? kept : exists]);
      await attach(rule);
      await expectConverged(side, about, [ours]);
      addToTally(section, { faults: 1 });
    }
  });

  /** Attaches the unmanaged rule to a connection too, or only to its own. */
  async function attach(rule: Readonly<Record<string, unknown>>, connection?: string): Promise<void> {
    const { id, name: ruleName, input, connection_ids: ids } = JSON.parse(JSON.stringify(rule));
    const body = { name: ruleName, input, connection_ids: [...ids, ...(connection === undefined ? [] : [connection])] };
    await gateway.call('PUT', `/guardrails/${id}`, { body });
  }
});
