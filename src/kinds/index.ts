// Generated from the schemas by `npm run generate`; do not edit.
import type { Kind, Registry } from '../model/kind.ts';
import { accessRequestRule } from './access-request-rule.ts';
import { attribute } from './attribute.ts';
import { connection } from './connection.ts';
import { dataMaskingRule } from './data-masking-rule.ts';
import { guardrailRule } from './guardrail-rule.ts';
import { runbookConfiguration } from './runbook-configuration.ts';
import { runbookRule } from './runbook-rule.ts';

const kinds: readonly Kind[] = [
  accessRequestRule,
  attribute,
  connection,
  dataMaskingRule,
  guardrailRule,
  runbookConfiguration,
  runbookRule,
];

/** All kinds by name. */
export const registry: Registry = new Map(kinds.map((kind) => [kind.name, kind]));
