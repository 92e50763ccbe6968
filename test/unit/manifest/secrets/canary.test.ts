import { inspect } from 'node:util';
import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { readConfig } from '../../../../src/manifest/read-config.ts';
import { connection, load, manifest, sources } from '../manifest-fixtures.ts';

const canary = 'Canary-7f3a9-Hunter2';
const encoded = Buffer.from(canary).toString('base64');

/** Ways to write a secret of a connection: right, wrong, and wrong so that the text cannot be read. */
const secrets: readonly (readonly string[])[] = [
  ['secret:', `  envvar:PASS: { value: "${canary}" }`],
  ['secret:', '  envvar:PASS:', `    value: ${canary}`],
  ['secret:', '  envvar:PASS:', '    value: |', `      first`, `      ${canary}: x`, '      last'],
  ['secret:', `  envvar:PASS: ${canary}`],
  ['secret:', `  envvar:PASS: ${encoded}`],
  ['secret:', `  envvar:PASS: { valeu: ${canary} }`],
  ['secret:', `  envvar:PASS: { value: [${canary}] }`],
  ['secret:', `  envvar:PASS: [${canary}]`],
  ['secret:', `  PASS: ${canary}`],
  ['secret:', `  # it was ${canary}`, '  envvar:PASS: { value: 5 }'],
  ['secret:', `  envvar:PASS: { valueFrom: { env: "${canary}" } }`],
  ['secret:', `  envvar:PASS: { keep: ${canary} }`],
  ['secret:', `  envvar:PASS: { value: "_envjson:${canary}" }`],
  [`secret: { "envvar:A": { value: ${canary} }, "envvar:B": 5, x: 1 }`],
  [`secret: { "envvar:A":`, `    ${canary}, "envvar:B": 1 }`],
  [`secret: ${canary}`],
  [`secret: [${canary}]`],
  [`secrets: { "envvar:PASS": ${canary} }`],
  [`git_password: ${canary}`],
  [`default_database: ${canary}`],
  ['secret:', `  envvar:PASS: "${canary}`],
  ['secret:', `  envvar:PASS: ${canary}: x`],
  ['secret:', `  envvar:PASS: *${canary}`],
  ['secret:', `  envvar:PASS: !x ${canary}`],
  ['secret:', '  filesystem:KEY:', '    value: |', `-----BEGIN ${canary}`, canary, '-----END'],
  ['secret:', `  envvar:PASS: { value: ${canary}`],
  ['secret:', `\tenvvar:PASS: ${canary}`],
];

/** Errors next to the secret, whose code frames show the lines around them. */
const neighbours: readonly (readonly string[])[] = [
  [],
  ['reviewers: x'],
  ['bogus: 1'],
  ['tags: [a, a]'],
  ['subtype: postgress'],
  ['tags: [a'],
  ['a: &x 1'],
];

/** Returns every text that could be printed for a value. */
function printed(value: unknown): string {
  return `${JSON.stringify(value)}\n${inspect(value, { depth: null, showHidden: true, getters: true })}`;
}

const shown = /7f3a9|Q2FuYXJ5/;

test.each(secrets.map((lines) => lines.join('\n')))('%s is never shown', (text) => {
  for (const before of neighbours) {
    for (const after of neighbours) expect(printed(load(connection('a', ...before, ...text.split('\n'), ...after)))).not.toMatch(shown);
  }
});

test('a secret is never shown, whatever text surrounds it', () => {
  const lines = array(constantFrom(...secrets, ...neighbours), { maxLength: 4 });
  assert(
    property(
      lines,
      array(constantFrom(...secrets), { maxLength: 2 }),
      constantFrom('Connection', 'Conection', 'RunbookConfiguration'),
      (first, second, kind) => {
        const other = manifest(kind, 'b', ...first.flat());
        const files = sources({ 'a.yaml': `${connection('a', ...first.flat())}---\n${other}`, 'b.yaml': other });
        expect(printed(load({}, { files, overlays: [sources({ 'o.yaml': manifest(kind, 'a', ...second.flat()) })] }))).not.toMatch(shown);
      },
    ),
  );
});

test('a bare string for a plain secret, and credentials in a URL, are never shown', () => {
  for (const line of [`git_password: ${canary}`, `ssh_key: |\n    ${canary}\n    x`, `ssh_key: { value: ${canary} }`]) {
    expect(printed(load(manifest('RunbookConfiguration', 'a', line, 'git_url: 5')))).not.toMatch(shown);
    expect(printed(load(manifest('RunbookConfiguration', 'a', 'git_url: https://h/x', line, 'git_hook_ttl: x')))).not.toMatch(shown);
  }
  for (const url of [`https://me:${canary}@h/x`, `https://${canary}@h/x`, `https://me:${canary}@h x`]) {
    expect(printed(load(manifest('RunbookConfiguration', 'a', `git_url: "${url}"`)).diagnostics)).not.toMatch(shown);
  }
});

test('a token in the config file is never shown', () => {
  for (const target of [
    `token: ${canary}`,
    `token: { value: ${canary} }`,
    `tokn: ${canary}`,
    `url: https://me:${canary}@h`,
    `token: [${canary}`,
  ]) {
    const text = `apiVersion: ostiary/v1\nkind: Config\ntargets:\n  prod:\n    url: https://h\n    ${target}\n    auth: x\n`;
    const swapped = target.startsWith('url') ? text.replace('    url: https://h\n', '') : text;
    const checked = readConfig({ path: 'ostiary.yaml', text: swapped }, '/x');
    expect(checked.value).toBeUndefined();
    expect(printed(checked)).not.toMatch(shown);
  }
});
