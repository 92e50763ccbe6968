import { describe, expect, it } from 'vitest';
import { chooseObjects, readDetails, selectLive } from '../../../src/import/choose-objects.ts';
import { liveOf, stateOf } from '../../support/resources.ts';

const a = liveOf('Connection/a');
const b = liveOf('Connection/b', { managedBy: 'platform' });
const c = liveOf('Connection/c', { leftOut: ['secrets'] });
const state = stateOf(a, b, c);

describe('selectLive', () => {
  it('returns the selected ids, or undefined without a selection', () => {
    expect(selectLive({}, state)).toBeUndefined();
    expect(selectLive({ only: ['Connection/a'] }, state)).toEqual(new Set(['Connection/a']));
    expect(selectLive({ only: ['*/?'], exclude: ['Connection/b'] }, state)).toEqual(new Set(['Connection/a', 'Connection/c']));
  });

  it('suggests a live name for an unknown one', () => {
    expect(() => selectLive({ only: ['Connection/aa'] }, state)).toThrow('the gateway has no "Connection/aa"');
    expect(() => selectLive({ tag: ['env=prod'] }, state)).toThrow('the gateway has no connection with the tag "env=prod"');
  });
});

describe('chooseObjects', () => {
  it('chooses objects without a manifest and without a manager', () => {
    const { ids, managed } = chooseObjects(state, new Set(['Connection/a']), undefined);
    expect([...ids]).toEqual(['Connection/c']);
    expect(managed).toEqual([{ id: 'Connection/b', why: 'managed', reason: 'managed by platform' }]);
  });

  it('chooses only requested objects', () => {
    expect([...chooseObjects(state, new Set(), new Set(['Connection/a', 'Connection/b'])).ids]).toEqual(['Connection/a']);
  });
});

describe('readDetails', () => {
  it('reads incomplete objects one at a time, and drops those that are gone', async () => {
    const totals: number[] = [];
    let steps = 0;
    const gone = liveOf('Connection/gone', { leftOut: ['secrets'] });
    const whole = liveOf('Connection/c', { spec: { type: 'database' } });
    const readOne = (one: { readonly id: string }): Promise<typeof whole | undefined> =>
      Promise.resolve(one.id === 'Connection/c' ? whole : undefined);
    const after = await readDetails(stateOf(a, c, gone), [a, c, gone], {
      gateway: { readOne },
      concurrency: 1,
      track: (total, work) => {
        totals.push(total);
        return work(() => {
          steps += 1;
        });
      },
    });
    expect(after.resources).toEqual([a, whole]);
    expect({ totals, steps }).toEqual({ totals: [2], steps: 2 });
  });
});
