import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { shells, type Shell } from '../../../src/commands/completion/scripts.ts';
import { builtPackage, start } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, guardrail, useProjects } from '../project.ts';

const make = useProjects();
const url = 'http://127.0.0.1:8009';
const files = {
  'ostiary.yaml': config({ production: url, preview: url }),
  'access/orders.yaml': connection('orders-db'),
  'access/billing.yaml': connection('billing-db'),
  'access/no-drop.yaml': guardrail('no-drop', ['DROP']),
};

/** The words that are suggested for a command line; its last word is being typed. */
async function suggested(words: readonly string[], cwd = make(files)): Promise<readonly string[]> {
  const { stdout, code } = await ostiaryInProcess(['__suggest', '--', ...words], { cwd });
  expect(code).toBe(0);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/\t.*/, '')]));
}

test('commands, flags, choices, targets, kinds and names are suggested', async () => {
  const cwd = make(files);
  expect(await suggested(['p'], cwd)).toEqual(['pull', 'plan']);
  expect(await suggested(['help', 'dr'], cwd)).toEqual(['drift']);
  expect(await suggested(['plan', '--pru'], cwd)).toEqual(['--prune']);
  expect(await suggested(['plan', '--max-risk', 'neu'], cwd)).toEqual(['neutral']);
  expect(await suggested(['plan', '--target', ''], cwd)).toEqual(['production', 'preview']);
  expect(await suggested(['plan', '--target=pro'], cwd)).toEqual(['--target=production']);
  expect(await suggested(['plan', '--target', '=', 'pro'], cwd)).toEqual(['production']);
  expect(await suggested(['plan', '--target', 'production,'], cwd)).toEqual(['production,preview']);
  expect(await suggested(['plan', '--target', 'production', '--only', 'Conn'], cwd)).toEqual([
    'Connection/billing-db',
    'Connection/orders-db',
  ]);
  expect(await suggested(['explain', 'Guard'], cwd)).toEqual(['GuardrailRule/no-drop']);
  expect(await suggested(['explain', 'Connection/orders-db', 'review'], cwd)).toEqual(['reviewers']);
  expect(await suggested(['get', 'r'], cwd)).toEqual(['rules', 'resources', 'runbooks', 'reviews', 'runbook-rules', 'rulepacks']);
  expect(await suggested(['plan', '--report', 'ht'], cwd)).toEqual(['html=']);
  expect(await suggested(['plan', '--report', 'html='], cwd)).toEqual([':files']);
  expect(await suggested(['apply', 'acc'], cwd)).toEqual([':files']);
  expect(await suggested(['diff', '--yes', ''], cwd)).toEqual([':files']);
});

test('every visible command and flag is suggested', async () => {
  const cwd = make(files);
  const commands = await suggested([''], cwd);
  const help = await ostiaryInProcess(['--help'], { cwd });
  const listed = [...help.stdout.matchAll(/^ {2}([a-z]+)(?:\|([a-z]+))?(?= )/gm)].flatMap(([, ...names]) => names.filter(Boolean));
  expect(listed.length).toBeGreaterThan(10);
  expect(new Set(commands)).toEqual(new Set(listed));
  for (const command of ['plan', 'serve', 'drift']) {
    const { stdout } = await ostiaryInProcess([command, '--help'], { cwd });
    const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
    expect(new Set(await suggested([command, '-'], cwd))).toEqual(new Set(flags));
  }
});

/** How each shell starts with the completion loaded; ^X then writes the command line to a file. */
const startOf: Readonly<Record<Shell, (folder: string) => Readonly<Record<string, string>>>> = {
  bash: (to) => ({ '.bashrc': `PS1='READY '; source <(ostiary completion bash)\nbind -x '"\\C-x": printf %s "$READLINE_LINE" > ${to}'\n` }),
  zsh: (to) => ({
    '.zshrc': `autoload -U compinit; compinit -u -D; source <(ostiary completion zsh)\nshow() { print -rn -- "$BUFFER" > ${to} }; zle -N show; bindkey '^X' show; PS1='READY '\n`,
  }),
  fish: (to) => ({
    '.config/fish/config.fish': `function fish_greeting; end; function fish_prompt; echo -n 'READY '; end; ostiary completion fish | source\nbind \\cx 'commandline > ${to}'\n`,
  }),
};

// bash runs on every machine that these tests run on; the nightly run installs the others.
const asked: readonly Shell[] = process.env['OSTIARY_TEST_SHELLS'] === undefined ? ['bash'] : shells;
const installed = asked.filter((shell) => (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, shell))));

/** Types command lines at the prompt of a shell in a terminal, each without ending it, and returns what became of them. */
async function typed(shell: Shell, lines: readonly string[], cwd = make(files)): Promise<readonly string[]> {
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const seen = join(make({}), 'line');
  const home = make({ ...startOf[shell](seen), 'bin/ostiary': `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n` });
  chmodSync(join(home, 'bin', 'ostiary'), 0o755);
  const path = `${join(home, 'bin')}${delimiter}${process.env['PATH']}`;
  const env = { HOME: home, ZDOTDIR: home, XDG_CONFIG_HOME: join(home, '.config'), TERM: 'xterm', PATH: path };
  const command = { bash: `bash --rcfile ${home}/.bashrc -i`, zsh: 'zsh -i', fish: 'fish -i' }[shell];
  const running = start('script', ['-qec', command, '/dev/null'], { cwd, env, typing: true, patience: 100_000 });
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone() && running.child.exitCode === null && running.child.signalCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await until(() => running.printed().stdout.includes('READY '));
  const results: string[] = [];
  for (const line of lines) {
    running.child.stdin.write(`${line}${control.x}`);
    await until(() => existsSync(seen) && readFileSync(seen, 'utf8') !== '');
    results.push(existsSync(seen) ? readFileSync(seen, 'utf8').trimEnd() : `the shell ended: ${running.printed().stdout}`);
    rmSync(seen, { force: true });
    running.child.stdin.write(control.u);
  }
  running.child.kill();
  await running.ended;
  return results;
}

const control = { u: '\u0015', x: '\u0018' } as const;
test.each(installed)('%s completes commands, flags, targets, names and files', async (shell) => {
  const completed = {
    'ostiary dri\t': 'ostiary drift',
    'ostiary plan --target prod\t--pru\t': 'ostiary plan --target production --prune',
    'ostiary plan --target=prod\t': 'ostiary plan --target=production',
    'ostiary explain Guard\trule': 'ostiary explain GuardrailRule/no-drop rule',
    'ostiary validate acc\tor\t': 'ostiary validate access/orders.yaml',
    'ostiary plan --report ht\tout': 'ostiary plan --report html=out',
  };
  expect(await typed(shell, Object.keys(completed))).toEqual(Object.values(completed));
});

test.each(installed)('%s runs nothing that is written on the command line', async (shell) => {
  const cwd = make(files);
  const [single, double] = await typed(
    shell,
    ["ostiary plan --url '$(touch hit)`touch hit`' --target prod\t", 'ostiary plan --url "$(touch hit)" --target prod\t'],
    cwd,
  );
  expect(single).toContain('--target production');
  expect(double).toContain('$(touch hit)');
  expect(readdirSync(cwd)).not.toContain('hit');
});
