import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { applyDocument } from '../../../../src/report/subjects/apply.ts';
import type { AppliedPlan } from '../../../../src/report/document.ts';
import { applyJson, applyMarkdown, applyText } from '../../../../src/report/reports.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { samplePlan } from '../sample-plan.ts';

const schema: object = JSON.parse(readFileSync('schemas/documents/apply.schema.json', 'utf8'));
const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);

const applied: AppliedPlan = {
  plan: samplePlan(),
  result: {
    interrupted: true,
    outcomes: [
      { id: 'GuardrailRule/no-drop', action: 'update', status: 'done' },
      { id: 'Connection/orders-db', action: 'create', status: 'done' },
      { id: 'Connection/sandbox', action: 'update', status: 'already' },
      {
        id: 'Connection/billing-db',
        action: 'update',
        status: 'failed',
        code: 'api/forbidden',
        message: 'PUT https://gateway.example.com/api/connections/billing-db: 403 the role "auditor" may not write',
        hint: 'use a token whose role is admin',
      },
      { id: 'DataMaskingRule/pii', action: 'create', status: 'skipped', message: 'needs Connection/billing-db, which failed' },
      { id: 'Connection/payroll-db', action: 'blocked', status: 'blocked', message: 'managed by terraform' },
      { id: 'Connection/last', action: 'delete', status: 'interrupted' },
      {
        id: 'Connection/new',
        action: 'create',
        status: 'interrupted',
        begun: true,
        code: 'apply/interrupted',
        message: 'created, still closed: interrupted before opening',
      },
    ],
  },
};

describe('applyText', () => {
  it('states the outcome of each object', async () => {
    await expect(applyText([applied], { color: plainPalette, columns: 80 })).toMatchFileSnapshot('../expected/apply-80.txt');
  });
});

describe('applyDocument', () => {
  it('matches the schema', () => {
    const document: unknown = JSON.parse(applyJson([applied]));
    expect([validate(document), validate.errors]).toStrictEqual([true, null]);
    expect(document).toStrictEqual(applyDocument([applied]).json());
    expect(document).toMatchObject({
      targets: [
        {
          allowed: [
            { code: 'plan/too-many-deletes', reason: 'quarterly clean-up, agreed in #412' },
            { code: 'plan/window', reason: 'at night' },
          ],
        },
      ],
    });
  });
});

describe('applyMarkdown', () => {
  it('puts failures first', async () => {
    await expect(applyMarkdown([applied])).toMatchFileSnapshot('../expected/apply-markdown.txt');
  });

  it('keeps failures in a cut report', () => {
    const outcomes = Array.from(
      { length: 3000 },
      (_, index) => ({ id: `Connection/db-${index}`, action: 'update', status: 'done' }) as const,
    );
    const text = applyMarkdown([{ ...applied, result: { ...applied.result, outcomes: [...outcomes, ...applied.result.outcomes] } }]);
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain('`api/forbidden`');
    expect(text).toMatch(/^### Apply to `prod`/);
    expect(text).toMatch(/\*\*Shortened to fit:\*\* left out \d+ objects\.\n\n$/);
  });
});
