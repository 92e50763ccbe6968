import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessState } from '../model/access-model.ts';
import { exposedAt } from '../model/exposed-moments.ts';
import { textWithoutIds } from '../model/text-without-ids.ts';
import { startOstiary, type Ended } from '../support/cli.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { accessSides, analyzer } from './access-sides.ts';
import { passOn, startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { faults } from './faults.ts';
import { tortureGateways, type TortureGateway } from './gateways.ts';
import { addToTally } from './tally.ts';
import { transitionConfig } from './transition.ts';

/** How many disturbed applies each gateway gets: at ten times as many, every write to both sides is disturbed at least twice. */
const disturbed: Readonly<Record<string, number>> = { 'serve on PGlite': 4, 'serve on PostgreSQL': 4, 'the public gateway': 20 };

/** How a request fails: each fault of these disturbs each request once the run is large enough. */
const chosen = [
  'connection reset before the request',
  'connection reset after the request',
  'cut body',
  '500 after the request',
  'gateway gone from the request on',
  'kill -9 after the request',
];

// Only a command that hangs takes longer, also on a busy machine.
const patience = 600_000;

const ignoreKill = (): void => undefined;
const { make } = useRepositories();

type Case = { readonly side: number; readonly index: number; readonly what: string };

/** The requests of an apply from its first write on: all writes, and the reads between them. */
type Requests = { readonly writes: readonly number[]; readonly reads: readonly number[] };

/** Chooses requests of applies to either side, in turn, and faults: every write comes with two faults before any read, then every request with another one. */
function casesOf(applies: readonly Requests[], count: number): readonly Case[] {
  const rounds = chosen.flatMap((_, round) => {
    const parts: readonly (keyof Requests)[] = round < 2 ? ['writes'] : round === 2 ? ['reads'] : ['writes', 'reads'];
    const [first = [], second = []] = applies.map((requests, side) => {
      const all = parts.flatMap((part) => requests[part]);
      const cases = all.map((index) => ({ side, index, what: chosen[(index + round) % chosen.length] ?? '' }));
      return fc.sample(fc.shuffledSubarray(cases, { minLength: cases.length }), 1).flat();
    });
    return Array.from({ length: Math.max(first.length, second.length) }, (__, at) => [
      ...second.slice(at, at + 1),
      ...first.slice(at, at + 1),
    ]);
  });
  return rounds.flat().slice(0, count);
}

describe.each(Object.entries(tortureGateways))('%s', (name, start) => {
  let gateway: TortureGateway;
  let proxy: FaultProxy;
  let project: TestRepository;
  let env: Readonly<Record<string, string>>;
  let states = new Map<string, AccessState>();
  const sides = accessSides[name === 'the public gateway' ? 'hoop' : 'serve'];
  const allowed = name === 'the public gateway' ? ['access-control-on', 'last-runbook-rule'] : [];
  const applying = ['apply', '--yes', '--prune', ...allowed.flatMap((code) => ['--allow', `plan/${code}=torture`])];
  beforeAll(async () => {
    gateway = await start();
    proxy = await startFaultProxy(gateway.url, async () => {
      const state = await gateway.access();
      states.set(JSON.stringify(state), state);
    });
    project = make({ 'ostiary.yaml': transitionConfig(proxy.url), ...sides[0] });
    env = { ...gitEnv, OSTIARY_TOKEN: gateway.token };
  });
  afterAll(async () => {
    await proxy.close();
    await gateway.close();
  });

  /** Commits the manifests of a side, so that the next apply goes to it. */
  function turnTo(side: number): void {
    project.remove('access');
    project.save(sides[side] ?? {});
    proxy.disturb(undefined);
    states = new Map();
  }

  async function expectSuccess(args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await ostiaryInProcess(args, { cwd: project.folder, env });
    expect([args, code, code === 0 ? '' : `${stdout}${stderr}`]).toEqual([args, 0, '']);
  }

  async function applyDisturbed({ index, what }: Case): Promise<Pick<Ended, 'code'>> {
    const fault = faults[what];
    let kill = ignoreKill;
    const isDisturbed = (at: number): boolean => (fault?.lasting === true ? at >= index : at === index);
    proxy.disturb(async (exchange) => {
      if (fault === undefined || !isDisturbed(exchange.index)) await passOn(exchange);
      else await fault.disturb(exchange, () => kill());
    });
    if (fault?.signals === undefined) return ostiaryInProcess(applying, { cwd: project.folder, env });
    const { child, ended } = await startOstiary(applying, { cwd: project.folder, env, patience });
    kill = () => void child.kill('SIGKILL');
    return ended;
  }

  test(
    'an apply that is disturbed at any request gives no group more, and asks for no less approval, than before and after',
    { timeout: 0 },
    async () => {
      await expectSuccess(applying.filter((arg) => arg !== '--prune'));
      const watched =
        name === 'the public gateway' ? await gateway.call('POST', '/ai/session-analyzer/rules', { body: analyzer }) : undefined;
      expect(watched?.status ?? 201).toBe(201);
      const ends: AccessState[] = [];
      const applies: Requests[] = [];
      for (const side of [1, 0]) {
        turnTo(side);
        const methods: string[] = [];
        proxy.disturb(async (exchange) => {
          methods[exchange.index] = exchange.method;
          await passOn(exchange);
        });
        await expectSuccess(applying);
        const first = methods.findIndex((method) => method !== undefined && method !== 'GET');
        const indexes = [...methods.keys()].filter((index) => index >= first);
        const isWrite = (index: number): boolean => methods[index] !== 'GET';
        applies[side] = { writes: indexes.filter(isWrite), reads: indexes.filter((index) => !isWrite(index)) };
        ends[side] = await gateway.access();
      }
      const [before, after] = ends.map((access) => ({ access, content: {} }));
      if (before === undefined || after === undefined) throw new Error('both sides have an end');
      expect(textWithoutIds(before)).not.toBe(textWithoutIds(after));

      let current = 0;
      for (const one of casesOf(applies, runCount(disturbed[name] ?? 0))) {
        const about = `${one.what} at request ${one.index}, to side ${one.side}`;
        if (current === one.side) {
          turnTo(1 - one.side);
          await expectSuccess(applying);
        }
        turnTo(one.side);
        current = one.side;
        const { code } = await applyDisturbed(one);
        proxy.disturb(undefined);
        if (code !== 0) await expectSuccess(applying);
        const exposed = [...states.values()].flatMap((access) => exposedAt({ access, content: {} }, before, after));
        expect([about, exposed]).toEqual([about, []]);
        expect([about, textWithoutIds(await gateway.access())]).toEqual([about, textWithoutIds(ends[one.side])]);
        addToTally('f access at any request', { faults: 1, inputs: states.size });
      }
    },
  );
});
