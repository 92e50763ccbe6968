import type { Position } from '../model/diagnostic.ts';
import type { JsonObject } from '../model/json.ts';
import type { RuleSampleResults, TargetSampleResults, SampleResult } from '../model/result/sample-result.ts';
import { toJsonText } from './serialize.ts';
import { allRules, countSamples } from './subjects/samples.ts';

/** Results of samples as the JSON that `schemas/documents/test.schema.json` describes. */
export function trialsJson(targets: readonly TargetSampleResults[]): string {
  return toJsonText({
    version: 1,
    counts: { ...countSamples(allRules(targets)) },
    targets: targets.map(({ target, rules }) => ({ target, rules: rules.map(ruleObject) })),
  });
}

function ruleObject({ rule, at, trials, untried, notSimulated }: RuleSampleResults): JsonObject {
  return { rule, at: positionObject(at), samples: trials.map(trialObject), untried, notSimulated };
}

function trialObject({ at, name, side, text, outcome, expected, found, why, hint }: SampleResult): JsonObject {
  return {
    at: positionObject(at),
    ...(name === undefined ? {} : { name }),
    side,
    text,
    outcome,
    expected,
    found,
    ...(why === undefined ? {} : { why }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function positionObject({ file, line, column }: Position): JsonObject {
  return { file, line, column };
}
