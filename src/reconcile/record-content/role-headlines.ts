import { addToGroup, joinWords } from '../../model/collections.ts';
import { textsIn } from '../../model/json.ts';
import { type WatchedChange, shownValue, type Value } from '../../model/plan/plan.ts';
import { bearsRoles, isAuthSetting } from '../../model/protection/access-objects.ts';
import type { Headline } from '../../model/protection/protection.ts';
import { kindOf, nameOf } from '../../model/resource.ts';

/** What each role gives, whatever connections there are. */
const powers: Readonly<Record<string, string>> = {
  admin: 'an admin, who reaches every connection',
  auditor: 'an auditor, who sees every connection',
};

const mostNames = 3;

/** Returns headlines for those who become admins or auditors, or are none any more, and one for another way to sign in. */
export function roleHeadlines(changes: readonly WatchedChange[]): readonly Headline[] {
  const names = new Map<string, string[]>();
  for (const { id, fields } of changes.filter((one) => bearsRoles(kindOf(one.id))))
    for (const { before, after } of fields) {
      for (const role of rolesIn(after)) addToGroup(names, `weakens ${role}`, nameOf(id));
      for (const role of rolesIn(before)) addToGroup(names, `strengthens ${role}`, nameOf(id));
    }
  const found = [...names].flatMap(([key, all]): readonly Headline[] => {
    const [direction, role = ''] = key.split(' ');
    const { [role]: power = role } = powers;
    const who = namesText(all);
    if (direction === 'weakens') return [headline('weakens', `makes ${who} ${power}`)];
    return [headline('strengthens', `${who} ${all.length === 1 ? 'is' : 'are'} no longer ${power.split(',')[0] ?? role}`)];
  });
  const isOtherSignIn = changes.some(({ id }) => isAuthSetting(id));
  return [...found, ...(isOtherSignIn ? [headline('unknown', 'sign-in settings change in a way that cannot be compared')] : [])];
}

function headline(direction: Headline['direction'], text: string): Headline {
  return { direction, text, connections: [], tags: {}, causes: [] };
}

function rolesIn(side: Value): readonly string[] {
  return textsIn([shownValue(side) ?? null].flat()).filter((role) => Object.hasOwn(powers, role));
}

function namesText(names: readonly string[]): string {
  const more = names.length - mostNames;
  return joinWords([...names.slice(0, mostNames), ...(more > 0 ? [`${more} more`] : [])]);
}
