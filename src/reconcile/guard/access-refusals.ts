import type { Refusal } from '../../model/plan/plan.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { rowFieldsOf } from '../../model/live.ts';
import { kindOf, nameOf } from '../../model/resource.ts';
import { mayIncludeEvery, runbookRulesOf } from '../../protection/access/deciding-kinds.ts';
import { postureIn } from '../../protection/posture/posture.ts';
import { decidingStateOf } from '../../protection/posture/protection-snapshot.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';

/** Refuses to change access for a whole gateway unless the user allows it: to switch on access control, and to delete the last runbook rule. */
export function accessRefusals(prepared: Prepared, planned: PlannedStates): readonly Refusal[] {
  return [...accessControlRefusals(prepared, planned), ...lastRuleRefusals(planned)];
}

/** Refuses to delete the last runbook rule: without rules, everybody can run every runbook. */
function lastRuleRefusals({ diff, snapshots }: PlannedStates): readonly Refusal[] {
  const last = diff.changes.find(({ id, action }) => action === 'delete' && mayIncludeEvery(id));
  if (last === undefined || runbookRulesOf(decidingStateOf(snapshots().after)).length > 0) return [];
  return [
    {
      code: 'plan/last-runbook-rule',
      message: 'no runbook rule would be left, so everybody could run every runbook on every connection that they see',
      hint: 'keep a rule, such as one for a group without members, or close access_mode_runbooks of the connections first',
      allowable: true,
      resource: last.id,
      at: last.at,
    },
  ];
}

/** Refuses to switch on access control for a whole gateway; lists all live connections that only admins see then, and that no manifest means to hide. */
function accessControlRefusals({ named: { live } }: Prepared, { diff, snapshots }: PlannedStates): readonly Refusal[] {
  const planned = accessRowsOf(diff.changes, live);
  if (planned === undefined) return [];
  const { after } = snapshots();
  const fields = rowFieldsOf(live, planned.kind).map(({ name }) => name);
  const hidden = live.resources.filter(({ id }) => {
    const spec = after.resources.get(id)?.spec;
    const isStated = spec === undefined || fields.some((field) => Array.isArray(spec[field]));
    return kindOf(id) === planned.kind && !isStated && postureIn(after, id)?.access.groups?.length === 0;
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
