import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/model/errors.ts';
import { pathForTarget, requirePathPerTarget, selectTargets } from '../../../src/project/resolved-config.ts';

const context = { env: {}, cwd: '/' };

describe('selectTargets', () => {
  it('returns undefined for a single target', () => {
    expect(selectTargets({}, context)).toBeUndefined();
    expect(selectTargets({ target: 'staging' }, context)).toBeUndefined();
  });

  it.each([
    { allTargets: true, target: 'staging' },
    { allTargets: true, plan: 'plan.json' },
    { allTargets: true, digest: 'none' },
    { allTargets: true, url: 'https://gateway.example.com' },
    { target: 'staging,' },
    { target: 'staging,staging' },
    { target: 'staging,production' },
  ])('rejects %o', (selector) => {
    expect(() => selectTargets(selector, context)).toThrow(UsageError);
  });
});

describe('files of several targets', () => {
  it('have the target in their names', () => {
    expect(pathForTarget('out/{target}/{target}.json', 'eu-west')).toBe('out/eu-west/eu-west.json');
    expect(pathForTarget('{target}.json', '../a b')).toBe('..-a-b.json');
  });

  it('must not be the same file', () => {
    expect(() => requirePathPerTarget(['{target}.json', 'plan.json'])).toThrow('several targets would use the same file "plan.json"');
    expect(() => requirePathPerTarget(['{target}.json'])).not.toThrow();
  });
});
