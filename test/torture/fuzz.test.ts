import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { config, useProjects, writeFiles } from '../e2e/project.ts';
import type { Ended } from '../support/cli.ts';
import { equal } from '../../src/model/json.ts';
import { runCount } from '../support/property-runs.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { startFaultProxy, type Exchange, type FaultProxy } from './fault-proxy.ts';
import { tortureGateways, type TortureGateway } from './gateways.ts';
import { expectHarmless } from './harmless.ts';
import { mutateManifest, mutateText, parseJson } from './mutations.ts';
import { addToTally } from './tally.ts';
import { sides, transitionSecrets } from './transition.ts';

const makeProject = useProjects();
describe.each(Object.entries(tortureGateways).filter(([name]) => name !== 'serve on PGlite'))('bad input before %s', (_name, start) => {
  let gateway: TortureGateway;
  let proxy: FaultProxy;
  let cwd: string;
  let env: Readonly<Record<string, string>>;
  let writes: string[] = [];
  beforeAll(async () => {
    gateway = await start();
    proxy = await startFaultProxy(gateway.url, () => Promise.resolve());
    cwd = makeProject({ 'ostiary.yaml': config(proxy.url), ...sides[0] });
    // The address in the environment is used, whatever a config says.
    env = { ...transitionSecrets, OSTIARY_TOKEN: gateway.token, OSTIARY_URL: proxy.url };
    await expectHarmless(run('apply --yes'), () => 'the first apply');
  });
  afterAll(async () => {
    await proxy.close();
    await gateway.close();
  });
  beforeEach(() => {
    writeFiles(cwd, { 'ostiary.yaml': config(proxy.url), ...sides[0] });
    watch();
  });
  const run = (line: string): Promise<Ended> => ostiaryInProcess(line.split(' '), { cwd, env });

  /** Refuses and notes all writes, and changes the responses to some reads. */
  function watch(mutate?: (exchange: Exchange, body: Buffer) => Buffer): void {
    writes = [];
    proxy.disturb(async (exchange) => {
      if (exchange.method === 'GET') {
        const answer = await exchange.forward();
        return exchange.send(mutate === undefined ? answer : { ...answer, body: mutate(exchange, answer.body) });
      }
      writes.push(`${exchange.method} ${exchange.path} ${exchange.body.toString()}`);
      exchange.send({ status: 403, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"message":"read only"}') });
    });
  }

  test('manifests', { timeout: 0 }, async () => {
    const files = Object.entries(sides[0]).map(([path, text]) => [path, Buffer.from(text)] as const);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), mutateManifest, async ([path, bytes], mutate) => {
        const bad = mutate(bytes);
        writeFiles(cwd, { [path]: bad });
        watch();
        const about = (): unknown => ({ path, bad: bad.toString('base64') });
        for (const line of ['validate', 'plan --format json', 'apply --yes']) {
          const code = await expectHarmless(run(line), about);
          expect(writes).toEqual(code === 3 || line.startsWith('plan') ? [] : writes);
        }
        writeFiles(cwd, { [path]: bytes });
        addToTally('e fuzzed', { inputs: 3 });
      }),
      { numRuns: runCount(12) },
    );
  });

  test('configs', { timeout: 0 }, async () => {
    const text = `apiVersion: ostiary/v1
kind: Config
manifests: [access/]
targets:
  production: { url: '${proxy.url}', dialect: auto, auth: auto, token: { env: OSTIARY_TOKEN }, limits: { from: 20, updates: 20% }, overlays: [o/] }
`;
    const value = {
      apiVersion: 'ostiary/v1',
      kind: 'Config',
      manifests: ['access/'],
      targets: { production: { url: proxy.url, limits: { from: 20 } } },
    };
    const files = [Buffer.from(text), Buffer.from(JSON.stringify(value))];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), mutateManifest, async (bytes, mutate) => {
        const bad = mutate(bytes);
        writeFiles(cwd, { 'ostiary.yaml': bad });
        for (const line of ['validate', 'plan']) await expectHarmless(run(line), () => ({ bad: bad.toString('base64') }));
        expect(writes).toEqual([]);
        addToTally('e fuzzed', { inputs: 2 });
      }),
      { numRuns: runCount(12) },
    );
  });

  test('saved plans', { timeout: 0 }, async () => {
    writeFiles(cwd, sides[1]);
    for (const path of Object.keys(sides[0])) if (!(path in sides[1])) rmSync(join(cwd, path));
    expect(await run('plan --out saved.json')).toMatchObject({ code: 0 });
    expect(await run('apply --yes --plan saved.json')).toMatchObject({ code: 5 });
    const planned = new Set(writes);
    expect(planned.size).toBeGreaterThan(0);
    const bytes = readFileSync(join(cwd, 'saved.json'));
    await fc.assert(
      fc.asyncProperty(mutateText, async (mutate) => {
        const bad = mutate(bytes);
        writeFileSync(join(cwd, 'saved.json'), bad);
        watch();
        const code = await expectHarmless(run('apply --yes --plan saved.json'), () => ({ bad: bad.toString('base64') }));
        // Only space between the parts of a plan is free; a repeated key is an error.
        const isSame = equal(parseJson(bad) ?? null, parseJson(bytes) ?? null);
        expect(isSame ? [3, 5] : [3, 6]).toContain(code);
        expect(writes.filter((write) => !isSame || !planned.has(write))).toEqual([]);
        addToTally('e fuzzed', { inputs: 1 });
      }),
      { numRuns: runCount(12) },
    );
    for (const path of Object.keys(sides[1])) if (!(path in sides[0])) rmSync(join(cwd, path));
  });

  test('responses of the gateway', { timeout: 0 }, async () => {
    const pulled = mkdtempSync(join(tmpdir(), 'ostiary-pulled-'));
    const lines = [
      'plan',
      'drift --base none',
      'get connections --format json',
      'list',
      'explain Connection/orders-db',
      'search db',
      'apply --yes',
    ];
    const one = fc.record({ line: fc.constantFrom(...lines, `pull ${pulled}`), at: fc.nat({ max: 12 }), mutate: mutateText });
    await fc.assert(
      fc.asyncProperty(one, async ({ line, at, mutate }) => {
        let seen: string | undefined;
        rmSync(pulled, { recursive: true, force: true });
        proxy.disturb(undefined);
        watch(({ index, path }, body) => {
          if (index % 13 !== at) return body;
          const bad = mutate(body);
          seen = `${path} ${bad.toString('base64')}`;
          return bad;
        });
        await expectHarmless(run(line), () => ({ line, seen }));
        expect(writes).toEqual(line.startsWith('apply') ? writes : []);
        addToTally('e fuzzed', { inputs: 1 });
      }),
      { numRuns: runCount(16) },
    );
    rmSync(pulled, { recursive: true, force: true });
  });
});
