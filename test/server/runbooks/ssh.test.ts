import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Remote, RemoteOptions, RemoteRead } from '../../../src/server/rules/runbooks/read-remote.ts';
import { commitFiles, installProgram } from '../../support/git-repository.ts';
import { failureOf, makeFolder, createTestReader } from './test-reader.ts';

const folder = makeFolder();
const tempFolder = makeFolder();
const read = createTestReader(tempFolder);
let commit = '';

beforeAll(async () => {
  commit = await commitFiles(join(folder, 'ops.git'), { 'a.runbook.sh': 'echo a' });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(tempFolder, { recursive: true });
});

// Replaces the ssh program: logs its arguments, then runs the command locally, as a server would.
const ssh = (log: string): string => `
{ echo "args: $@"
  for option in "$@"; do case "$option" in IdentityFile=/*)
    echo "mode: $(stat -c %a "\${option#IdentityFile=}")"; echo "key: $(cat "\${option#IdentityFile=}")" ;; esac; done
  echo "passphrase: $("$SSH_ASKPASS" "Enter passphrase for key 'x': ")"
  echo "password: $("$SSH_ASKPASS" "git@host's password: ")"
  echo "agent: $SSH_AUTH_SOCK"
} >> '${log}' 2>&1
for last; do :; done
eval "$last"
`;

async function readBySsh(
  remote: Partial<Remote> & Pick<Remote, 'url'>,
  options: Partial<RemoteOptions> = {},
): Promise<{ readonly result: RemoteRead; readonly log: string }> {
  const log = join(mkdtempSync(join(folder, 'ssh-')), 'log');
  const env = { ...(await installProgram(`${log}-bin`, 'ssh', ssh(log))), SSH_AUTH_SOCK: '/agent-of-the-user' };
  const result = await read(remote, { env, ...options });
  return { result, log: existsSync(log) ? readFileSync(log, 'utf8') : '' };
}

describe('a repository over ssh', () => {
  test('is read with the key; only the owner can read the key file, and it is deleted afterwards', async () => {
    const { result, log } = await readBySsh({ url: `ssh://host${folder}/ops.git`, sshKey: 'canary-key\nof two lines' });
    expect(result).toMatchObject({ head: { commit } });
    expect(log).toMatch(/^mode: 600$/m);
    expect(log).toContain('key: canary-key\nof two lines\n');
    expect(log).toMatch(/^args: -F \/dev\/null -o IdentityFile=\S+\/key -o IdentitiesOnly=yes -o IdentityAgent=none /m);
    expect(log).toMatch(/-o StrictHostKeyChecking=accept-new/);
    expect(log).toMatch(/-o User=git .* host git-upload-pack/);
    expect(log).toMatch(/^agent: $/m);
    expect(readdirSync(tempFolder)).toEqual([]);
  });

  test('uses the user and the port of the address, and accepts the shorthand', async () => {
    expect((await readBySsh({ url: `ssh://ops@host:2222${folder}/ops.git` })).log).toMatch(/-p 2222 ops@host git-upload-pack/);
    const { result, log } = await readBySsh({ url: `ops@host:${folder}/ops.git` });
    expect(result).toMatchObject({ head: { commit } });
    expect(log).toMatch(/ ops@host git-upload-pack/);
    expect(log).not.toContain('User=git');
    expect(log).toContain('IdentityFile=none');
  });

  test('answers the prompt for the passphrase, and no other prompt', async () => {
    const { log } = await readBySsh({ url: `ssh://host${folder}/ops.git`, sshKey: 'k', sshKeyPassphrase: 'canary', password: 'canary-2' });
    expect(log).toMatch(/^passphrase: canary$/m);
    expect(log).toMatch(/^password: $/m);
    expect(log.match(/^args: .*$/m)?.[0]).not.toContain('canary');
  });

  test('trusts only the given host keys, if there are any', async () => {
    const { log } = await readBySsh({ url: `ssh://host${folder}/ops.git` }, { knownHosts: '/etc/hosts of ops' });
    expect(log).toContain('UserKnownHostsFile=/etc/hosts of ops');
    expect(log).toContain('StrictHostKeyChecking=yes');
  });

  test('that is too large is aborted during the transfer', async () => {
    await commitFiles(join(folder, 'large.git'), { 'x.runbook.sh': randomBytes(4_000_000) });
    const env = await installProgram(
      join(folder, 'slow'),
      'ssh',
      'for last; do :; done; eval "$last" | { dd bs=1k count=3000 2>/dev/null; sleep 600; }',
    );
    const result = await read({ url: `git@host:${folder}/large.git` }, { env, limits: { maxRepositoryBytes: 1_000_000 } });
    expect(failureOf(result)).toBe('it is larger than 1000000 bytes');
  });

  test('reports the error of ssh', async () => {
    const env = await installProgram(join(folder, 'refused'), 'ssh', 'echo "git@host: Permission denied (publickey)." >&2; exit 255');
    expect(failureOf(await read({ url: 'git@host:x' }, { env }))).toBe('git@host: Permission denied (publickey).');
  });
});
