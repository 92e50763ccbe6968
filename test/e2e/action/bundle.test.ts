import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { builtPackage } from '../../support/cli.ts';
import { commitAll, type StepOptions } from '../../support/workflow.ts';
import { useAction } from './use-action.ts';
import { config, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const bench = useAction(makeProject);

/** A step of a push to a project with one rule. */
function step(inputs: StepOptions['inputs']): StepOptions {
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/rule.yaml': guardrail('no-drop') });
  return { cwd, event: 'push', payload: {}, inputs };
}

describe('the bundle', () => {
  let dist = '';
  beforeAll(async () => {
    dist = join(await builtPackage(), 'dist');
  });

  /** The files that a program of the bundle loads at once, and those that it may load later, without some. */
  function reach(entry: string, pattern: RegExp, without?: RegExp): ReadonlySet<string> {
    const found = new Set<string>();
    const visit = (path: string): void => {
      if (found.has(path) || without?.test(path) === true) return;
      found.add(path);
      for (const [, specifier = ''] of readFileSync(join(dist, path), 'utf8').matchAll(pattern))
        if (specifier.startsWith('.')) visit(relative(dist, join(dist, dirname(path), specifier)));
        else found.add(specifier);
    };
    visit(entry);
    return found;
  }

  const atOnce = /(?:^|;|\n)(?:import|export)\b[\w\s{},*$]*?(?:from\s*)?["']([^"'\s]+)["']/g;

  test('is the file that action.yml names, for Node 24', () => {
    const { runs } = parse(readFileSync('action.yml', 'utf8'));
    expect(runs).toEqual({ using: 'node24', main: 'dist/action.js' });
    expect(readdirSync(dist)).toContain('action.js');
  });

  test('loads neither the gateway nor a package', () => {
    const loaded = [...reach('action.js', atOnce)];
    expect(loaded.filter((path) => path.includes('serve'))).toEqual([]);
    expect(loaded.filter((path) => !path.endsWith('.js') && !isBuiltin(path))).toEqual([]);
    const words = loaded.filter((path) => path.endsWith('.js')).map((path) => readFileSync(join(dist, path), 'utf8'));
    expect(words.filter((text) => text.includes('@electric-sql/pglite'))).toEqual([]);
  });

  test('contains at most 2,900 kB, and no command that a workflow does not run', () => {
    const files = [...reach('action.js', /["'`](\.[^"'`]+\.js)["'`]/g)].filter((path) => path.endsWith('.js'));
    expect(files.filter((path) => /\/(?:serve|fmt|init|completion|review|search)-/.test(path))).toEqual([]);
    expect(files.reduce((sum, path) => sum + statSync(join(dist, path)).size, 0)).toBeLessThanOrEqual(2_900_000);
  });

  test('keeps packages of the action out of all commands but ci, and the client for GitLab out of the action', () => {
    const every = /["'`](\.[^"'`]+\.js)["'`]/g;
    const ofAction = [...reach('action.js', every)].filter((path) => path.endsWith('.js'));
    expect(
      ofAction.filter((path) => readFileSync(join(dist, path), 'utf8').includes('CI_API_V4_URL is') || path.includes('gitlab')),
    ).toEqual([]);
    const loaded = [...reach('cli.js', every, /\/(?:ci|github-system|gitlab-system)-/)].filter((path) => path.endsWith('.js'));
    const words = loaded.map((path) => readFileSync(join(dist, path), 'utf8'));
    expect(words.filter((text) => text.includes('GITHUB_STEP_SUMMARY'))).toEqual([]);
  });
});

test('a wrong input is one failure, and writes nothing', async () => {
  const there = step({ mode: 'plan', 'on-manged': 'skip' });
  commitAll(there.cwd);
  const ended = await bench.bundled(there);
  expect(ended).toMatchObject({ code: 3, outputs: { outcome: 'invalid' }, summary: expect.stringContaining('cli/usage') });
  const errors = ended.stdout.split('\n').filter((line) => line.startsWith('::error'));
  expect(errors).toEqual([expect.stringContaining('unknown input "on-manged"')]);
  expect(bench.github().heard.filter(({ method }) => method !== 'GET')).toEqual([]);
});
