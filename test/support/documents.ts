import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const names = ['plan', 'apply', 'drift', 'test', 'diagnostics', 'pull', 'explain'] as const;

export type DocumentName = (typeof names)[number];

const ajv = new Ajv2020({ strict: true, allErrors: true });

for (const name of names) ajv.addSchema(JSON.parse(readFileSync(`schemas/documents/${name}.schema.json`, 'utf8')));

/** Checks a document that was printed against its schema. */
export function expectValid(name: DocumentName, text: string): void {
  const isValid = ajv.validate(`${name}.schema.json`, JSON.parse(text));
  expect([isValid, ajv.errors]).toEqual([true, null]);
}
