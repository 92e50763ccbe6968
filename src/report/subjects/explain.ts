import { definedFields, type JsonObject } from '../../model/json.ts';
import type { ExplainedPart, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import type { ReportDocument } from '../document.ts';
import { positionObject, ruleOnObject, valueObject } from './plan.ts';

/** Returns the document of an explanation. */
export function explainDocument(explanation: Explanation): ReportDocument {
  const { id, at, summary } = explanation;
  return {
    json: () => explanationObject(explanation),
    sections: () => [
      {
        verdict: { before: '', name: id, after: `: ${summary}` },
        ...(at === undefined ? {} : { place: { where: `${at.file}:${at.line}` } }),
        blocks: [{ type: 'explanation', explanation }],
      },
    ],
  };
}

function explanationObject({ id, at, base, summary, rows, rules, policies }: Explanation): JsonObject {
  return definedFields({
    id,
    at: at && positionObject(at),
    base,
    summary,
    rows: rows.map(rowObject),
    rules: rules?.map(ruleOnObject),
    policies: policies?.map(policyObject),
  });
}

function policyObject({ policy, at, result, messages, until, reason }: NonNullable<Explanation['policies']>[number]): JsonObject {
  return definedFields({ policy, at: positionObject(at), result, messages, until, reason });
}

function rowObject({ path, desired, live, base, status, origin, at, why, owner, declared, parts }: ExplanationRow): JsonObject {
  return definedFields({
    path,
    desired: desired && valueObject(desired),
    live: live && valueObject(live),
    base: base && valueObject(base),
    status,
    origin,
    at: at && positionObject(at),
    why,
    owner,
    declared,
    parts: parts?.map(partObject),
  });
}

function partObject({ path, before, after, origin, at, why }: ExplainedPart): JsonObject {
  return definedFields({
    path,
    before: valueObject(before),
    after: valueObject(after),
    origin,
    at: at && positionObject(at),
    ...(why === '' ? {} : { why }),
  });
}
