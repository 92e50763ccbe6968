import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCache, writeCache } from '../../../src/disk/cache.ts';
import { openJournal } from '../../../src/disk/journal.ts';
import { readSecretFile } from '../../../src/disk/secret-file.ts';
import { requireNoLink, writeReport } from '../../../src/disk/write.ts';
import { AppError } from '../../../src/model/errors.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-files-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array = 'x'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function failureOf(action: () => void): { readonly code: string; readonly exitCode: number; readonly message: string } | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, exitCode: error.exitCode, message: error.message };
    throw error;
  }
  return undefined;
}

describe('readSecretFile', () => {
  it('reads bytes as they are', () => {
    put('certs/ca.pem', Uint8Array.of(0, 0xff, 0x0a));
    expect(readSecretFile(root, 'certs/ca.pem').value).toStrictEqual(Buffer.of(0, 0xff, 0x0a));
    expect(readSecretFile(root, './certs/../certs/ca.pem').value?.length).toBe(3);
  });

  it.each([
    ['../outside', 'secret/file-outside'],
    ['certs/../../outside', 'secret/file-outside'],
    ['/etc/hostname', 'secret/file-outside'],
    ['link-out', 'secret/file-outside'],
    ['link-folder/outside', 'secret/file-outside'],
    ['.git/config', 'secret/file-hidden'],
    ['certs/.env', 'secret/file-hidden'],
    ['link-hidden', 'secret/file-hidden'],
    ['missing', 'secret/file-missing'],
    ['certs', 'secret/file-missing'],
    ['certs/ca.pem/x', 'secret/file-missing'],
    ['', 'secret/file-missing'],
    ['a\0b', 'secret/file-missing'],
    ['large', 'secret/file-too-large'],
    ['private/key', 'secret/file-ignored'],
    ['private/deep/key', 'secret/file-ignored'],
    ['link-ignored', 'secret/file-ignored'],
    ['certs/local.key', 'secret/file-ignored'],
  ])('refuses %s', (path, code) => {
    const repository = join(root, 'repo');
    put('outside');
    put('repo/.git/config');
    put('repo/.gitignore', 'private/\n*.key\n!certs/shared.key\n');
    put('repo/private/.gitignore', '!*\n');
    for (const file of ['certs/ca.pem', 'certs/.env', 'private/key', 'private/deep/key', 'certs/local.key']) put(`repo/${file}`);
    put('repo/large', 'x'.repeat(1_048_577));
    for (const [name, target] of [
      ['link-out', '../outside'],
      ['link-folder', '..'],
      ['link-hidden', '.git/config'],
      ['link-ignored', 'private/key'],
    ] as const) {
      symlinkSync(target, join(repository, name));
    }
    const { value, diagnostics } = readSecretFile(repository, path);
    expect(value).toBeUndefined();
    expect(diagnostics.map((found) => found.code)).toStrictEqual([code]);
  });

  it('reports why a file cannot be read', () => {
    symlinkSync('loop', join(root, 'loop'));
    const [found] = readSecretFile(root, 'loop').diagnostics;
    expect(found).toMatchObject({ code: 'secret/unreadable-file', hint: 'check its permissions' });
  });

  it.skipIf(process.getuid?.() === 0)('reports a file without read permission', () => {
    put('ca.pem');
    chmodSync(join(root, 'ca.pem'), 0);
    const [found] = readSecretFile(root, 'ca.pem').diagnostics;
    expect(found).toMatchObject({ code: 'secret/unreadable-file', message: 'the secret file "ca.pem" cannot be read: permission denied' });
  });

  it('follows all rules of the repository around it, as git does', () => {
    put('.git/HEAD');
    put('.gitignore', '*.pem\n/config/private\n');
    put('config/.gitignore', '!ca.pem\n');
    put('config/deep/.gitignore', 'ca.pem\n');
    for (const file of ['ca.pem', 'key.pem', 'private/x', 'deep/ca.pem', 'deep/x']) put(`config/${file}`);
    const codes = ['ca.pem', 'key.pem', 'private/x', 'deep/ca.pem', 'deep/x'].map(
      (path) => readSecretFile(join(root, 'config'), path).diagnostics[0]?.code,
    );
    expect(codes).toStrictEqual([undefined, 'secret/file-ignored', 'secret/file-ignored', 'secret/file-ignored', undefined]);
  });
});

describe('openJournal', () => {
  it('appends lines to a file of its owner', () => {
    const path = join(root, 'journal');
    for (const line of ['{"a":1}', '{"b":2}']) {
      const journal = openJournal(path);
      journal.append(line);
      journal.close();
    }
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"b":2}\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('ends a line that a crash cut short', () => {
    put('journal', '{"a":1}\n{"b"');
    const journal = openJournal(join(root, 'journal'));
    journal.append('{"c":3}');
    journal.close();
    expect(readFileSync(join(root, 'journal'), 'utf8')).toBe('{"a":1}\n{"b"\n{"c":3}\n');
  });

  it('follows no link to another file', () => {
    put('victim', 'x');
    symlinkSync('victim', join(root, 'journal'));
    expect(failureOf(() => openJournal(join(root, 'journal')))?.message).toContain('it is a symbolic link');
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('x');
  });

  it('writes to devices', () => {
    const journal = openJournal('/dev/null');
    expect(failureOf(() => journal.append('x'))).toBeUndefined();
    journal.close();
  });
});

describe('writeReport', () => {
  it('replaces the whole file and leaves no temporary file', () => {
    put('report.md', 'a longer text than the next');
    chmodSync(join(root, 'report.md'), 0o640);
    writeReport(join(root, 'report.md'), 'short');
    writeReport(join(root, 'fresh.json'), '{}');
    expect(readdirSync(root)).toStrictEqual(['fresh.json', 'report.md']);
    expect(readFileSync(join(root, 'report.md'), 'utf8')).toBe('short');
    expect(statSync(join(root, 'report.md')).mode & 0o777).toBe(0o640);
    expect(statSync(join(root, 'fresh.json')).mode & 0o777).toBe(0o600);
  });

  it('writes to devices', () => {
    writeReport('/dev/null', 'z');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('writes through no link, wherever it leads', () => {
    put('victim', 'x');
    put('project/other');
    for (const target of ['../victim', join(root, 'victim'), 'other', 'nothing', '/dev/null']) {
      symlinkSync(target, join(root, 'project/report'));
      expect(failureOf(() => writeReport(join(root, 'project/report'), 'y'))).toMatchObject({ code: 'report/link', exitCode: 3 });
      rmSync(join(root, 'project/report'));
    }
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('x');
    expect(readdirSync(join(root, 'project'))).toEqual(['other']);
  });

  it('passes no link below the working folder, and any above it', () => {
    put('real/project/out/report');
    symlinkSync('real', join(root, 'alias'));
    symlinkSync('out', join(root, 'real/project/linked'));
    const cwd = join(root, 'alias/project');
    expect(failureOf(() => requireNoLink(join(cwd, 'linked/report'), cwd))?.message).toMatch(/leads through the symbolic link ".*linked"/);
    expect(failureOf(() => requireNoLink(join(cwd, 'linked'), cwd))?.message).toMatch(/linked" is a symbolic link/);
    expect(failureOf(() => requireNoLink(join(cwd, 'out/report'), cwd))).toBeUndefined();
    expect(failureOf(() => requireNoLink(join(root, 'real/project/linked/report'), cwd))).toBeUndefined();
  });
});

describe('caches', () => {
  it('are written for their owner only, and read again', () => {
    const folder = join(root, '.ostiary');
    expect(writeCache(folder, 'secrets', 'x')).toBeUndefined();
    expect(readCache(folder, 'secrets')).toBe('x');
    expect([folder, join(folder, 'secrets')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    chmodSync(folder, 0o777);
    expect(writeCache(folder, 'secrets', 'y')).toBeUndefined();
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  it('are neither written nor read through a link', () => {
    put('elsewhere/secrets', 'x');
    symlinkSync('elsewhere', join(root, '.ostiary'));
    expect(writeCache(join(root, '.ostiary'), 'secrets', 'y')).toBe('it is a link');
    expect(readCache(join(root, '.ostiary'), 'secrets')).toBeUndefined();
    mkdirSync(join(root, 'own'));
    symlinkSync('../elsewhere/secrets', join(root, 'own/secrets'));
    expect(readCache(join(root, 'own'), 'secrets')).toBeUndefined();
    expect(readdirSync(join(root, 'elsewhere'))).toEqual(['secrets']);
    expect(readFileSync(join(root, 'elsewhere/secrets'), 'utf8')).toBe('x');
  });

  it.runIf(process.getuid?.() === 0)('of another user are not used', () => {
    put('.ostiary/secrets', 'x');
    chownSync(join(root, '.ostiary'), 12_345, 12_345);
    expect(writeCache(join(root, '.ostiary'), 'secrets', 'y')).toBe('it belongs to another user');
    expect(readCache(join(root, '.ostiary'), 'secrets')).toBeUndefined();
  });
});
