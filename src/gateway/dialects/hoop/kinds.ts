import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { WireKind } from '../../dialect.ts';
import { type ProposedWrite, asArray, objectPath, readUid, restList } from '../rest.ts';
import { checkConnection, type CheckContext, type LicenseLimit } from './checks/connection.ts';
import {
  checkMaskingRule,
  limitMaskingRule,
  checkGuardrailRule,
  limitGuardrailRule,
  checkRunbookConfiguration,
} from './checks/data-masking-rule.ts';
import { fieldNames, fromWire, readOnly, readOnlyElsewhere, secretEchoes, toWire, valueNames } from './fields.ts';
import { connections, connectionSupplement, repositoryId, runbooks, runbookUid, secretsVersion, stripUntrusted } from './read.ts';

/** Everything that this gateway needs to know of a kind. */
type HoopKind = {
  readonly wire: WireKind;
  /** The types of the gateway's own Terraform provider (`hoophq/hoop`). */
  readonly terraformTypes: readonly string[];
  /** Reports what the gateway rejects, or answers with an error of its database. */
  readonly check: (write: ProposedWrite, context: CheckContext) => readonly Diagnostic[];
  /** Lists what the free license does not allow; it also allows only one object of such a kind. */
  readonly licenseLimits?: (write: ProposedWrite) => readonly LicenseLimit[];
  /** The gateway rejects every write while it has no data masking provider. */
  readonly needsMaskingProvider?: true;
};

const connection: WireKind = {
  list: connections,
  supplement: connectionSupplement,
  fieldNames,
  valueNames,
  secretSpelling: { fromWire, toWire },
  readOnly,
  secretEchoes,
  uidOf: readUid,
  stripUntrusted,
  secretsVersion,
  detailPath: objectPath('/connections'),
  createPath: '/connections',
  updatePath: objectPath('/connections'),
  // The only route that takes the name alone.
  removePath: ({ name }) => `/connections/${encodeURIComponent(name)}`,
  completeBody: keepManagedAttributes,
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
  // The gateway expects the id of the address in the body, which may spell the same repository differently.
  updatePath: ({ uid }, { git_url: url }) => `${runbooks.path}/${typeof url === 'string' ? repositoryId(url) : uid}`,
  removePath: objectPath(runbooks.path),
  readAfterWrite: true,
};

/** One row per kind. */
export const hoopKinds: Readonly<Record<string, HoopKind>> = {
  Connection: { wire: connection, terraformTypes: ['hoop_connection'], check: checkConnection },
  GuardrailRule: { wire: ruleKind('/guardrails'), terraformTypes: [], check: checkGuardrailRule, licenseLimits: limitGuardrailRule },
  DataMaskingRule: {
    wire: { ...ruleKind('/datamasking-rules'), fixedName: true },
    terraformTypes: ['hoop_datamasking_rules', 'hoop_datamasking_rule'],
    check: checkMaskingRule,
    licenseLimits: limitMaskingRule,
    needsMaskingProvider: true,
  },
  RunbookConfiguration: {
    wire: runbookConfiguration,
    terraformTypes: ['hoop_runbook_configuration'],
    check: checkRunbookConfiguration,
  },
};

/** How each kind travels. */
export const kinds: Readonly<Record<string, WireKind>> = Object.fromEntries(
  Object.entries(hoopKinds).map(([kind, { wire }]) => [kind, wire]),
);

/** The kind that each type of the Terraform provider maps to. */
export const terraformKinds: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(hoopKinds).flatMap(([kind, { terraformTypes }]) => terraformTypes.map((type) => [type, kind])),
);

function ruleKind(root: string): WireKind {
  const path = objectPath(root);
  return {
    list: restList(root),
    fieldNames: {},
    readOnly: readOnlyElsewhere,
    secretEchoes,
    uidOf: readUid,
    detailPath: path,
    createPath: root,
    updatePath: path,
    removePath: path,
    readAfterWrite: true,
  };
}

/** Adds the managed attributes: a replacement detaches every attribute that it does not name, the managed ones too. */
function keepManagedAttributes(body: JsonObject, fresh: JsonObject): JsonObject {
  const managed = asArray(fresh['managed_attributes']);
  if (managed.length === 0) return body;
  return { ...body, attributes: [...new Set([...asArray(body['attributes']), ...managed])] };
}
