import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ostiary } from '../support/cli.ts';
import { json, startFlakyServer, type FlakyServer } from '../support/flaky-server.ts';
import { config, connection, guardrail, manifest, workshop, type Files } from './project.ts';

const makeProject = workshop();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };
let server: FlakyServer;
beforeAll(async () => {
  server = await startFlakyServer(json(200, []));
});
afterAll(() => server.close());

const head = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: orders }\n';
const modes = 'access_mode_connect: enabled, access_mode_exec: enabled, access_mode_runbooks: enabled, access_schema: enabled';
const spec = `type: database, agent_id: default, ${modes}`;

/** A bomb of aliases: ten of ten of ten… */
const bomb = `a: &a [${'x, '.repeat(9)}x]\n${[...'bcdefghi'].map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]}, `.repeat(9)}x]`).join('\n')}\n`;

type Case = readonly [what: string, files: Files, at: string, code: string];

const cases: readonly Case[] = [
  ['YAML that is none', { 'a.yaml': `${head}spec: { type: database\n` }, 'a.yaml:5:1', 'manifest/syntax'],
  ['a tab as indentation', { 'a.yaml': `${head}spec:\n\ttype: database\n` }, 'a.yaml:5:1', 'manifest/syntax'],
  ['a key twice', { 'a.yaml': `${head}spec: { ${spec}, type: custom }\n` }, 'a.yaml:4:167', 'manifest/duplicate-key'],
  ['an alias bomb', { 'a.yaml': bomb }, 'a.yaml:1:1', 'manifest/alias'],
  ['20,000 brackets', { 'a.yaml': '['.repeat(20_000) }, 'a.yaml:1:65', 'manifest/too-deep'],
  ['20,000 dashes', { 'a.yaml': '- '.repeat(20_000) }, 'a.yaml:1:129', 'manifest/too-deep'],
  ['__proto__', { 'a.yaml': `${head}spec: { ${spec}, connection_tags: { __proto__: x } }\n` }, 'a.yaml:4:1', 'manifest/forbidden-key'],
  ['a key that is a list', { 'a.yaml': `${head}spec: { ${spec}, connection_tags: { [a]: x } }\n` }, 'a.yaml:4:1', 'manifest/key'],
  ['a key that is a number', { 'a.yaml': `${head}spec: { ${spec}, connection_tags: { 1: x } }\n` }, 'a.yaml:4:1', 'manifest/key'],
  ['2 MiB', { 'a.yaml': `# ${'x'.repeat(2 * 1024 * 1024)}\n` }, 'a.yaml:1:1', 'manifest/too-large'],
  ['a field that is none', { 'a.yaml': `${head}spec: { ${spec}, reviewer: [dba] }\n` }, 'a.yaml:4:1', 'manifest/unknown-field'],
  ['a kind that is none', { 'a.yaml': manifest('Conection', 'orders', {}) }, 'a.yaml:1:1', 'manifest/unknown-kind'],
  ['another version', { 'a.yaml': head.replace('v1', 'v2') }, 'a.yaml:1:13', 'manifest/version'],
  ['a wrong type', { 'a.yaml': connection('orders', { reviewers: 'dba' }) }, 'a.yaml:1:1', 'manifest/type'],
  ['a rule that is not there', { 'a.yaml': connection('orders', { guardrail_rules: ['no-drop'] }) }, '', 'manifest/dangling-reference'],
  ['a name twice', { 'a.yaml': guardrail('no-drop'), 'b.yaml': guardrail('no-drop') }, 'b.yaml:5:13', 'manifest/duplicate-name'],
  ['a variable that is not set', { 'a.yaml': connection('orders', { secret: { 'envvar:A': { valueFrom: { env: 'OSTIARY_SECRET_NONE' } } } }) }, '', 'secret/undefined-variable'],
  ['a secret file that is not there', { 'a.yaml': connection('orders', { secret: { 'envvar:A': { valueFrom: { file: 'none.pem' } } } }) }, '', 'secret/file-missing'],
  ['a secret in plain text', { 'a.yaml': connection('orders', { secret: { 'envvar:A': 'plain text' } }) }, '', 'secret/plain'],
  ['bytes that are not UTF-8', { 'a.yaml': Buffer.concat([Buffer.from(head), Buffer.from([0x23, 0xff, 0xfe])]) }, 'a.yaml:4:1', 'manifest/not-utf8'],
  ['a file name with a line break', { 'a\nb.yaml': guardrail('no-drop') }, 'a\ufffdb.yaml:1:1', 'manifest/bad-file-name'],
  ['no manifest at all', { 'README.md': 'nothing' }, '', 'manifest/none'],
];

test.concurrent.each(cases)('%s: one diagnostic, and nothing is sent', async (_what, files, at, code) => {
  const below = Object.fromEntries(Object.entries(files).map(([path, text]) => [`access/${path}`, text]));
  const cwd = makeProject({ 'ostiary.yaml': config(server.url), ...below });
  const ended = await ostiary(['apply', '--yes'], { cwd, env });
  console.log(code, '\n', ended.code, ended.stdout, ended.stderr.slice(0, 1500));
});
