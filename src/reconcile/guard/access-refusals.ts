import type { Diff, Refusal } from '../../model/plan/plan.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { rowFieldsOf } from '../../model/live.ts';
import { kindOf, nameOf } from '../../model/resource.ts';
import { readPostures } from '../../protection/posture/posture.ts';
import { plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** Refuses to switch on access control for a whole gateway; lists all live connections that only admins see then, and that no manifest means to hide. */
export function accessRefusals({ input: { registry }, named: { live } }: Prepared, diff: Diff): readonly Refusal[] {
  const planned = accessRowsOf(diff.changes, live);
  if (planned === undefined) return [];
  const after = plannedSnapshot(diff, live, registry);
  const postureOf = readPostures(after);
  const fields = rowFieldsOf(live, planned.kind).map(({ name }) => name);
  const hidden = live.resources.filter(({ id }) => {
    const spec = after.resources.get(id)?.spec;
    const isStated = spec === undefined || fields.some((field) => Array.isArray(spec[field]));
    return kindOf(id) === planned.kind && !isStated && postureOf(id)?.access.groups?.length === 0;
  });
  const names = hidden.map(({ id }) => nameOf(id)).toSorted();
  const count = `${names.length} connection${names.length === 1 ? '' : 's'}`;
  const invisible = names.length === 0 ? '' : `: only admins see ${count} without ${fields.join(', ')}: ${names.join(', ')}`;
  return [
    {
      code: 'plan/access-control-on',
      message: `access control is off, and ${fields.join(', ')} switch it on for the whole gateway${invisible}`,
      hint: `state ${fields.join(', ')} for every connection that people use; the API of the gateway cannot switch access control off again`,
      allowable: true,
    },
  ];
}
