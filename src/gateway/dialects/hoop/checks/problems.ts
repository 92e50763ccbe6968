import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { isObject } from '../../../../model/json.ts';
import { pointer } from '../../../../model/pointer.ts';
import { checkConnection } from './connection.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import type { CheckContext } from '../handshake.ts';
import { checkMaskingRule } from './data-masking-rule.ts';
import { checkRunbookConfiguration } from './runbook-configuration.ts';
import { asArray } from '../../shared/rest.ts';
import { checkTexts } from '../../shared/check-texts.ts';

/** What is wrong with one object that is to be written. */
export function checkWrite(draft: ProposedWrite, circumstances: CheckContext): readonly Diagnostic[] {
  return [...checkTexts('hoop/nul', draft), ...problemsOfKind(draft, circumstances), ...checkAttributes(draft)];
}

function problemsOfKind(draft: ProposedWrite, circumstances: CheckContext): readonly Diagnostic[] {
  switch (draft.kind) {
    case 'Connection':
      return checkConnection(draft, circumstances);
    case 'DataMaskingRule':
      return checkMaskingRule(draft);
    case 'GuardrailRule':
      return checkGuardrailRule(draft);
    case 'RunbookConfiguration':
      return checkRunbookConfiguration(draft);
    default:
      return [];
  }
}

// What its database has room for: a longer one fails when all else is saved.
const maxAttributeLength = 255;

function checkAttributes(draft: ProposedWrite): readonly Diagnostic[] {
  return asArray(draft.spec['attributes']).flatMap((attribute) => {
    if (typeof attribute !== 'string') return [];
    if (Array.from(attribute).length > maxAttributeLength) {
      const message = `an attribute has ${Array.from(attribute).length} characters, more than the gateway has room for`;
      return [
        diagnosticAt(draft, pointer('attributes', attribute), { code: 'hoop/too-long', message, hint: `at most ${maxAttributeLength}` }),
      ];
    }
    return isManaged(attribute) ? [managedAttribute(draft, attribute)] : [];
  });
}

/** The gateway sets and removes the attributes of its protection profiles itself. */
function isManaged(attribute: string): boolean {
  return attribute.startsWith('hoop_protection_profile-');
}

function managedAttribute(draft: ProposedWrite, attribute: string): Diagnostic {
  return diagnosticAt(draft, pointer('attributes', attribute), {
    code: 'hoop/managed-attribute',
    message: `the attribute "${attribute}" is managed by the gateway’s protection profile`,
    hint: 'leave it out; it is carried by every write',
  });
}

/** The gateway stores any pattern, and fails to run one that RE2 does not know. */
function checkGuardrailRule(draft: ProposedWrite): readonly Diagnostic[] {
  return ['input', 'output'].flatMap((side) => {
    const value = draft.spec[side];
    const rules = isObject(value) ? asArray(value['rules']) : [];
    return rules.flatMap((rule) => {
      const pattern = isObject(rule) ? rule['pattern_regex'] : undefined;
      if (typeof pattern !== 'string' || !/\(\?(?:[=!]|<[=!])/.test(pattern.replaceAll(/\\./gs, ''))) return [];
      const message = `the pattern ${JSON.stringify(pattern)} looks around, which RE2 cannot`;
      return [
        diagnosticAt(draft, `/${side}`, {
          code: 'hoop/pattern',
          message,
          hint: 'the gateway would store it and never enforce it; rewrite it',
        }),
      ];
    });
  });
}
