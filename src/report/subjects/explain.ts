import type { JsonObject } from '../../model/json.ts';
import type { ExplainedPart, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import type { ReportDocument } from '../document.ts';
import { positionObject, ruleOnObject, valueObject } from './plan.ts';

/** Returns the document of an explanation. */
export function explainDocument(explanation: Explanation): ReportDocument {
  return {
    json: () => explanationObject(explanation),
    sections: () => [{ blocks: [{ type: 'explanation', explanation }] }],
  };
}

function explanationObject({ id, at, base, summary, rows, rules, policies }: Explanation): JsonObject {
  return {
    id,
    ...(at === undefined ? {} : { at: positionObject(at) }),
    ...(base === undefined ? {} : { base }),
    summary,
    rows: rows.map(rowObject),
    ...(rules === undefined ? {} : { rules: rules.map(ruleOnObject) }),
    ...(policies === undefined ? {} : { policies: policies.map(policyObject) }),
  };
}

function policyObject({ policy, at, result, messages, until, reason }: NonNullable<Explanation['policies']>[number]): JsonObject {
  return {
    policy,
    at: positionObject(at),
    result,
    messages,
    ...(until === undefined ? {} : { until }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function rowObject({ path, desired, live, base, status, origin, at, why, owner, declared, parts }: ExplanationRow): JsonObject {
  return {
    path,
    ...(desired === undefined ? {} : { desired: valueObject(desired) }),
    ...(live === undefined ? {} : { live: valueObject(live) }),
    ...(base === undefined ? {} : { base: valueObject(base) }),
    status,
    ...(origin === undefined ? {} : { origin }),
    ...(at === undefined ? {} : { at: positionObject(at) }),
    why,
    ...(owner === undefined ? {} : { owner }),
    ...(declared === undefined ? {} : { declared }),
    ...(parts === undefined ? {} : { parts: parts.map(partObject) }),
  };
}

function partObject({ path, before, after, origin, at, why }: ExplainedPart): JsonObject {
  return {
    path,
    before: valueObject(before),
    after: valueObject(after),
    ...(origin === undefined ? {} : { origin }),
    ...(at === undefined ? {} : { at: positionObject(at) }),
    ...(why === '' ? {} : { why }),
  };
}
