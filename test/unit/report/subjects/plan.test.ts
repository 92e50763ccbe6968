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

  it('survives JSON', () => {
    const document = planDocument([samplePlan()]).json();
    expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
  });

  it('is the same bytes whatever the order of keys in values', () => {
    const one = { path: '/connection_tags', before: { absent: true }, after: { value: { b: '2', a: '1' } } } as const;
    const other = { ...one, after: { value: { a: '1', b: '2' } } } as const;
    const [first] = samplePlan().changes;
    if (first === undefined) throw new Error('the sample has changes');
    const texts = [one, other].map((field) => planJson([{ ...samplePlan(), changes: [{ ...first, fields: [field] }] }]));
    expect(texts[0]).toBe(texts[1]);
  });

  it('omits the touched values, and derives a patch from them', () => {
    const text = planJson([samplePlan()]);
    expect(text).not.toContain('touched');
    expect(JSON.parse(text)).toMatchObject({
      plans: [
        {
          changes: [
            { patch: [{ op: 'replace', path: '/description' }] },
            {},
            {},
            { patch: [{ op: 'replace', path: '/name', value: 'no-export' }] },
            {},
            {},
          ],
        },
      ],
    });
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
