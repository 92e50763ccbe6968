import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import { rowFieldsOf } from '../../../../model/live.ts';
import { accessRowsOf } from '../../../../model/plan/access-rows.ts';
import { pointer } from '../../../../model/pointer.ts';
import { kindOf } from '../../../../model/resource.ts';
import { accessRows } from '../access.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';

/** Reports groups that the gateway cannot store: no restriction while access control is on, and any groups while its rows cannot be read. */
export function checkAccessGroups({ plan, desired, live }: PreflightRequest, writes: readonly ProposedWrite[]): readonly Diagnostic[] {
  const { field } = accessRows;
  const [state] = Object.values(live.rowFields ?? {});
  const at = pointer(field);
  if (state === 'unreadable') {
    const stated = writes.filter(({ resource }) => resource.stated.has(field) && !resource.ignore.includes(at));
    return stated.map((write) =>
      diagnosticAt(write, at, {
        code: 'hoop/unreadable-rows',
        message: `${field} cannot be written: the rows of access control cannot be read`,
        hint: `plan again when GET ${accessRows.rowPath('').replace(/\/conn\/$/, '')} answers, or leave out ${field} to keep the groups`,
      }),
    );
  }
  const isSwitched = accessRowsOf(plan.changes, live) !== undefined;
  if (state !== 'on' && !isSwitched) return [];
  const open = desired.resources.filter(({ id, spec, stated, ignore }) => {
    const isRow = rowFieldsOf(live, kindOf(id)).some(({ name }) => name === field);
    return isRow && stated.has(field) && spec[field] === null && !ignore.includes(at);
  });
  return open.map((resource) =>
    diagnosticAt({ resource }, at, {
      code: 'hoop/unrestricted',
      message: `${field}: null is not possible while access control is on${isSwitched ? ', and this plan switches it on' : ''}`,
      hint: 'list the groups that may reach the connection; []: only admins',
    }),
  );
}
