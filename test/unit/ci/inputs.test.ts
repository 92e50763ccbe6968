import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { actionInputs, argvOf, flagInputs, actionModes, readInputs, type ActionInputs } from '../../../src/ci/inputs.ts';
import { run } from '../../../src/program.ts';
import { createTestContext } from '../../support/cli-context.ts';

function inputs(given: Readonly<Record<string, string>>): ActionInputs {
  return readInputs(Object.fromEntries(Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])));
}

const action = parse(readFileSync('action.yml', 'utf8'));

/** The flags of a command as its help names them. */
async function flagsOf(command: string): Promise<readonly string[]> {
  const { context, printed } = createTestContext({ columns: 200 });
  await run([command, '--help'], context);
  return [...printed().both.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name = '']) => name.replace(/^no-(?!color|new-access)/, ''));
}

describe('action.yml', () => {
  test('declares the inputs that the action reads', () => {
    expect(Object.keys(action.inputs).toSorted()).toEqual(actionInputs.toSorted());
  });

  test.each(actionModes)('the options of %s are inputs of the action, or options of ostiary ci alone', async (mode) => {
    const meant = Object.entries(flagInputs).flatMap(([name, { of, becomes }]) => (of.includes(mode) && becomes !== 'words' ? [name] : []));
    // A job has no terminal and cannot confirm; its output is the log; it knows where its files are and how long a comment may be.
    const others = ['color', 'no-color', 'quiet', 'full', 'verbose', 'help', 'yes', 'format', 'link-base', 'max-length'];
    const isListed = (name: string): boolean => !others.includes(name) && flagInputs[name.replace(/^no-/, '')]?.becomes !== 'either';
    const either = meant.filter((name) => flagInputs[name]?.becomes === 'either');
    expect([...(await flagsOf(mode)).filter(isListed), ...either].toSorted()).toEqual(meant.toSorted());
  });

  test('has the defaults of the action', () => {
    const defaults = Object.entries<{ default?: string }>(action.inputs).flatMap(([name, one]) =>
      one.default === undefined || name === 'github-token' ? [] : [[name, one.default]],
    );
    expect(inputs({ mode: 'plan', ...Object.fromEntries(defaults) })).toEqual(inputs({ mode: 'plan' }));
  });
});

describe('inputs', () => {
  test('become the command line', () => {
    const given = inputs({
      mode: 'plan',
      target: '--prod',
      only: 'Connection/a\n  Connection/b\n',
      paths: 'access/one\naccess/two',
      'no-new-access': 'true',
      origin: 'false',
      comment: 'false',
    });
    expect(given).toMatchObject({ mode: 'plan', comment: false });
    expect(argvOf(given, 'plan', ['--report=json=x'])).toEqual([
      'plan',
      '--target=--prod',
      '--only=Connection/a',
      '--only=Connection/b',
      '--no-new-access',
      '--no-origin',
      '--report=json=x',
      '--',
      'access/one',
      'access/two',
    ]);
    expect(argvOf(given, 'validate')).toEqual([
      'validate',
      '--target=--prod',
      '--only=Connection/a',
      '--only=Connection/b',
      '--',
      'access/one',
      'access/two',
    ]);
  });

  test.each<readonly [Readonly<Record<string, string>>, string]>([
    [{}, 'missing required input "mode"'],
    [{ mode: 'aply' }, 'invalid value "aply" for the input "mode"'],
    [{ mode: 'plan', comment: 'yes' }, 'invalid value "yes" for the input "comment"'],
    [{ mode: 'plan', comment: 'True' }, 'invalid value "True" for the input "comment"'],
    [{ mode: 'plan', 'no-new-access': '1' }, 'invalid value "1" for the input "no-new-access"'],
    [{ mode: 'plan', 'detailed-exitcode': 'true' }, 'unknown input "detailed-exitcode"'],
    [{ mode: 'plan', targt: 'prod' }, 'unknown input "targt"'],
    [{ mode: 'plan', on_managed: 'skip' }, 'unknown input "on_managed"'],
    [{ mode: 'plan', sarif: '-' }, 'invalid value "-" for the input "sarif"'],
    [{ mode: 'plan', 'working-directory': '-' }, 'invalid value "-" for the input "working-directory"'],
    [{ mode: 'plan', journal: 'x' }, 'the input "journal" has no effect with mode: plan'],
    [{ mode: 'validate', allow: 'a/b=c' }, 'the input "allow" has no effect with mode: validate'],
  ])('%j is one clear failure', (given, message) => {
    expect(() => inputs(given)).toThrow(message);
  });
});
