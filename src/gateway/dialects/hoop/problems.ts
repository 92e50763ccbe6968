import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject } from '../../../model/json.ts';
import { connectionProblems } from './connection-problems.ts';
import { tell, type Draft } from '../draft.ts';
import type { Circumstances } from './introduce.ts';
import { maskingProblems } from './masking-problems.ts';
import { runbookProblems } from './runbook-problems.ts';
import { listOf } from '../rest.ts';
import { nulProblems } from '../texts.ts';

/** What is wrong with one object that is to be written. */
export function problemsOf(draft: Draft, circumstances: Circumstances): readonly Diagnostic[] {
  return [...nulProblems('hoop/nul', draft), ...problemsOfKind(draft, circumstances)];
}

function problemsOfKind(draft: Draft, circumstances: Circumstances): readonly Diagnostic[] {
  switch (draft.kind) {
    case 'Connection':
      return [...connectionProblems(draft, circumstances), ...managedAttributes(draft)];
    case 'DataMaskingRule':
      return [...maskingProblems(draft), ...managedAttributes(draft)];
    case 'GuardrailRule':
      return [...patternProblems(draft), ...managedAttributes(draft)];
    case 'RunbookConfiguration':
      return runbookProblems(draft);
    default:
      return [];
  }
}

/** The gateway sets and removes the attributes of its protection profiles itself. */
function managedAttributes(draft: Draft): readonly Diagnostic[] {
  return listOf(draft.spec['attributes']).flatMap((attribute) => {
    if (typeof attribute !== 'string' || !attribute.startsWith('hoop_protection_profile-')) return [];
    const message = `the attribute "${attribute}" is managed by the gateway’s protection profile`;
    return [
      tell(draft, `/attributes/${attribute}`, {
        code: 'hoop/managed-attribute',
        message,
        hint: 'leave it out; it is carried by every write',
      }),
    ];
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
