import { describe, expect, it } from 'vitest';
import type { AssessedChange } from '../../../../src/model/plan/plan.ts';
import { planMarkdown } from '../../../../src/report/reports.ts';
import { quietPlan } from '../quiet-plan.ts';
import { samplePlan } from '../sample-plan.ts';

function manyChanges(count: number): readonly AssessedChange[] {
  return Array.from({ length: count }, (_, index): AssessedChange => ({
    id: `Connection/db-${index}`,
    action: index % 100 === 0 ? 'delete' : 'update',
    fields: [{ path: '/command', before: { value: ['x'.repeat(300)] }, after: { value: ['y'.repeat(300)] } }],
    needs: [],
    reasons: [],
    carried: [],
    risks: [],
  }));
}

function several(count: number, given: Partial<AssessedChange>): readonly AssessedChange[] {
  return manyChanges(count).map((change, index) => ({
    ...change,
    action: 'update',
    ...given,
    id: `Connection/${index}-${String(given.own)}`,
  }));
}

describe('planMarkdown', () => {
  it('prints everything a plan can have', async () => {
    await expect(planMarkdown([samplePlan()])).toMatchFileSnapshot('../expected/plan-markdown.txt');
  });

  it('is short without changes', () => {
    expect(planMarkdown([quietPlan()])).toMatch(/^### Plan for `prod`\n\nNo changes\. 46 resources as in the manifests\.\n\nDigest `/);
  });

  it('omits details first, keeps headlines and refusals, and states the omission', () => {
    const text = planMarkdown([{ ...samplePlan(), changes: manyChanges(400) }]);
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toMatch(/^\*\*Left out for length:\*\* \d+ details\. /);
    expect(text.match(/^\| `[~-]` \|/gm)).toHaveLength(400);
    expect(text).toContain('`plan/would-lose-secret`');
  });

  it('omits changes of others before details of the pull request, and those before held drift', () => {
    const held = several(3, { action: 'held', own: false });
    const text = planMarkdown(
      [{ ...samplePlan(), changes: [...several(900, { own: false }), ...several(20, { own: true }), ...held] }],
      30_000,
    );
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(/^\*\*Left out for length:\*\* \d+ table rows, \d+ lists, 900 details\. /);
    expect(text.match(/^\| `~` \| `Connection\/\d+-true`/gm)).toHaveLength(20);
    expect(text.match(/<code>[~=] Connection/g)).toHaveLength(23);
    expect(text.match(/^#### .*/gm)).toEqual([
      '#### Held: tightened by hand, apply leaves it as it is',
      '#### This pull request',
      '#### Apply would also do',
    ]);
  });

  it('sheds table rows by importance', () => {
    const text = planMarkdown([{ ...samplePlan(), changes: manyChanges(2000) }], 20_000);
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text).toMatch(/^\*\*Left out for length:\*\* \d+ table rows, \d+ lists?, \d+ details\. /);
    expect(text.match(/^\| `-` \|/gm)).toHaveLength(20);
  });
});
