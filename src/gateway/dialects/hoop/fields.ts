/** What the gateway calls our fields of a connection. */
export const fieldNames: Readonly<Record<string, string>> = { issuetracker_issue_template_id: 'jira_issue_template_id' };

/** What the gateway calls our values. */
export const valueNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  subtype: { keyvaluedb: 'dynamodb', cloudmonitor: 'cloudwatch' },
};

/** The types that a connection may have: an enum of the gateway's database. */
export const types: readonly string[] = [
  'database',
  'application',
  'custom',
  'command-line',
  'httpproxy',
  'tcp',
  'postgres',
  'mysql',
  'mssql',
];

/** Fields of a connection that the gateway sets: read, and never sent. */
export const readOnly: ReadonlySet<string> = new Set([
  'id',
  'status',
  'managed_by',
  'default_database',
  'managed_attributes',
  'effective_features',
  'jit_access_duration_sec',
  'secrets_updated_at',
  'secrets_version',
  'mcp_oauth_warning',
  'mcp_oauth_granted',
]);

/** Fields of rules and runbook configurations that the gateway sets. */
export const readOnlyElsewhere: ReadonlySet<string> = new Set(['id', 'org_id', 'managed_by', 'repository', 'created_at', 'updated_at']);

/** Fields that repeat the value of a secret. */
export const secretEchoes: readonly string[] = ['default_database', 'env_vars'];
