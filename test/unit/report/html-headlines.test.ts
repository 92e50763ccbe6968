import { expect, test } from 'vitest';
import { renderHtml } from '../../../src/report/html/page.ts';
import { planDocument } from '../../../src/report/subjects/plan.ts';
import { quietPlan } from './quiet-plan.ts';

test.each([
  ['exposes', 'unprotected'],
  ['reroutes', 'rerouted'],
  ['weakens', 'weaker'],
  ['strengthens', 'stronger'],
] as const)('the page labels a headline that %s as %s', (way, word) => {
  const headline = { way, text: '1 connection changes', connections: ['Connection/orders-db'] as const, tags: {}, causes: [] };
  const page = renderHtml(planDocument([{ ...quietPlan(), protection: { headlines: [headline], connections: [], losing: [] } }]));
  const [item] = /<ul class="headlines">.*?<\/ul>/s.exec(page) ?? [];
  expect(item).toContain(`class="badge ${way}"`);
  expect(item).toMatch(new RegExp(` ${word}</span>`));
});
