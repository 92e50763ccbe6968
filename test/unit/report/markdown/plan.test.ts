import { describe, expect, it } from 'vitest';
import type { AssessedChange } from '../../../../src/model/plan/plan.ts';
import { fileLinks } from '../../../../src/report/links.ts';
import { runReportMarkdown } from '../../../../src/report/markdown/comment.ts';
import { planMarkdown } from '../../../../src/report/reports.ts';
import { planDocument } from '../../../../src/report/subjects/plan.ts';
import { quietPlan } from '../quiet-plan.ts';
import { samplePlan } from '../sample-plan.ts';

function manyChanges(count: number): readonly AssessedChange[] {
  return Array.from({ length: count }, (_, index): AssessedChange => ({
    id: `Connection/db-${index}`,
    action: index % 100 === 0 ? 'delete' : 'update',
    fields: [{ path: '/command', before: { value: [`${index} ${'x'.repeat(300)}`] }, after: { value: [`${index} ${'y'.repeat(300)}`] } }],
    needs: [],
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
  it('says of each of 200 targets that share a comment what its plan does', () => {
    const report = { notes: [], body: planDocument([samplePlan()]), errors: [], others: [], hasErrors: false, version: '1' };
    const room = Math.floor((65_236 - 200 * 192) / 200);
    const section = runReportMarkdown({ ...report, title: 'No plan' }, room);
    expect([section.length <= room, section]).toEqual([true, expect.stringContaining('- Plan for prod: Refused: `plan/too-many-updates`')]);
  });

  it('prints everything a plan can have', async () => {
    await expect(planMarkdown([samplePlan()])).toMatchFileSnapshot('../expected/plan-markdown.txt');
  });

  it('omits details first, keeps headlines and refusals, and states the omission', () => {
    const text = planMarkdown([{ ...samplePlan(), changes: manyChanges(400) }]);
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toMatch(/\n\*\*Shortened to fit:\*\* left out \d+ details\. .*\n\n$/);
    // The four deletions share a line.
    expect(text.match(/^- `[~-]` `/gm)).toHaveLength(397);
    expect(text).toContain('`plan/would-lose-secret`');
  });

  it('omits changes of others before details of the pull request, and those before held drift', () => {
    const held = several(3, { action: 'held', own: false });
    const text = planMarkdown(
      [{ ...samplePlan(), changes: [...several(900, { own: false }), ...several(20, { own: true }), ...held] }],
      30_000,
    );
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(/\n\*\*Shortened to fit:\*\* left out \d+ objects, \d+ lists, 900 details\. /);
    expect(text.match(/^- `~` `Connection\/\d+-true`/gm)).toHaveLength(20);
    expect(text.match(/<code>[~=] Connection/g)).toHaveLength(23);
    expect(text.match(/^#### .*/gm)).toEqual([
      '#### Held: made stricter outside Ostiary; apply keeps these values',
      '#### This pull request',
      '#### Other changes',
    ]);
  });

  it('sorts changes by their risk, and states deletions with the commit that removed their manifests', () => {
    const [one, other] = several(2, {});
    if (one === undefined || other === undefined) throw new Error('two changes');
    const changes: readonly AssessedChange[] = [
      { ...one, id: 'Connection/stronger', risks: [{ code: 'risk/review', class: 'strengthens' }] },
      { ...other, id: 'Connection/weaker', risks: [{ code: 'risk/review', class: 'weakens' }] },
      { ...other, id: 'Connection/gone', action: 'delete', risks: [{ code: 'risk/deleted', class: 'availability' }] },
    ];
    const orphans = [{ id: 'Connection/gone', removedIn: 'b'.repeat(40), subject: 'Drop it' }] as const;
    const linkOf = fileLinks({ page: 'https://github.test/o/r', commit: 'a'.repeat(40), pathOf: (file) => file });
    const text = planMarkdown([{ ...quietPlan(), changes, orphans }], 65_536, linkOf);
    expect([...text.matchAll(/^- `.` `Connection\/(\w+)`/gm)].map(([, name]) => name)).toEqual(['weaker', 'gone', 'stronger']);
    const link = `https://github.test/o/r/commit/${'b'.repeat(10)}`;
    expect(text).toContain(`- \`-\` \`Connection/gone\`, removed in \`bbbbbbb\` "Drop it", availability (deleted)`);
    const { protection } = quietPlan();
    const said = '1 connection is deleted: everybody loses access';
    const causes = [{ by: 'Connection/gone' }] as const;
    const headlines = [{ direction: 'availability', text: said, connections: ['Connection/gone'], tags: {}, causes }] as const;
    const stated = planMarkdown([{ ...quietPlan(), changes, orphans, protection: { ...protection, headlines } }], 65_536, linkOf);
    expect(stated).toContain(`- **${said}** (\`gone\`): removed in [\`bbbbbbb\`](${link}) "Drop it"\n`);
  });

  it.each([8000, 20_000, 60_000])('folds nothing that it omits, in %i characters', (limit) => {
    for (const count of [25, 2000]) {
      const text = planMarkdown([{ ...samplePlan(), changes: manyChanges(count) }], limit);
      expect(text.length).toBeLessThanOrEqual(limit);
      expect(text).not.toMatch(/<\/summary>\s*<\/details>/m);
      expect(text.match(/<details>/g) ?? []).toHaveLength((text.match(/<\/details>/g) ?? []).length);
      for (const [, given, content = ''] of text.matchAll(/<summary>(\d+) more objects<\/summary>([^]*?)\n<\/details>/g))
        expect(content.match(/^- `/gm)).toHaveLength(Number(given));
    }
  });
});
