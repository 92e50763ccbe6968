import { type JsonObject, textsIn } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { groupFields } from './permission.ts';

/** The fields in which objects name groups: of the people who use connections, and of those who review. */
const namingFields = [...groupFields, 'reviewers', 'force_approve_groups', 'reviewers_groups', 'force_approval_groups'];

/** Lists the groups that some objects name. */
export function groupsNamedBy(objects: Iterable<{ readonly spec: JsonObject }>): readonly string[] {
  return [...objects].flatMap(({ spec }) => namingFields.flatMap((field) => textsIn(spec[field])));
}

/** The controls whose lists on the gateway name groups. */
const namingControls: readonly ControlType[] = ['who', 'review', 'force', 'approval', 'runbooks', 'attributes'];

/** Returns whether something that is not read may name groups. */
export function hidesGroups({ resources, listed }: ProtectionSnapshot): boolean {
  const paths = new Set(['', ...namingFields.map((field) => pointer(field))]);
  const isHiding = ({ unknown }: { readonly unknown: readonly string[] }): boolean => unknown.some((path) => paths.has(path));
  return namingControls.some((control) => listed.incomplete.has(control)) || [...resources.values()].some(isHiding);
}
