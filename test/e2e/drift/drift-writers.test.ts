import { describe, expect, test } from 'vitest';
import { createKey } from '../../server/client.ts';
import { adminToken, hoopProject, userToken } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

/** A gateway of one dialect, the keys of CI and of a person there, and a write with one of them. */
type Side = {
  readonly url: string;
  readonly keys: Readonly<Record<'ci' | 'ada', string>>;
  readonly names: Readonly<Record<'ci' | 'ada', string>>;
  readonly write: (key: string, name: string, change: JsonObject) => Promise<void>;
};

const sides: Record<string, () => Promise<Side>> = {
  async interface() {
    const keys = { ci: await createKey(gateway.call, 'ci', ['admin']), ada: await createKey(gateway.call, 'ada', ['admin']) };
    return {
      url: gateway.url(),
      keys,
      names: { ci: 'ci', ada: 'ada' },
      async write(key, name, change) {
        const { body } = await gateway.call('GET', `/connections/${name}`);
        expect(await gateway.call('PUT', `/connections/${name}`, { key, body: { ...body, ...change } })).toMatchObject({ status: 200 });
      },
    };
  },
  async hoop() {
    const { url } = await hoopProject();
    return {
      url,
      keys: { ci: adminToken, ada: userToken },
      names: { ci: 'admin', ada: 'ada@example.com' },
      async write(key, name, change) {
        const request = async (method: string, body?: unknown): Promise<unknown> => {
          const sent = body === undefined ? {} : { body: JSON.stringify(body) };
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          const answer = await fetch(`${url}/connections/${name}`, { method, headers, ...sent });
          expect(answer.status).toBe(200);
          return answer.json();
        };
        await request('PUT', { ...Object(await request('GET')), ...change });
      },
    };
  },
};

const limited = (name: string, seconds: number): string =>
  connection(name, { access_max_duration: seconds, secret: { 'envvar:HOST': { value: 'db' } } });

function run(line: string, { folder }: TestRepository, key: string): ReturnType<typeof ostiaryInProcess> {
  return ostiaryInProcess(line.split(' '), { cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: key } });
}

describe.each(mainDialect(Object.entries(sides)))('the writers of a drift on the dialect %s', (_, open) => {
  test('no apply is listed, whichever key it used; every other write is, also with the key of an apply', async () => {
    const { url, keys, names, write } = await open();
    const ours = make({
      'ostiary.yaml': config(url),
      'access/a.yaml': limited('writers_a', 30),
      'access/b.yaml': limited('writers_b', 60),
    });
    const origin = makeOrigin(ours);
    expect(await run('apply --yes', ours, keys.ci)).toMatchObject({ code: 0 });
    ours.save({ 'access/a.yaml': limited('writers_a', 60) });
    ours.git('push', '--quiet', 'origin', 'main');
    expect(await run('apply --yes', clone(origin), keys.ada)).toMatchObject({ code: 0 });

    await write(keys.ci, 'writers_b', { access_max_duration: 120 });
    for (const key of [keys.ci, keys.ada]) {
      const { code, stdout } = await run('drift --since 1h', clone(origin), key);
      expect(code).toBe(2);
      const lines = stdout.split('\n').filter((line) => /^ +(?:.* {2})?by /.test(line));
      expect(lines).toEqual([expect.stringMatching(new RegExp(`by ${names.ci}, .*PUT /.*connections/`))]);
    }
    // The same key applies again, and is used by hand again; another person writes, too.
    expect(await run('apply --yes', clone(origin), keys.ci)).toMatchObject({ code: 0 });
    await write(keys.ci, 'writers_a', { access_max_duration: 180 });
    await write(keys.ada, 'writers_a', { access_max_duration: 240 });
    const { code, stdout } = await run('drift --since 1h', ours, keys.ada);
    expect([code, stdout]).toEqual([2, expect.not.stringContaining('Connection/writers_b')]);
    const writers = [...stdout.matchAll(/ {2}by ([^,\n]+),/g)].map(([, name]) => name);
    expect(writers).toEqual([names.ada, names.ci]);
    expect(await run('apply --yes --revert Connection/writers_a', ours, keys.ada)).toMatchObject({ code: 0 });
    expect(await run('drift', clone(origin), keys.ci)).toMatchObject({ code: 0 });
  });
});
