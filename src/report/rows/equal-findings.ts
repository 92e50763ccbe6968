import { groupBy } from '../../model/collections.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import { escapeTerminal } from '../escape.ts';
import { shortList, shortPosition } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';

type Finding = Pick<Diagnostic, 'code' | 'message' | 'hint' | 'resource' | 'at'> & { readonly severity?: Diagnostic['severity'] };

/** Findings of one kind, and what they say, without a connection where there are several: one or two messages, or the first one with a count. */
export type EqualFindings<T> = { readonly first: T; readonly messages: readonly string[]; readonly all: readonly T[] };

/** Merges the findings of each kind; two of them only if they have the same fix. The order is that of the first ones. */
export function mergeEqual<T extends Finding>(findings: readonly T[]): readonly EqualFindings<T>[] {
  const kinds = [...groupBy(findings, (one): unknown => kindOfFinding(one) ?? one).values()];
  return kinds.flatMap((all): readonly EqualFindings<T>[] => {
    const [first, next] = all;
    if (next === undefined || (all.length === 2 && first.hint !== next.hint))
      return all.map((one) => ({ first: one, messages: [one.message], all: [one] }));
    const messages = [...new Set(all.map(commonMessage))];
    return [{ first, messages: messages.length < 3 ? messages : [`${messages[0] ?? ''}, and ${messages.length - 1} like it`], all }];
  });
}

/** Returns what findings of one kind share: a policy, or the code of a warning. An error is its own kind. */
export function kindOfFinding(one: Finding): string | undefined {
  const { code, severity, message, hint, resource, at } = one;
  if (resource !== undefined && code.startsWith('policy/')) return JSON.stringify([code, severity, commonMessage(one), hint]);
  if (severity === undefined || severity === 'error') return undefined;
  // Without a place, only the message names what a warning is about.
  return JSON.stringify(resource === undefined && at === undefined ? [code, severity, message] : [code, severity]);
}

/** Returns the message without the connection at its beginning. */
function commonMessage({ message, resource }: Finding): string {
  const start = `${resource ?? ''}: `;
  return message.startsWith(start) ? message.slice(start.length) : message;
}

/** The places that a report lists of equal findings. */
export const mostPlaces = 5;

/** Returns where findings are: `Connection/db (access/db.yaml:3), access/rules.yaml:7`; escaped. */
export function placesText(all: readonly Pick<Diagnostic, 'resource' | 'at'>[], { full = false }: { readonly full?: boolean }): string {
  const places = all.map(({ resource, at }) => {
    const position = at === undefined ? '' : shortPosition(at);
    if (resource === undefined) return position;
    return `${escapeTerminal(resource)}${position === '' ? '' : ` (${position})`}`;
  });
  const known = [...new Set(places)].filter((place) => place !== '');
  return shortList(known, full ? known.length : mostPlaces).join(', ');
}

/** Returns the findings that do not refuse a plan, as warnings. */
export function policyWarnings(report: PolicyReport | undefined): readonly Finding[] {
  return (report?.findings ?? []).flatMap(({ severity, result, message, expression, connection, at, error }): readonly Finding[] => {
    if (severity !== 'warning') return [];
    if (error !== undefined) return [{ ...error, resource: connection }];
    const code = result === 'violated' ? 'policy/violated' : 'policy/unknown';
    return [{ code, severity, message: `${message} (${clip(expression, 100)})`, hint: undefined, resource: connection, at }];
  });
}
