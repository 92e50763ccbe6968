import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { Json } from '../../../model/json.ts';
import { pointer } from '../../../model/pointer.ts';
import type { ListRows, WireList } from '../../dialect.ts';
import { diagnosticAt, type ProposedWrite } from './proposed-writes.ts';
import { asArray } from './rest.ts';

/** Returns the list of groups, an array of names on the wire; `none` is what a null body means. */
export function groupsList(none: ListRows | undefined): WireList {
  return {
    path: '/users/groups',
    rows(body): ListRows | undefined {
      if (body === null) return none;
      return Array.isArray(body) ? { rows: body.filter((name: Json) => name !== '').map((name: Json) => ({ id: name, name })) } : undefined;
    },
  };
}

/** Warns about groups that a manifest states as reviewers, and that the gateway does not have. */
export function checkGroups(code: Diagnostic['code'], write: ProposedWrite, groups: readonly string[] | undefined): readonly Diagnostic[] {
  if (groups === undefined) return [];
  const known = new Set(groups);
  return ['reviewers', 'force_approve_groups'].flatMap((field) =>
    asArray(write.spec[field]).flatMap((group) => {
      if (typeof group !== 'string' || known.has(group) || !write.resource.stated.has(field)) return [];
      const message = `the gateway knows no group "${group}"`;
      const hint = 'nobody is in it, so nobody can approve';
      return [diagnosticAt(write, pointer(field, group), { code, severity: 'warning', message, hint })];
    }),
  );
}
