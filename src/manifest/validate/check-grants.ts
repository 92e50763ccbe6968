import type { DesiredResource } from '../../model/desired.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { asArray, isObject } from '../../model/json.ts';
import { overlapTest, pointer, tokensOf } from '../../model/pointer.ts';
import { grantedName } from '../../model/protection/timed-grants.ts';
import { hasEnded, isEnd, nearEndText } from '../../model/time.ts';
import type { Manifest } from '../manifest.ts';

/** When ends of access are checked, and what an end that is over is: an error of a change, or a warning where the drift reports it. */
export type GrantCheck = { readonly now: string; readonly ended: 'error' | 'warning' };

/** Reports access that has ended, and warns of access that ends soon. */
export function checkGrants(
  { view, spec }: Manifest,
  { grants = [], ignore }: Pick<DesiredResource, 'grants' | 'ignore'>,
  { now, ended }: GrantCheck,
): readonly DocumentDiagnostic[] {
  return grants.flatMap(({ path, group, until }): readonly DocumentDiagnostic[] => {
    // Another check reports an invalid end.
    if (!isEnd(until)) return [];
    const [name = ''] = tokensOf(path);
    const field = view.plain.find((one) => one.name === name) ?? {};
    const index = asArray(spec[name]).findIndex((element) => isObject(element) && grantedName(field, element) === group);
    const place = pointer('spec', name, String(index), 'until');
    const whose = `the access of ${group}`;
    if (hasEnded(until, now)) {
      const message = `${whose} ended on ${until} (today is ${now.slice(0, 10)})`;
      const hint = overlapTest(ignore)(pointer(name))
        ? `the manifest ignores ${name}, so nothing takes it away: take it away on the gateway, or remove ${pointer(name)} from ignore`
        : 'remove the entry, or move its end';
      return [{ code: 'manifest/grant-ended', severity: ended, pointer: place, message, hint }];
    }
    const ending = nearEndText(until, now);
    if (ending === undefined) return [];
    const hint = 'after that, the plan is refused: remove the entry by then, or move its end';
    return [{ code: 'manifest/grant-ending', severity: 'warning', pointer: place, message: `${whose} ${ending}`, hint }];
  });
}
