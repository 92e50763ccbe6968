import { startPostgresServer, type TestServer, type TestServerOptions } from '../support/servers.ts';
import { ostiary, type Ended } from '../support/cli.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import type { CallServer } from '../server/client.ts';
import { useServer } from '../server/use-server.ts';

type Run = (line: string, cwd: string, more?: Readonly<Record<string, string>>) => Promise<Ended>;

/** A gateway for the tests of one file, and the ways to call it. */
export type Gateway = {
  readonly url: () => string;
  /** What a command sees of the environment. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Runs one command in this process: quick. */
  readonly run: Run;
  /** Runs one command of the built CLI, in a process of its own. */
  readonly process: Run;
  readonly call: CallServer;
  /** Whether it has a connection. */
  readonly isLive: (name: string) => Promise<boolean>;
  readonly reviewersOf: (name: string) => Promise<unknown>;
  /** The names in one of its lists. */
  readonly names: (path: string) => Promise<readonly string[]>;
  readonly server: () => TestServer;
};

/** Starts a gateway before the first test of a file and stops it after the last one. */
export function useGateway(options: TestServerOptions = {}): Gateway {
  const used = useServer(startPostgresServer, options);
  const env = (): Readonly<Record<string, string>> => ({ OSTIARY_TOKEN: used.server.key });
  return {
    url: () => used.server.url,
    env,
    run: (line, cwd, more = {}) => ostiaryInProcess(line.split(' '), { cwd, env: { ...env(), ...more } }),
    process: (line, cwd, more = {}) => ostiary(line.split(' '), { cwd, env: { ...env(), ...more } }),
    call: used.call,
    isLive: async (name) => (await used.call('GET', `/connections/${name}`)).status === 200,
    reviewersOf: async (name) => (await used.call('GET', `/connections/${name}`)).body['reviewers'],
    async names(path) {
      const { list } = await used.call('GET', path);
      return list.flatMap(({ name }) => (typeof name === 'string' ? name : []));
    },
    server: () => used.server,
  };
}
