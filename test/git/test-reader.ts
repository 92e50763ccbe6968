import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteReader, type Remote, type RemoteOptions, type RemoteRead } from '../../src/git/read-remote.ts';

/** A remote that nothing opens. */
export const noSecrets: Omit<Remote, 'url'> = { user: '', password: '', sshKey: '', sshKeyPassphrase: '' };

/** Reads one repository as a server does that is closed afterwards. */
export type ReadRemote = (remote: Partial<Remote> & Pick<Remote, 'url'>, options?: Partial<RemoteOptions>) => Promise<RemoteRead>;

/** Reads with a folder of its own for what is kept for a while. */
export function createTestReader(scratch: string): ReadRemote {
  return async (remote, options = {}) => {
    const env = { PATH: process.env['PATH'] };
    const reader = createRemoteReader({ env, tempFolder: scratch, isWanted: (path) => path.includes('.runbook.'), ...options });
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
