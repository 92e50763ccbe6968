/** Fields that the gateway sets: read, and never sent. */
export const readOnly: ReadonlySet<string> = new Set([
  'id',
  'status',
  'managed_by',
  'default_database',
  'repository',
  'created_at',
  'updated_at',
  'secrets_updated_at',
]);

/** Fields that repeat the value of a secret. */
export const secretEchoes: readonly string[] = ['default_database', 'env_vars'];
