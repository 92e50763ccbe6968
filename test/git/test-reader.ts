import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteReader, type Remote, type RemoteOptions, type RemoteRead } from '../../src/git/read-remote.ts';

/** Empty credentials. */
export const noSecrets: Omit<Remote, 'url'> = { user: '', password: '', sshKey: '', sshKeyPassphrase: '' };

/** Reads one repository with a new reader, and closes the reader. */
export type ReadRemote = (remote: Partial<Remote> & Pick<Remote, 'url'>, options?: Partial<RemoteOptions>) => Promise<RemoteRead>;

/** Creates a function that reads repositories, with temporary files in the folder. */
export function createTestReader(tempFolder: string): ReadRemote {
  return async (remote, options = {}) => {
    const env = { PATH: process.env['PATH'] };
    const reader = createRemoteReader({ env, tempFolder, isWanted: (path) => path.includes('.runbook.'), ...options });
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
