import { afterAll, beforeAll } from 'vitest';
import type { TestServer, TestServerOptions } from '../support/servers.ts';
import { agentId, callerOf, type CallServer } from './client.ts';

/** A gateway for the tests of one file or one `describe`; it runs from the first test on. */
export type UsedServer = {
  readonly server: TestServer;
  /** Sends a request with the admin key, unless the request names another one. */
  readonly call: CallServer;
  /** The id of its first agent. */
  readonly agent: string;
};

/** Starts a gateway before the first test and stops it after the last one. */
export function useServer(start: (options: TestServerOptions) => Promise<TestServer>, options: TestServerOptions = {}): UsedServer {
  let started: { readonly server: TestServer; readonly agent: string } | undefined;
  const running = (): { readonly server: TestServer; readonly agent: string } => {
    if (started === undefined) throw new Error('the gateway is not started yet');
    return started;
  };
  beforeAll(async () => {
    const server = await start(options);
    const [name] = options.agents ?? ['default'];
    started = { server, agent: await agentId(callerOf(server), name) };
  });
  afterAll(() => started?.server.close());
  return {
    get server() {
      return running().server;
    },
    get agent() {
      return running().agent;
    },
    call: (...request) => callerOf(running().server)(...request),
  };
}
