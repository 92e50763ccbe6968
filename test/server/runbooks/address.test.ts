import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { array, assert, constantFrom, property } from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readAddress } from '../../../src/server/rules/runbooks/remote-access.ts';
import { runCount } from '../../support/property-runs.ts';
import { installProgram } from '../../support/git-repository.ts';
import { failureOf, makeFolder, createTestReader } from './test-reader.ts';

const folder = makeFolder();
const read = createTestReader(folder);
afterAll(() => rmSync(folder, { recursive: true }));

describe('readAddress', () => {
  test.each([
    'ext::sh -c touch% canary',
    'ext::sh',
    'fd::17',
    '--upload-pack=touch canary',
    '-u',
    'ssh://-oProxyCommand=touch/x',
    'ssh://git@-oProxyCommand=touch/x',
    'ssh://-l@host/x',
    'ssh://host/-x',
    'git@-host:x',
    'git@host:-x',
    '-git@host:x',
    'host:-x',
    'https://user:secret@host/x',
    'https://user@host/x',
    'ssh://user:secret@host/x',
    'ftp://host/x',
    'file:///etc',
    'javascript:alert(1)',
    '/etc',
    '../x',
    '',
    'https://',
    'https://host/a b',
    'https://host/a\nb',
    'https://host\\@other/x ',
  ])('%j is refused before git runs', async (url) => {
    const env = await installProgram(join(folder, 'never'), 'git', `touch '${folder}/canary'; exit 1`);
    expect(failureOf(await read({ url }, { env }))).toMatch(/address/);
    expect(existsSync(join(folder, 'canary'))).toBe(false);
  });

  test('an accepted address never contains an option, a helper or a secret', () => {
    const parts = constantFrom(
      '-',
      '--',
      'u',
      'ext::',
      '::',
      ':',
      '://',
      '/',
      '@',
      'ssh',
      'https',
      'git',
      'host',
      '.',
      ' ',
      '\n',
      "'",
      '=',
      '~',
    );
    const urls = array(parts, { maxLength: 12 }).map((chosen) => chosen.join(''));
    assert(
      property(urls, (url) => {
        const result = readAddress(url);
        if ('problem' in result) return;
        expect(url).not.toMatch(/^-|\s|^\w+:\/\/-|@-|^[^/]*::|^https?:\/\/[^/]*@/);
        expect(['https', 'http', 'ssh', 'git']).toContain(result.address.scheme);
      }),
      { numRuns: runCount(7_000) },
    );
  });
});
