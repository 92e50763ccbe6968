import type { WireKind } from '../../dialect.ts';
import { objectPath, readUid, restList } from '../rest.ts';

/** Fields that the gateway sets: read, and never sent. */
const readOnly: ReadonlySet<string> = new Set([
  'id',
  'status',
  'managed_by',
  'default_database',
  'repository',
  'revision',
  'created_at',
  'updated_at',
  'secrets_updated_at',
]);

/** Returns a kind that is listed and created at its root, and read, replaced and deleted at `root/id`. */
function restKind(root: string): WireKind {
  const path = objectPath(root);
  return {
    list: restList(root),
    fieldNames: {},
    readOnly,
    secretEchoes: ['default_database', 'env_vars'],
    uidOf: readUid,
    secretsVersion: ({ secrets_updated_at: version }) => (typeof version === 'string' ? version : undefined),
    version: ({ id, revision }) => (typeof id === 'string' && typeof revision === 'number' ? `"${id}.${revision}"` : undefined),
    detailPath: path,
    createPath: root,
    updatePath: path,
    removePath: path,
  };
}

/** How each kind travels: one row per kind. */
export const kinds: Readonly<Record<string, WireKind>> = {
  Connection: restKind('/connections'),
  DataMaskingRule: restKind('/datamasking-rules'),
  GuardrailRule: restKind('/guardrails'),
  RunbookConfiguration: restKind('/runbooks/configurations'),
};
