import type { JsonObject } from '../model/json.ts';
import type { PolicyReport } from '../model/protection/policy.ts';
import { plural } from './wording/counts.ts';
import { escapeTerminal } from './escape.ts';

/** `5 policies on 31 connections as of 2026-11-21: 1 violated, 2 unknown, 1 waived`; nothing without policies. */
export function policiesText(report: PolicyReport | undefined): string {
  if (report === undefined) return '';
  const { today, policies, connections, findings, waived } = report;
  const violated = findings.filter(({ result }) => result === 'violated').length;
  const counts = [
    ...(violated === 0 ? [] : [`${violated} violated`]),
    ...(findings.length === violated ? [] : [`${findings.length - violated} unknown`]),
    ...(waived.length === 0 ? [] : [`${waived.length} waived`]),
  ];
  const many = policies === 1 ? '1 policy' : `${policies} policies`;
  return `${many} on ${plural(connections, 'connection')} as of ${today}: ${counts.length === 0 ? 'all hold' : counts.join(', ')}`;
}

/** What waivers let pass, escaped. */
export function waivedTexts(report: PolicyReport | undefined): readonly string[] {
  return (report?.waived ?? []).map(({ policy, connection, until, reason }) =>
    escapeTerminal(`${connection}: ${policy}, until ${until} (${reason})`),
  );
}

/** What became of policies as the JSON value that the plan's schema describes. */
export function policiesObject({ today, policies, connections, findings, waived }: PolicyReport): JsonObject {
  return {
    today,
    policies,
    connections,
    findings: findings.map(({ policy, connection, result, severity, message, expression, at }) => ({
      policy,
      connection,
      result,
      severity,
      message,
      expression,
      ...(at === undefined ? {} : { at: { file: at.file, line: at.line, column: at.column } }),
    })),
    waived: waived.map(({ policy, connection, result, until, reason }) => ({ policy, connection, result, until, reason })),
  };
}
