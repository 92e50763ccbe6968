import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { snapshotPlan } from '../../../src/protection/posture/diff-postures.ts';
import { buildProtectionMatrix } from '../../../src/protection/protection-matrix.ts';
import { planJson, planMarkdown, planText } from '../../../src/report/reports.ts';
import { renderHtml } from '../../../src/report/html/page.ts';
import { renderMarkdown } from '../../../src/report/markdown/markdown.ts';
import { driftDocument } from '../../../src/report/subjects/drift.ts';
import { planDocument } from '../../../src/report/subjects/plan.ts';
import { renderReportText } from '../../../src/report/text/text.ts';
import { plainPalette } from '../../../src/report/wrap.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connection } from '../../support/manifests.ts';
import { memoryGateway } from '../../support/memory-gateway.ts';
import { planAgainst } from '../../support/run-pipeline.ts';

test('long values are shortened in every report for people, and whole in JSON', async () => {
  const large = 'x y'.repeat(100_000);
  const words = Array.from({ length: 3000 }, (_, index) => `word-${index}`);
  const wanted = connection('orders-db', { subtype: 'postgres' });
  const rules = [
    { name: large.slice(0, 9000), type: 'deny_words_list', words: [...words, large] },
    { name: 'pattern', type: 'pattern_match', pattern_regex: large },
  ];
  const gateway = memoryGateway({
    registry,
    agents: ['default'],
    resources: [
      { id: 'GuardrailRule/words', spec: { description: large, input: { rules } } },
      {
        id: 'Connection/orders-db',
        spec: {
          ...wanted.spec,
          reviewers: [large],
          connection_tags: { [large]: large },
          command: [large],
          guardrail_rules: ['words'],
        },
      },
    ],
  });
  const desired = desiredState([wanted, { kind: 'GuardrailRule', metadata: { name: 'words' }, spec: { input: { rules: [] } } }]);
  const { plan, live } = await planAgainst(gateway, desired);
  const drift = { plan, pending: 0, unfinished: 0, protection: plan.protection };
  const lengths = {
    text: planText([plan], { color: plainPalette }).length,
    markdown: planMarkdown([plan]).length,
    html: renderHtml(planDocument([plan], { matrix: buildProtectionMatrix(plan, snapshotPlan(plan, live, registry)) })).length,
    drift: renderReportText(driftDocument([drift]), { color: plainPalette }).length,
    issue: renderMarkdown(driftDocument([drift])).length,
  };
  for (const length of Object.values(lengths)) expect(length).toBeLessThan(60_000);
  expect(planText([plan], { color: plainPalette })).toContain('… (300000 characters)');
  expect(planJson([plan])).toContain(large);
});

test.each(['changed', 'unchanged'])('the page of a plan with 50,000 %s connections has less than 2 MB and 500 rows', async (which) => {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: [{ id: 'Connection/db', spec: connection('db').spec }] });
  const { plan, live } = await planAgainst(gateway, desiredState([connection('db', { reviewers: ['dba'] })]));
  const { columns, rows } = buildProtectionMatrix(plan, snapshotPlan(plan, live, registry));
  const [row] = rows;
  if (row?.direction === undefined) throw new Error('the connection is not changed');
  const one = which === 'changed' ? row : { ...row, direction: undefined };
  const many = Array.from({ length: 50_000 }, (_, index) => ({ ...one, connection: `Connection/connection-${index}` }) as const);
  const html = renderHtml(planDocument([plan], { matrix: { columns, rows: many } }));
  expect([html.length < 2_000_000, html.split('<tr').length < 500]).toEqual([true, true]);
});
