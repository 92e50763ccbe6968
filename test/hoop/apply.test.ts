import { expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';

test('all four kinds are created, then nothing changes, then a drift is found and reverted', async () => {
  const project = await hoopProject();
  project.write({
    'access/orders.yaml': connection('orders-db', {
      reviewers: ['dba'],
      guardrail_rules: ['no-drop'],
      attributes: ['pci'],
      min_review_approvals: 1,
      mandatory_metadata_fields: ['ticket'],
      force_approve_groups: ['sre'],
      access_max_duration: 3600,
      connection_tags: { env: 'prod' },
      secret: {
        'envvar:HOST': { value: '10.0.0.5' },
        'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } },
        'envvar:TOKEN': '_cloudsecrets:orders/db:token',
        'envvar:VAULT': '_vaultkv2:orders:token',
      },
    }),
    'access/stats.yaml': connection('stats-db', { subtype: 'keyvaluedb', type: 'custom' }),
    'access/no-drop.yaml': guardrail('no-drop'),
    'access/no-delete.yaml': guardrail('no-delete', ['DELETE'], { connection_ids: ['orders-db', 'stats-db'] }),
    'access/mask.yaml': manifest('DataMaskingRule', 'pii', {
      connection_ids: ['orders-db'],
      score_threshold: 0.6,
      supported_entity_types: [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }],
    }),
    'access/runbooks.yaml': manifest('RunbookConfiguration', 'ops', {
      git_url: 'https://git.example.com/ops/runbooks.git',
      git_user: 'oauth2',
      git_password: { valueFrom: { env: 'OSTIARY_SECRET_GIT' } },
      ssh_user: 'git',
    }),
  });
  const env = { OSTIARY_SECRET_PASS: 'canary-pass', OSTIARY_SECRET_GIT: 'canary-git' };
  const applied = await project.ostiary(['apply', '--yes'], env);

  expect(applied.code).toBe(0);
  const again = await project.ostiary(['plan', '--detailed-exitcode'], env);

  expect(again.code).toBe(0);
});
