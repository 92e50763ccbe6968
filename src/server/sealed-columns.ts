import type { ObjectTable } from './store/tables.ts';

/** Where sealed texts are kept: `COLUMN_key` beside each holds the id of its key, which the database must know. */
export const sealedColumns: readonly { readonly table: ObjectTable | 'resources'; readonly column: 'secrets' | 'env_vars' }[] = [
  { table: 'connections', column: 'secrets' },
  { table: 'datamasking_rules', column: 'secrets' },
  { table: 'guardrails', column: 'secrets' },
  { table: 'runbook_configurations', column: 'secrets' },
  { table: 'resources', column: 'env_vars' },
];
