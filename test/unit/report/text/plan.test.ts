import { describe, expect, it } from 'vitest';
import { planText } from '../../../../src/report/reports.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { quietPlan } from '../quiet-plan.ts';
import { samplePlan } from '../sample-plan.ts';

const remark = 'keepsthelivevalueofsecret.envvar:HOST,secret.envvar:USER';

const parts = (text: string): readonly string[] => text.replaceAll(/\s+/g, '').split(remark);

describe('planText', () => {
  it('prints everything a plan can have, in the same words for each width', async () => {
    const [narrow = '', ...others] = [48, 80, undefined].map((columns) => planText([samplePlan()], { color: plainPalette, columns }));
    await expect(narrow).toMatchFileSnapshot('../expected/plan-48.txt');
    // A remark stands beside the name where it fits, and below the differences elsewhere.
    expect(parts(narrow)).toHaveLength(2);
    for (const text of others) expect([parts(text).length, parts(text).join('')]).toEqual([2, parts(narrow).join('')]);
  });

  it('breaks no line without a width', () => {
    const text = planText([samplePlan()], { color: plainPalette, columns: undefined });
    expect(text).toContain(
      '\n  plan/would-lose-secret  manifests/billing.yaml:19:5  Connection/billing-db: the live value of envvar:KEY cannot be seen, and the write would wipe it\n',
    );
  });

  it('names the override of refusals with the same code once', () => {
    const refusals = (
      [
        ['plan/access-test', 'orders: denied'],
        ['plan/access-test', 'support: denied'],
        ['plan/too-many-deletes', 'protected'],
      ] as const
    ).map(([code, message]) => ({ code, message, hint: '', allowable: true }));
    const text = planText([{ ...quietPlan(), refusals }], { color: plainPalette, columns: undefined });
    expect(text.match(/override.*/g)).toEqual([
      'override all 2: --allow plan/access-test=REASON',
      'override: --allow plan/too-many-deletes=REASON',
    ]);
  });

  it('gives each target a section', () => {
    const other = { ...quietPlan(), target: { ...quietPlan().target, name: 'staging' } };
    const text = planText([quietPlan(), other], { color: plainPalette, columns: 80 });
    expect(text.match(/^Plan for \w+(?=: No changes\.)/gm)).toEqual(['Plan for prod', 'Plan for staging']);
  });
});
