import { overlaps, pointer, type Pointer } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { attachingAttributes } from '../access/deciding-kinds.ts';
import { fieldsRead, ruleControlTypes } from '../controls/control-table.ts';
import { hiddenFields } from '../effective/effective.ts';
import { type ProtectionSnapshot, type ResourceSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/** Leaves ignored fields that decide access out of a connection; rules keep theirs, because these say what they may govern. */
export function withoutIgnored(resource: ResourceSnapshot, id: ResourceId, ignore: readonly Pointer[]): ResourceSnapshot {
  const fields = fieldsRead(kindOf(id));
  const hidden = fields.filter((field) => ignore.some((path) => overlaps(path, pointer(field))));
  if (hidden.length === 0) return resource;
  const unknown = [...resource.unknown, ...hidden.map((field) => pointer(field))];
  if (ruleControlTypes(kindOf(id)).length > 0 && attachingAttributes(id).length === 0) return { ...resource, unknown };
  return { unknown, spec: Object.fromEntries(Object.entries(resource.spec).filter(([field]) => !hidden.includes(field))) };
}

/** Lists what blocks or masks on a connection in a way that is not known. */
export function hiddenLimits(snapshot: ProtectionSnapshot, id: ResourceId): Readonly<Record<'blocked' | 'masked', readonly Decider[]>> {
  // What attaches a rule is no limit by itself.
  const by = (controls: readonly ControlType[]): readonly Decider[] =>
    [id, ...rulesOn(snapshot, id)]
      .flatMap((one) => hiddenFields(snapshot, one, controls))
      .filter(({ path }) => path !== pointer('attributes'));
  return { blocked: by(['input', 'output']), masked: by(['masking', 'redaction']) };
}
