/** The values that random access is made of, and that the comparison of two states is complete for. */
export const accessPools = {
  connections: ['orders', 'billing', 'ledger', 'fresh', 'successor'],
  groups: ['dev', 'dba', 'sre', 'sec'],
  attributes: ['pii', 'ops', 'shared', 'robots', 'label'],
  durations: [600, 1200, 3600, 172_800, 604_800],
  /** Every runbook that a pattern of the pool distinguishes. */
  files: [
    { repository: 'git.example.com/ops', name: 'ops/restart.sh' },
    { repository: 'git.example.com/ops', name: 'db/vacuum.sql' },
    { repository: 'git.example.com/other', name: 'ops/restart.sh' },
    { repository: 'git.example.com/other', name: 'OPS_report.py' },
    { repository: 'git.example.com/other', name: 'db/vacuum.sql' },
  ],
  patterns: ['ops', 'ops/', 'db%', 'ops_r', ''],
} as const;
