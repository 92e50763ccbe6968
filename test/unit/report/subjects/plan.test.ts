import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { planDocument } from '../../../../src/report/subjects/plan.ts';
import { planJson } from '../../../../src/report/reports.ts';
import { compactJson } from '../../../support/compact-json.ts';
import { quietPlan } from '../quiet-plan.ts';
import { samplePlan } from '../sample-plan.ts';

const schema: object = JSON.parse(readFileSync('schemas/documents/plan.schema.json', 'utf8'));
const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);

describe('planDocument', () => {
  it('matches the schema', async () => {
    const text = planJson([samplePlan(), quietPlan()]);
    expect([validate(JSON.parse(text)), validate.errors]).toStrictEqual([true, null]);
    await expect(`${compactJson(JSON.parse(text))}\n`).toMatchFileSnapshot('../expected/plan.json');
  });

  it('shows no control character raw', () => {
    const plan = { ...quietPlan(), unmanaged: ['Connection/\u0085\u202e\u2028\u{e0001}x'] as const };
    const text = planJson([plan]);
    expect(text).toContain(String.raw`Connection/\u0085\u202e\u2028\udb40\udc01x`);
    expect(JSON.parse(text)).toStrictEqual(planDocument([plan]).json());
  });

  it('rejects a document with an unknown word', () => {
    expect(validate({ ...planDocument([]).json(), secrets: [] })).toBe(false);
  });
});
