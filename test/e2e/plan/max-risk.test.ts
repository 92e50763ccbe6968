import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { idOf } from '../../server/client.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, connection, guardrail, manifest, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const closed = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_schema: 'disabled' };
const masking = (spec: JsonObject): string => manifest('DataMaskingRule', 'risk-mask', { connection_ids: ['risk-db'], ...spec });
const pattern = (regex: string): JsonObject => ({ input: { rules: [{ name: 'ddl', type: 'pattern_match', pattern_regex: regex }] } });
const password = { valueFrom: { env: 'OSTIARY_SECRET_RISK' } };

type Case = { readonly what: string; readonly before: Files; readonly after: Files; readonly risk: string; readonly live?: JsonObject };

const cases: readonly Case[] = [
  {
    what: 'drift that cannot be compared is reverted',
    before: {
      'access/a.yaml': connection('risk-db', { reviewers: ['a'], guardrail_rules: ['risk-rule'] }),
      'access/r.yaml': manifest('GuardrailRule', 'risk-rule', pattern('(?i)drop')),
    },
    // No text that is tried is long enough to match it.
    live: pattern('z{1000}zz'),
    after: {},
    risk: 'unknown',
  },
  {
    what: 'more groups can give the same number of approvals',
    before: { 'access/a.yaml': connection('risk-db', { reviewers: ['a', 'b'], min_review_approvals: 2 }) },
    after: { 'access/a.yaml': connection('risk-db', { reviewers: ['a', 'b', 'c'], min_review_approvals: 2 }) },
    risk: 'weakens',
  },
  {
    what: 'a custom entity type takes the name of a registered one',
    before: {
      'access/a.yaml': connection('risk-db', { reviewers: ['a'] }),
      'access/m.yaml': masking({ score_threshold: 0.5, supported_entity_types: [{ name: 'pii', entity_types: ['EMAIL_ADDRESS'] }] }),
    },
    after: {
      'access/m.yaml': masking({ score_threshold: 0.5, custom_entity_types: [{ name: 'EMAIL_ADDRESS', regex: 'x@y', score: 0.9 }] }),
    },
    risk: 'weakens',
  },
  {
    what: 'a successor has less protection than its predecessor',
    before: {
      'access/a.yaml': connection('risk-db', { reviewers: ['a'], guardrail_rules: ['risk-rule'] }),
      'access/r.yaml': guardrail('risk-rule'),
    },
    after: { 'access/a.yaml': connection('risk-db2', { reviewers: [] }, { replaces: 'risk-db' }) },
    risk: 'weakens',
  },
  {
    what: 'a connection that the base declares closed becomes accessible',
    before: { 'access/a.yaml': connection('risk-db', closed) },
    after: { 'access/a.yaml': connection('risk-db') },
    risk: 'weakens',
  },
  {
    what: 'a type that enforces no masking',
    before: {
      'access/a.yaml': connection('risk-db', { reviewers: ['a'] }),
      'access/m.yaml': masking({ supported_entity_types: [{ name: 'pii', entity_types: ['EMAIL_ADDRESS'] }] }),
    },
    after: { 'access/a.yaml': connection('risk-db', { reviewers: ['a'], type: 'application', subtype: 'tcp' }) },
    risk: 'weakens',
  },
  {
    what: 'a secret under another key',
    before: { 'access/a.yaml': connection('risk-db', { reviewers: ['a'], secret: { 'envvar:PASS': password } }) },
    after: { 'access/a.yaml': connection('risk-db', { reviewers: ['a'], secret: { 'envvar:TOKEN': password } }) },
    risk: 'reroutes',
  },
];

test.each(cases)('--max-risk refuses: $what', async ({ before, after, live, risk }) => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), ...before });
  const run = (line: string): ReturnType<typeof gateway.run> =>
    gateway.run(line, repository.folder, { ...gitEnv, OSTIARY_SECRET_RISK: 'a-secret-value' });
  expect(await run('apply --yes --base none --import Connection/risk-db')).toMatchObject({ code: 0 });
  const rules = (await gateway.call('GET', '/guardrails')).list;
  for (const rule of live === undefined ? [] : rules)
    await gateway.call('PUT', `/guardrails/${idOf({ body: rule })}`, { body: { ...rule, ...live } });
  repository.save(after);
  const plan = await run('plan --max-risk neutral');
  expect(plan).toMatchObject({ code: 6, stdout: expect.stringContaining(`risk: ${risk} (`) });
  expect(plan.stdout).toContain('--allow risk/');
  expect(await run('plan --max-risk weakens')).toMatchObject({ code: 0 });
  for (const path of ['/connections/risk-db', '/connections/risk-db2']) await gateway.call('DELETE', path);
  for (const path of ['/guardrails', '/datamasking-rules']) {
    const { list } = await gateway.call('GET', path);
    for (const one of list) await gateway.call('DELETE', `${path}/${idOf({ body: one })}`);
  }
});

test('--quiet hides no protection that a new connection gives up', async () => {
  const defaults = '{"apiVersion":"ostiary/v1","kind":"Defaults","spec":{"Connection":{"reviewers":["dba"],"redact_types":["PERSON"]}}}';
  const open = connection('risk-new', { reviewers: ['dba'], redact_types: [] });
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/_defaults.yaml': defaults, 'access/a.yaml': open });
  const plan = await gateway.run('plan --quiet --max-risk unknown', repository.folder, gitEnv);
  expect(plan).toMatchObject({ code: 6, stdout: expect.stringContaining('gives up redaction that access/_defaults.yaml gives') });
  expect(plan.stdout).toContain('risk: weakens (');
});
