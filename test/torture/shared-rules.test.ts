import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharedWays, writeShared } from '../bench/shared-rules.js';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { passOn, startFaultProxy } from './fault-proxy.ts';
import { faults } from './faults.ts';
import { tortureGateways } from './gateways.ts';
import { internalError } from './harmless.ts';
import { fraction } from './mutations.ts';
import { addToTally } from './tally.ts';
import { transitionConfig } from './transition.ts';

const { make } = useRepositories();
const applying = ['apply', '--yes'];
const harmful = Object.entries(faults).filter(([, { signals }]) => signals === undefined);

/** How many connections share how many rules; an apply changes some of these rules. */
const size = { connections: 60, rules: 10 };

describe.each(sharedWays.filter(({ dialects }) => dialects.includes('hoop')))('by $by', ({ by, kind }) => {
  test(
    'a disturbed apply that changes some of the rules of all connections exposes none, and the next one converges',
    {
      timeout: 0,
    },
    async () => {
      const gateway = await tortureGateways['the public gateway']();
      let states: ResourceStates[] = [];
      const proxy = await startFaultProxy(gateway.url, async () => {
        states.push(await gateway.states());
      });
      const project = make({ 'ostiary.yaml': transitionConfig(proxy.url) });
      const env = { ...gitEnv, OSTIARY_TOKEN: gateway.token };

      /** Commits manifests that change so many of the rules, and leave the others. */
      function turnTo(changed: number): void {
        writeShared(project.folder, { by, kind, ...size, changed });
        project.save({});
        proxy.disturb(undefined);
        states = [];
      }

      async function expectSuccess(...args: readonly string[]): Promise<void> {
        const { code, stdout, stderr } = await ostiaryInProcess(args, { cwd: project.folder, env });
        expect([args, code, code === 0 ? '' : `${stdout}${stderr}`]).toEqual([args, 0, '']);
      }

      // Attributes first: a plan that makes them and connections for the groups that they grant is refused.
      await gateway.call('POST', '/plugins', { body: { name: 'access_control', connections: [] } });
      turnTo(0);
      if (by === 'who') await expectSuccess(...applying, '--only', 'Attribute/*');
      await expectSuccess(...applying);
      let last = 0;
      const cases = fc.record({ chosen: fc.constantFrom(...harmful), at: fraction, changed: fc.integer({ min: 1, max: size.rules }) });
      for (const { chosen, at, changed } of fc.sample(cases, runCount(0.4))) {
        const [what, { disturb, lasting }] = chosen;
        const about = `${what}: ${last} to ${changed} changed rules`;
        const before = await gateway.states();
        turnTo(changed);
        const index = 1 + Math.floor(at * (20 + Math.abs(changed - last)));
        last = changed;
        const isDisturbed = (one: number): boolean => (lasting === true ? one >= index : one === index);
        proxy.disturb((exchange) => (isDisturbed(exchange.index) ? disturb(exchange, () => undefined) : passOn(exchange)));
        const { code, stdout, stderr } = await ostiaryInProcess(applying, { cwd: project.folder, env });
        expect([about, internalError.exec(`${stdout}${stderr}`)?.[0]]).toEqual([about, undefined]);
        proxy.disturb(undefined);
        if (code !== 0) await expectSuccess(...applying);
        await expectSuccess('plan', '--detailed-exitcode');
        const after = await gateway.states();
        const exposed = states.flatMap((state) => exposedConnections(state, before, after));
        expect([about, exposed]).toEqual([about, []]);
        addToTally('h shared rules', { faults: 1 });
      }
      await proxy.close();
      await gateway.close();
    },
  );
});
