import { guardrailManifest as guardrail, words } from '../../../support/risks.ts';
import type { Row } from './credential-rows.ts';
import { own } from './risk-rows.ts';

/** Attributes of connections, whose effect is not compared, and of rules, which they attach; in both directions. */
export const attributeRows: readonly Row[] = [
  ['attributes', own({ attributes: ['pii'] }), own({ attributes: null }), 'neutral neutral'],
  ['one attribute for another', own({ attributes: ['pii'] }), own({ attributes: ['ops'] }), 'neutral neutral'],
  [
    'an attribute that attaches a rule',
    [...own({ attributes: ['pii'] }), guardrail('g', [words('DROP')], { attributes: ['pii'] })],
    [...own({ attributes: null }), guardrail('g', [words('DROP')], { attributes: ['pii'] })],
    'weakens input',
  ],
  [
    'an attribute of a rule',
    [...own({ attributes: ['pii'] }), guardrail('g', [words('DROP')], { attributes: ['pii'] })],
    [...own({ attributes: ['pii'] }), guardrail('g', [words('DROP')], { attributes: [] })],
    'weakens input',
  ],
];
