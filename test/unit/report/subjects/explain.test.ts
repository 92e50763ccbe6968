import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../../../src/model/result/drift.ts';
import { explainDocument } from '../../../../src/report/subjects/explain.ts';
import { renderJson } from '../../../../src/report/serialize.ts';
import { renderReportText } from '../../../../src/report/text/text.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { expectValid } from '../../../support/documents.ts';

const explanation: Explanation = {
  id: 'Connection/billing-db',
  at: { file: 'manifests/billing.yaml', line: 12, column: 1 },
  summary: 'apply updates it: differs',
  rows: [
    { path: '/type', desired: { value: 'database' }, live: { value: 'database' }, base: { value: 'database' }, status: 'same', why: '' },
    {
      path: '/access_mode_exec',
      desired: { value: 'disabled' },
      live: { value: 'enabled' },
      base: { value: 'enabled' },
      status: 'differs',
      at: { file: 'manifests/billing.yaml', line: 19, column: 5 },
      why: 'the manifest changed since the last apply',
    },
    {
      path: '/reviewers',
      desired: { value: ['dba-team', 'security'] },
      live: { value: ['dba-team', 'night-shift'] },
      base: { value: ['dba-team'] },
      status: 'differs',
      at: { file: 'overlays/prod/billing.yaml', line: 6, column: 14 },
      why: 'declared in the manifest',
      parts: [
        {
          path: '/reviewers/night-shift',
          before: { value: 'night-shift' },
          after: { absent: true },
          origin: 'held',
          why: 'held: changed outside Ostiary; apply keeps it; --revert Connection/billing-db reverts it',
        },
        {
          path: '/reviewers/security',
          before: { absent: true },
          after: { value: 'security' },
          origin: 'pending',
          why: 'pending: an earlier merge changed it; not applied yet',
        },
        { path: '/reviewers/sre', before: { absent: true }, after: { value: 'sre' }, why: '' },
      ],
    },
    {
      path: '/connection_tags',
      desired: { value: { env: 'prod', team: 'a' } },
      live: { value: { env: 'test', team: 'a', tier: '1' } },
      base: { value: { env: 'prod', team: 'a' } },
      status: 'differs',
      why: '',
      parts: [
        {
          path: '/connection_tags/env',
          before: { value: 'test' },
          after: { value: 'prod' },
          origin: 'drift',
          why: 'drift: changed outside Ostiary',
        },
        { path: '/connection_tags/tier', before: { value: '1' }, after: { absent: true }, why: '' },
      ],
    },
    {
      path: '/command',
      live: { value: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-h', '$HOST'] },
      status: 'derived',
      why: 'the gateway fills it in for postgres',
    },
    {
      path: '/secret/envvar:PASS',
      desired: { secret: 'env:OSTIARY_SECRET_X', state: 'differs' },
      live: { secret: 'live', state: 'differs' },
      status: 'secret',
      why: 'its value is never shown',
    },
    {
      path: '/guardrail_rules/night',
      live: { value: 'night' },
      status: 'foreign',
      why: 'no manifest declares it, so it is unmanaged; every write keeps it',
    },
  ],
};

describe('an explanation as text', () => {
  it('prints a table for 60 columns', async () => {
    const text = renderReportText(explainDocument(explanation), { color: plainPalette, columns: 60 });
    await expect(text).toMatchFileSnapshot('../expected/explain-60.txt');
  });

  it('is a document of its schema', () => {
    expectValid('explain', renderJson(explainDocument(explanation)));
  });
});

it('prints a name that looks like a mark as it is: no control character, and not bold', () => {
  const rules = [
    { rule: 'GuardrailRule/\ufdd7\u001b]0;x\ufdd0', verbs: [], after: { controls: [], by: [] }, before: { controls: [], by: [] } } as const,
  ];
  const printed = renderReportText(explainDocument({ ...explanation, rules }), { columns: 80, color: plainPalette });
  expect(printed).not.toContain('\u001b');
  expect(printed).toContain(String.raw`GuardrailRule/\ufdd7\u001b]0;x\ufdd0  does nothing`);
});
