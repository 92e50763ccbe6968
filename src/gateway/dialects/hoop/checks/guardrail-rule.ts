import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { isObject, type Json } from '../../../../model/json.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import { asArray } from '../../shared/rest.ts';
import type { LicenseLimit } from './check-context.ts';

const sides = ['input', 'output'] as const;

/** Reports patterns that RE2 does not know: the gateway stores any pattern, and fails to run such a one. */
export function checkGuardrailRule(write: ProposedWrite): readonly Diagnostic[] {
  return sides.flatMap((side) =>
    entriesOf(write, side).flatMap((rule) => {
      const pattern = isObject(rule) ? rule['pattern_regex'] : undefined;
      if (typeof pattern !== 'string' || !/\(\?(?:[=!]|<[=!])/.test(pattern.replaceAll(/\\./gs, ''))) return [];
      const message = `the pattern ${JSON.stringify(pattern)} looks around, which RE2 cannot`;
      const hint = 'the gateway would store it and never enforce it; rewrite it';
      return [diagnosticAt(write, `/${side}`, { code: 'hoop/pattern', message, hint })];
    }),
  );
}

/** Lists what the free license does not allow of a guardrail rule. */
export function limitGuardrailRule(write: ProposedWrite): readonly LicenseLimit[] {
  return sides.flatMap((side) => {
    const { length } = entriesOf(write, side);
    const message = `the free licence allows one entry of ${side} rules, and there are ${length}`;
    return length > 1 ? [{ at: `/${side}`, message }] : [];
  });
}

function entriesOf({ spec }: ProposedWrite, side: (typeof sides)[number]): readonly Json[] {
  const value = spec[side];
  return isObject(value) ? asArray(value['rules']) : [];
}
