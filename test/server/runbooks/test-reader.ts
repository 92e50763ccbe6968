import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseNetwork, type AllowedNetwork } from '../../../src/server/rules/runbooks/host-problem.ts';
import { mayRevealSecret } from '../../../src/gateway/http/reveal-secrets.ts';
import { createRemoteReader, type Remote, type RemoteOptions, type RemoteRead } from '../../../src/server/rules/runbooks/read-remote.ts';

/** Empty credentials. */
export const noSecrets: Omit<Remote, 'url'> = { user: '', password: '', sshKey: '', sshKeyPassphrase: '' };

/** Loopback, where the servers of the tests run. */
export const loopback: readonly AllowedNetwork[] = ['127.0.0.0/8', '::1'].flatMap((text) => {
  const network = parseNetwork(text);
  return network === undefined ? [] : [network];
});

/** Gives `localhost` its address, and every other host a public one. */
function resolve(host: string): Promise<readonly string[]> {
  return Promise.resolve([host === 'localhost' ? '127.0.0.1' : publicAddress]);
}

export const publicAddress = '8.8.4.4';

/** Reads one repository with a new reader, and closes the reader. */
export type ReadRemote = (remote: Partial<Remote> & Pick<Remote, 'url'>, options?: Partial<RemoteOptions>) => Promise<RemoteRead>;

/** Creates a function that reads repositories, with temporary files in the folder. */
export function createTestReader(tempFolder: string): ReadRemote {
  return async (remote, options = {}) => {
    const env = { PATH: process.env['PATH'] };
    const reader = createRemoteReader({
      env,
      tempFolder,
      isWanted: (path) => path.includes('.runbook.'),
      mayRevealSecret,
      allowedNetworks: loopback,
      resolve,
      ...options,
    });
    try {
      return await reader.read({ ...noSecrets, ...remote });
    } finally {
      await reader.close();
    }
  };
}

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'remotes-'));
}

export function failureOf(result: RemoteRead): string {
  return 'failure' in result ? result.failure : 'none';
}
