import { describe, expect, it } from 'vitest';
import { planText } from '../../../../src/report/reports.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { quietPlan } from '../quiet-plan.ts';
import { samplePlan } from '../sample-plan.ts';

describe('planText', () => {
  it.each([
    ['plan-80', 80],
    ['plan-48', 48],
    ['plan-unlimited', undefined],
  ])('prints %s', async (name, columns) => {
    const text = planText([samplePlan()], { color: plainPalette, columns });
    await expect(text).toMatchFileSnapshot(`../expected/${name}.txt`);
  });

  it('states in one line that nothing changes', async () => {
    await expect(planText([quietPlan()], { color: plainPalette, columns: 80 })).toMatchFileSnapshot('../expected/plan-quiet.txt');
  });

  it('gives each target a section', () => {
    const other = { ...quietPlan(), target: { ...quietPlan().target, name: 'staging' } };
    const text = planText([quietPlan(), other], { color: plainPalette, columns: 80 });
    expect(text.match(/^Plan for \w+(?=: No changes\.)/gm)).toEqual(['Plan for prod', 'Plan for staging']);
  });
});
