import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject } from '../../../model/json.ts';
import { pointer } from '../../../model/pointer.ts';
import { connectionProblems } from './connection-problems.ts';
import { tell, type Draft } from '../draft.ts';
import type { Circumstances } from './introduce.ts';
import { maskingProblems } from './masking-problems.ts';
import { runbookProblems } from './runbook-problems.ts';
import { listOf } from '../rest.ts';
import { textProblems } from '../texts.ts';

/** What is wrong with one object that is to be written. */
export function problemsOf(draft: Draft, circumstances: Circumstances): readonly Diagnostic[] {
  return [...textProblems('hoop/nul', draft), ...problemsOfKind(draft, circumstances), ...attributeProblems(draft)];
}

function problemsOfKind(draft: Draft, circumstances: Circumstances): readonly Diagnostic[] {
  switch (draft.kind) {
    case 'Connection':
      return connectionProblems(draft, circumstances);
    case 'DataMaskingRule':
      return maskingProblems(draft);
    case 'GuardrailRule':
      return patternProblems(draft);
    case 'RunbookConfiguration':
      return runbookProblems(draft);
    default:
      return [];
  }
}

// What its database has room for: a longer one fails when all else is saved.
const longestAttribute = 255;

function attributeProblems(draft: Draft): readonly Diagnostic[] {
  return listOf(draft.spec['attributes']).flatMap((attribute) => {
    if (typeof attribute !== 'string') return [];
    if (Array.from(attribute).length > longestAttribute) {
      const message = `an attribute has ${Array.from(attribute).length} characters, more than the gateway has room for`;
      return [tell(draft, pointer('attributes', attribute), { code: 'hoop/too-long', message, hint: `at most ${longestAttribute}` })];
    }
    return isManaged(attribute) ? [managedAttribute(draft, attribute)] : [];
  });
}

/** The gateway sets and removes the attributes of its protection profiles itself. */
function isManaged(attribute: string): boolean {
  return attribute.startsWith('hoop_protection_profile-');
}

function managedAttribute(draft: Draft, attribute: string): Diagnostic {
  return tell(draft, pointer('attributes', attribute), {
    code: 'hoop/managed-attribute',
    message: `the attribute "${attribute}" is managed by the gateway’s protection profile`,
    hint: 'leave it out; it is carried by every write',
  });
}

/** The gateway stores any pattern, and fails to run one that RE2 does not know. */
function patternProblems(draft: Draft): readonly Diagnostic[] {
  return ['input', 'output'].flatMap((side) => {
    const value = draft.spec[side];
    const rules = isObject(value) ? listOf(value['rules']) : [];
    return rules.flatMap((rule) => {
      const pattern = isObject(rule) ? rule['pattern_regex'] : undefined;
      if (typeof pattern !== 'string' || !/\(\?(?:[=!]|<[=!])/.test(pattern.replaceAll(/\\./gs, ''))) return [];
      const message = `the pattern ${JSON.stringify(pattern)} looks around, which RE2 cannot`;
      return [
        tell(draft, `/${side}`, { code: 'hoop/pattern', message, hint: 'the gateway would store it and never enforce it; rewrite it' }),
      ];
    });
  });
}
