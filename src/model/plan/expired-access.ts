import type { ResourceId } from '../resource.ts';
import type { Allowance, Diff, FieldChange, GrantEnd } from './plan.ts';

/** A group whose access to an object has ended, and that is still live. */
type ExpiredAccess = GrantEnd & { readonly id: ResourceId };

/** Returns the end that removes the group of a field; undefined if something else changes the field. */
export function expiryOf({ ends = [] }: Pick<FieldChange, 'ends'>): GrantEnd | undefined {
  return ends.find(({ ended }) => ended === true);
}

/** Lists the access that has ended and that a plan would remove. */
export function expiredAccess({ changes }: Pick<Diff, 'changes'>): readonly ExpiredAccess[] {
  return changes.flatMap(({ id, fields }) =>
    fields.flatMap((field) => {
      const end = expiryOf(field);
      return end === undefined ? [] : [{ id, ...end }];
    }),
  );
}

/** What may expect access that has ended, or limit its removal: its end was agreed, so they do not keep it. The plan lists what it overrides. */
export const overriddenByEnds: readonly Allowance[] = ['plan/access-test', 'policy/violated', 'plan/too-many-updates'].map((code) => ({
  code,
  reason: 'the access has ended',
}));
