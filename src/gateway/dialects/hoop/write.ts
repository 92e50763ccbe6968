import type { JsonObject } from '../../../model/json.ts';
import type { WireKind } from '../../dialect.ts';
import { list, listOf, one, uidOf } from '../rest.ts';
import { entryId } from './entry-id.ts';
import { copies, names, readOnly, readOnlyElsewhere, values } from './fields.ts';
import { connections, honestConnection, runbooks, runbookUid, secretsVersion, supplement } from './read.ts';
import { fromWire, toWire } from './secret-spelling.ts';

const connection: WireKind = {
  list: connections,
  supplement,
  names,
  values,
  secrets: { fromWire, toWire },
  readOnly,
  copies,
  uidOf,
  honest: honestConnection,
  secretsVersion,
  detail: one('/connections'),
  create: '/connections',
  update: one('/connections'),
  // The one route that takes the name alone.
  remove: ({ name }) => `/connections/${encodeURIComponent(name)}`,
  completed: withManagedAttributes,
  fixedName: true,
  rereads: true,
};

const runbookConfiguration: WireKind = {
  list: runbooks,
  names: {},
  readOnly: readOnlyElsewhere,
  copies: [],
  uidOf: runbookUid,
  detail: () => runbooks.path,
  detailIsList: true,
  create: runbooks.path,
  // The gateway wants the id of the address in the body, which may spell the same repository otherwise.
  update: ({ uid }, { git_url: url }) => `${runbooks.path}/${typeof url === 'string' ? entryId(url) : uid}`,
  remove: one(runbooks.path),
  rereads: true,
};

/** How each kind travels. */
export const kinds: Readonly<Record<string, WireKind>> = {
  Connection: connection,
  DataMaskingRule: { ...rule('/datamasking-rules'), fixedName: true },
  GuardrailRule: rule('/guardrails'),
  RunbookConfiguration: runbookConfiguration,
};

function rule(root: string): WireKind {
  const at = one(root);
  return {
    list: list(root),
    names: {},
    readOnly: readOnlyElsewhere,
    copies,
    uidOf,
    detail: at,
    create: root,
    update: at,
    remove: at,
    rereads: true,
  };
}

/** A replacement detaches every attribute that it does not name, the managed ones too. */
function withManagedAttributes(body: JsonObject, fresh: JsonObject): JsonObject {
  const managed = listOf(fresh['managed_attributes']);
  if (managed.length === 0) return body;
  return { ...body, attributes: [...new Set([...listOf(body['attributes']), ...managed])] };
}
