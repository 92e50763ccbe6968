import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { actionInputs, argvOf, actionModes, optionsOf, readInputs, type ActionInputs } from '../../../src/ci/inputs.ts';

function inputs(given: Readonly<Record<string, string>>): Promise<ActionInputs> {
  return readInputs(Object.fromEntries(Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])));
}

const action = parse(readFileSync('action.yml', 'utf8'));

describe('action.yml', () => {
  test('declares the inputs that the action reads', () => {
    expect(Object.keys(action.inputs).toSorted()).toEqual(actionInputs.toSorted());
  });

  test('every input that the step does not obey itself is an option of a command', async () => {
    const options = await Promise.all(actionModes.map(optionsOf));
    const own = 'mode cache comment github-token issue sarif status working-directory overrides environment assignees labels paths'.split(
      ' ',
    );
    expect(actionInputs.filter((name) => !own.includes(name) && !options.some((one) => one.has(name)))).toEqual([]);
  });

  test.each(actionModes)('has the defaults of the action in mode %s', async (mode) => {
    const defaults = Object.entries<{ default?: string }>(action.inputs).flatMap(([name, one]) =>
      one.default === undefined || name === 'github-token' ? [] : [[name, one.default]],
    );
    expect(await inputs({ mode, ...Object.fromEntries(defaults) })).toEqual(await inputs({ mode }));
  });
});

describe('inputs', () => {
  test('become the command line', async () => {
    const given = await inputs({
      mode: 'plan',
      target: '--prod',
      only: 'Connection/a\n  Connection/b\n',
      paths: 'access/one\naccess/two',
      prune: 'false',
      origin: 'false',
      comment: 'false',
    });
    expect(given).toMatchObject({ mode: 'plan', comment: false });
    expect(argvOf(given, 'plan', ['--report=json=x'])).toEqual([
      'plan',
      '--target=--prod',
      '--only=Connection/a',
      '--only=Connection/b',
      '--no-origin',
      '--no-prune',
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
    [{ mode: 'plan', origin: '1' }, 'invalid value "1" for the input "origin"'],
    [{ mode: 'plan', 'detailed-exitcode': 'true' }, 'unknown input "detailed-exitcode"'],
    [{ mode: 'plan', targt: 'prod' }, 'unknown input "targt"'],
    [{ mode: 'plan', on_managed: 'skip' }, 'unknown input "on_managed"'],
    [{ mode: 'plan', sarif: '-' }, 'invalid value "-" for the input "sarif"'],
    [{ mode: 'plan', 'working-directory': '-' }, 'invalid value "-" for the input "working-directory"'],
    [{ mode: 'plan', journal: 'x' }, 'the input "journal" has no effect with mode: plan'],
    [{ mode: 'validate', allow: 'a/b=c' }, 'the input "allow" has no effect with mode: validate'],
  ])('%j is one clear failure', async (given, message) => {
    await expect(inputs(given)).rejects.toThrow(message);
  });
});
