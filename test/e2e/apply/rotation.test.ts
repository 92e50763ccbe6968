import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();
const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } };
const manifests = { 'access/a.yaml': connection('rotated', { secret }) };
const rotated = 'secret envvar:PASS  rotated at its source (env:OSTIARY_SECRET_PASS)';
const undetermined = 'secret envvar:PASS  (env:OSTIARY_SECRET_PASS) differs from the gateway: changed at its source or outside Ostiary';
const tampered = 'secret envvar:PASS  changed on the gateway';

/** A gateway of one dialect: its URL, its token, and a write of another admin. */
type Side = {
  readonly url: string;
  readonly token: string;
  readonly tamper: (name: string, change: JsonObject) => Promise<void>;
};

const sides: Record<string, () => Promise<Side>> = {
  interface: () =>
    Promise.resolve({
      url: gateway.url(),
      token: gateway.server().key,
      async tamper(name, change) {
        const { body } = await gateway.call('GET', `/connections/${name}`);
        expect(await gateway.call('PUT', `/connections/${name}`, { body: { ...body, ...change } })).toMatchObject({ status: 200 });
      },
    }),
  async hoop() {
    const { url, send } = await hoopProject();
    return {
      url,
      token: adminToken,
      async tamper(name, change) {
        const { body } = await send('GET', `/connections/${name}`);
        expect(await send('PUT', `/connections/${name}`, { ...Object(body), ...change })).toMatchObject({ status: 200 });
      },
    };
  },
};
const other = { secret: { 'envvar:PASS': 'Y2FuYXJ5LW90aGVy' } };

describe.each(mainDialect(Object.entries(sides)))('rotation on the dialect %s', (_, open) => {
  let side: Side;
  const printed: string[] = [];
  beforeAll(async () => {
    side = await open();
  });

  function project(files: Files): { readonly ours: TestRepository; readonly origin: TestRepository } {
    const ours = make({ 'ostiary.yaml': config(side.url), ...files });
    return { ours, origin: makeOrigin(ours) };
  }

  async function run(line: string, { folder }: TestRepository, value: string): ReturnType<typeof ostiaryInProcess> {
    const env = { ...gitEnv, OSTIARY_TOKEN: side.token, OSTIARY_SECRET_PASS: value };
    const ended = await ostiaryInProcess(line.split(' '), { cwd: folder, env });
    printed.push(ended.stdout, ended.stderr);
    return ended;
  }

  test('a fresh clone distinguishes a rotation at the source from a change on the gateway', async () => {
    const { ours, origin } = project(manifests);
    expect(await run('apply --yes', ours, 'canary-first')).toMatchObject({ code: 0 });
    expect((await run('plan', clone(origin), 'canary-first')).stdout).toContain('No changes');
    for (const reader of [ours, ours, clone(origin, '--depth=1')]) {
      expect((await run('plan', reader, 'canary-second')).stdout).toContain(rotated);
      const drifted = await run('drift', reader, 'canary-second');
      expect(drifted).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on production. 1 pending') });
    }
    const { fields } = JSON.parse((await run('plan --format json --quiet', clone(origin), 'canary-second')).stdout).plans[0].changes[0];
    expect(fields).toMatchObject([{ origin: 'intent', cause: 'source' }]);
    // Without the record and without the cache nothing is proven.
    for (const line of ['plan', 'drift']) {
      const ended = await run(`${line} --base HEAD`, clone(origin), 'canary-second');
      expect(ended).toMatchObject({ code: line === 'drift' ? 2 : 0, stdout: expect.stringContaining(undetermined) });
    }

    // Another field of the object may change on the gateway: that is the drift, and the secret is still pending.
    await side.tamper('rotated', { access_max_duration: 60 });
    const both = await run('drift', clone(origin), 'canary-second');
    expect([both.code, both.stdout]).toEqual([2, expect.not.stringContaining('envvar:PASS')]);
    expect((await run('drift --revert --yes', ours, 'canary-second')).code).toBe(0);

    await side.tamper('rotated', other);
    for (const value of ['canary-first', 'canary-second']) {
      const found = await run('drift', clone(origin), value);
      expect([found.code, found.stdout]).toEqual([2, expect.stringContaining(tampered)]);
      expect(found.stdout).not.toContain('at the source');
    }
    const ci = clone(origin);
    expect((await run('apply --yes', ci, 'canary-second')).code).toBe(0);
    expect(await run('drift', ours, 'canary-second')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
    expect(await run('drift', ours, 'canary-third')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 pending') });
    expect(await run('drift', ci, 'canary-third')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 pending') });
    const record = origin.git('log', '-1', '--format=%B', 'refs/ostiary/applied/production');
    expect(record).toMatch(/"secrets":"[\w-]{16}"/);
    expect([...printed, record].join('')).not.toMatch(/canary-(?:first|second|third|other)|Y2FuYXJ5/);
  });
});
