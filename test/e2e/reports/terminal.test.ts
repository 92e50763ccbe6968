import { afterEach, describe, expect, test } from 'vitest';
import { type ChaosEffect, createGate } from '../../support/chaos.ts';
import type { Ended, Running } from '../../support/cli.ts';
import { hasTerminal, shows, startOnTerminal, type TerminalOptions } from '../../support/terminal.ts';
import { config, guardrail, useProjects, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => chaos(request) });
const makeProject = useProjects();
afterEach(() => {
  chaos = () => undefined;
});

function onTerminal(args: string, options: TerminalOptions): Promise<Running> {
  return startOnTerminal(args, { ...options, env: { ...gateway.env(), ...options.env } });
}

function rules(prefix: string, count: number): Files {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
  return Object.fromEntries(names.map((name) => [`access/${name}.yaml`, guardrail(name)]));
}

/** The output without the line ends of a terminal. */
function plainOf({ stdout }: Ended): string {
  return stdout.replaceAll('\r\n', '\n');
}

const plainTerminals: readonly (readonly [what: string, options: Omit<TerminalOptions, 'cwd'>])[] = [
  ['TERM=dumb', { env: { TERM: 'dumb' } }],
  ['width 0', { columns: 0 }],
];

describe.runIf(hasTerminal)('a terminal that does not move the cursor', () => {
  test.each(plainTerminals)('%s: question, progress and results are plain lines', async (what, options) => {
    const prefix = what.replaceAll(/\W/g, '-').toLowerCase();
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...rules(prefix, 2) });
    const gate = createGate();
    chaos = ({ path }) => (path === '/serverinfo' ? { until: gate.passed } : undefined);
    const running = await onTerminal('apply --concurrency 1', { cwd, ...options });
    await shows(running, 'connecting to');
    gate.open();
    await shows(running, 'Write 2 objects to');
    running.child.stdin.write('y\n');
    const ended = await running.ended;
    expect(ended.code).toBe(0);
    const text = plainOf(ended);
    for (const character of ['\r', '\u001b']) expect(text).not.toContain(character);
    expect(text).toContain(`connecting to ${gateway.url()} …\n`);
    expect(text).toMatch(/Write 2 objects to production \(\S+\)\? \[y\/N\] y\n/);
    expect(text).toContain('\n1/2 done\n2/2 done\n');
    expect(text).toContain(': 2 created.');
  });

  test.each([
    ['no', 'n\n'],
    ['Ctrl-C', '\u0003'],
  ])('%s: exit 6, and nothing is written', async (_what, keys) => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...rules('declined', 1) });
    const running = await onTerminal('apply', { cwd, env: { TERM: 'dumb' } });
    await shows(running, '[y/N] ');
    running.child.stdin.write(keys);
    const ended = await running.ended;
    expect(ended.code).toBe(6);
    expect(plainOf(ended)).toMatch(/\nerror apply\/declined {2}canceled: nothing was applied\n/);
    expect(await gateway.names('/guardrails')).not.toContain('declined-1');
  });
});

/** Fails the first list, and asks to wait. */
function failOnce(): void {
  let failed = false;
  chaos = ({ path }) => {
    if (path !== '/guardrails' || failed) return undefined;
    failed = true;
    return { status: 503, retryAfter: 1 };
  };
}

describe('a retry', () => {
  const line = /GET http:\S+\/guardrails: the gateway failed \(503, "chaos"\); retrying in 1\.\d s\r?\n/;

  test.runIf(hasTerminal)('shows what is retried, why and when on a terminal, unless --quiet', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...rules('retried', 1) });
    failOnce();
    const { code, stdout } = await (await onTerminal('plan', { cwd })).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(line);
    failOnce();
    expect((await (await onTerminal('plan --quiet', { cwd })).ended).stdout).not.toContain('retrying');
  });
});
