import { expect, test } from 'vitest';
import { renderHtml } from '../../../src/report/html/page.ts';
import { planDocument } from '../../../src/report/subjects/plan.ts';
import type { Plan } from '../../../src/model/plan/plan.ts';
import type { Cause, Headline } from '../../../src/model/protection/protection.ts';
import { changeOf } from '../protection/protection-fixtures.ts';
import { quietPlan } from './quiet-plan.ts';

/** The list of headlines on the page of a plan with one headline. */
function headlineOf(direction: Headline['direction'], causes: readonly Cause[], plan: Partial<Plan> = {}): string {
  const headline = { direction, text: '1 connection changes', connections: ['Connection/orders-db'], tags: {}, causes } as const;
  const page = renderHtml(planDocument([{ ...quietPlan(), ...plan, protection: { headlines: [headline], connections: [], losing: [] } }]));
  return /<ul class="headlines">.*?<\/ul>/s.exec(page)?.[0] ?? '';
}

test.each([
  ['exposes', 'without review'],
  ['reroutes', 'credentials or code rerouted'],
  ['weakens', 'weaker'],
  ['strengthens', 'stronger'],
] as const)('the page labels a headline that %s as %s', (direction, word) => {
  const item = headlineOf(direction, []);
  expect(item).toContain(`class="badge ${direction}"`);
  expect(item).toMatch(new RegExp(` ${word}</span>`));
});

test('the page shows a line that causes a headline several times once, and counts the lines beyond three', () => {
  const places = ['a.yaml:19:15', 'a.yaml:19:20', 'a.yaml:20:3', 'b.yaml:1:1', 'b.yaml:2:1', 'b.yaml:3:1'];
  const item = headlineOf(
    'weakens',
    places.map((place) => ({ by: 'Connection/orders-db', place })),
  );
  expect([...item.matchAll(/[ab]\.yaml:\d+/g)].map(([line]) => line)).toEqual(['a.yaml:19', 'a.yaml:20', 'b.yaml:1']);
  expect(item).toContain(' and 2 more');
});

test('the page names a deletion once: in its headline with the commit that removed the manifest, or beside the headlines', () => {
  const ids = ['Connection/orders-db', 'GuardrailRule/no-drop'] as const;
  const changes = ids.map((id) => ({ ...changeOf(id, []), action: 'delete', risks: [] }) as const);
  const orphans = ids.map((id) => ({ id, removedIn: 'b'.repeat(40), subject: 'Drop <it>' }));
  const causes = ids.map((by) => ({ by }));
  const items = headlineOf('availability', causes, { changes, orphans })
    .split('</li>')
    .map((item) => item.replaceAll(/<[^>]*>/g, ''));
  const removed = 'removed in bbbbbbb &#34;Drop &#60;it&#62;&#34;';
  expect(items).toEqual([
    expect.stringMatching(new RegExp(`1 connection changes orders-db · ${removed} · GuardrailRule/no-drop ${removed}$`)),
    `Deletes 1 object GuardrailRule/no-drop ${removed}`,
    '',
  ]);
  // A headline that is also about other connections states no deletion.
  const [first, ...others] = headlineOf('availability', causes.slice(1), { changes: changes.slice(1), orphans: orphans.slice(1) }).split(
    '<li',
  );
  expect([first, others.length]).toEqual(['<ul class="headlines">', 2]);
});

test.each(['availability', 'reroutes', 'exposes', 'unknown'] as const)('the page finds changes of the class %s under its name', (risk) => {
  const plan = quietPlan();
  const change = { ...changeOf('Connection/orders-db', []), risks: [{ code: 'risk/deleted', class: risk }] } as const;
  const page = renderHtml(planDocument([{ ...plan, changes: [change] }]));
  expect(page).toContain(`data-name="connection/orders-db" data-direction="${risk}"`);
  expect(page).toContain(`<option value="${risk}">`);
});
