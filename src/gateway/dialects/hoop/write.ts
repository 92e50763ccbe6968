import type { JsonObject } from '../../../model/json.ts';
import type { WireKind } from '../../dialect.ts';
import { restList, asArray, objectPath, readUid } from '../shared/rest.ts';
import { repositoryId } from './entry-id.ts';
import { secretEchoes, fieldNames, readOnly, readOnlyElsewhere, valueNames } from './fields.ts';
import { connections, stripUntrusted, runbooks, runbookUid, secretsVersion, connectionSupplement } from './read.ts';
import { fromWire, toWire } from './secret-spelling.ts';

const connection: WireKind = {
  list: connections,
  supplement: connectionSupplement,
  fieldNames: fieldNames,
  valueNames: valueNames,
  secretSpelling: { fromWire, toWire },
  readOnly,
  secretEchoes: secretEchoes,
  uidOf: readUid,
  stripUntrusted: stripUntrusted,
  secretsVersion,
  detailPath: objectPath('/connections'),
  createPath: '/connections',
  updatePath: objectPath('/connections'),
  // The one route that takes the name alone.
  removePath: ({ name }) => `/connections/${encodeURIComponent(name)}`,
  completeBody: withManagedAttributes,
  fixedName: true,
  readAfterWrite: true,
};

const runbookConfiguration: WireKind = {
  list: runbooks,
  fieldNames: {},
  readOnly: readOnlyElsewhere,
  secretEchoes: [],
  uidOf: runbookUid,
  detailPath: () => runbooks.path,
  detailIsList: true,
  createPath: runbooks.path,
  // The gateway wants the id of the address in the body, which may spell the same repository otherwise.
  updatePath: ({ uid }, { git_url: url }) => `${runbooks.path}/${typeof url === 'string' ? repositoryId(url) : uid}`,
  removePath: objectPath(runbooks.path),
  readAfterWrite: true,
};

/** How each kind travels. */
export const kinds: Readonly<Record<string, WireKind>> = {
  Connection: connection,
  DataMaskingRule: { ...rule('/datamasking-rules'), fixedName: true },
  GuardrailRule: rule('/guardrails'),
  RunbookConfiguration: runbookConfiguration,
};

function rule(root: string): WireKind {
  const at = objectPath(root);
  return {
    list: restList(root),
    fieldNames: {},
    readOnly: readOnlyElsewhere,
    secretEchoes: secretEchoes,
    uidOf: readUid,
    detailPath: at,
    createPath: root,
    updatePath: at,
    removePath: at,
    readAfterWrite: true,
  };
}

/** A replacement detaches every attribute that it does not name, the managed ones too. */
function withManagedAttributes(body: JsonObject, fresh: JsonObject): JsonObject {
  const managed = asArray(fresh['managed_attributes']);
  if (managed.length === 0) return body;
  return { ...body, attributes: [...new Set([...asArray(body['attributes']), ...managed])] };
}
