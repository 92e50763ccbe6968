import { addToGroup } from '../../model/collections.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import { plural } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';

type Finding = Pick<Diagnostic, 'code' | 'message' | 'hint' | 'resource' | 'at'> & { readonly severity?: Diagnostic['severity'] };

/** Findings of a policy that differ only in their connection; `message` names a connection only if there is one. */
export type EqualFindings<T> = { readonly first: T; readonly message: string; readonly all: readonly T[] };

/** Merges the findings of policies that differ only in their connection; all others stay alone. The order is that of the first ones. */
export function mergeEqual<T extends Finding>(findings: readonly T[]): readonly EqualFindings<T>[] {
  const groups = new Map<string, T[]>();
  for (const [index, one] of findings.entries()) {
    const { code, severity, hint, resource } = one;
    const isMerged = resource !== undefined && code.startsWith('policy/');
    addToGroup(groups, JSON.stringify(isMerged ? [code, severity, commonMessage(one), hint] : index), one);
  }
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const message = all.length === 1 ? first.message : `${commonMessage(first)}: ${plural(all.length, 'connection')}`;
    return [{ first, message, all }];
  });
}

/** Returns the message without the connection at its beginning. */
function commonMessage({ message, resource }: Finding): string {
  const start = `${resource ?? ''}: `;
  return message.startsWith(start) ? message.slice(start.length) : message;
}

/** The connections that a report lists of equal findings. */
export const mostConnections = 10;

/** Returns the findings that do not refuse a plan, as warnings. */
export function policyWarnings(report: PolicyReport | undefined): readonly Finding[] {
  return (report?.findings ?? []).flatMap(({ severity, result, message, expression, connection, at, error }): readonly Finding[] => {
    if (severity !== 'warning') return [];
    if (error !== undefined) return [{ ...error, resource: connection }];
    const code = result === 'violated' ? 'policy/violated' : 'policy/unknown';
    return [{ code, severity, message: `${message} (${clip(expression, 100)})`, hint: undefined, resource: connection, at }];
  });
}
