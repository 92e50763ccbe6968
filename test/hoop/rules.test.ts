import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject, organisationKey } from '../support/hoop-project.ts';
import { applyAndExpectInSync, expectRefused } from './expectations.ts';

function entry(word: string): JsonObject {
  return { type: 'deny_words_list', words: [word] };
}

const masked = { score_threshold: 0.5, supported_entity_types: [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }] };
const hidden = 'rp_12345678__hidden';

test('17 connections and guardrails write the same edges: the writes of one side keep those of the other', async () => {
  const project = await hoopProject({ hidden: { guardrails: [{ name: hidden, input: { rules: [] } }] } });
  const { store } = project.model;
  project.write({
    'access/a.yaml': connection('orders-db', { guardrail_rules: ['from-connection'] }),
    'access/b.yaml': guardrail('from-connection'),
    'access/c.yaml': guardrail('from-rule', ['DELETE'], { connection_ids: ['orders-db'] }),
  });
  await applyAndExpectInSync(project);
  const id = store.findConnection('orders-db')?.id ?? '';
  store.guardrailLinks.add(store.guardrailNamed(hidden)?.id ?? '', id);
  const named = (): readonly string[] =>
    store.guardrailLinks
      .leftsOf(id)
      .map((rule) => store.guardrails.get(rule)?.name ?? '')
      .toSorted();
  project.write({ 'access/a.yaml': connection('orders-db', { guardrail_rules: ['from-connection'], reviewers: ['dba'] }) });
  await applyAndExpectInSync(project);
  expect(named()).toEqual(['from-connection', 'from-rule', hidden].toSorted());
  project.write({ 'access/c.yaml': guardrail('from-rule', ['UPDATE'], { connection_ids: ['orders-db'] }) });
  await applyAndExpectInSync(project);
  expect(named()).toEqual(['from-connection', 'from-rule', hidden].toSorted());
  project.write({ 'access/a.yaml': connection('orders-db'), 'access/c.yaml': guardrail('from-rule', ['UPDATE']) });
  await applyAndExpectInSync(project);
  expect(named()).toEqual([hidden]);
});

test('4.3 a rule that lists hide is named by its id: a live attachment is accepted, and an existing rule is attached', async () => {
  const project = await hoopProject({ hidden: { guardrails: [{ name: hidden, input: { rules: [] } }] } });
  const { store } = project.model;
  const rule = store.guardrailNamed(hidden)?.id ?? '';
  project.write({ 'access/a.yaml': connection('orders-db'), 'access/b.yaml': connection('other-db') });
  await applyAndExpectInSync(project);
  store.guardrailLinks.add(rule, store.findConnection('orders-db')?.id ?? '');
  project.write({ 'access/a.yaml': connection('orders-db', { guardrail_rules: [rule.toUpperCase()] }) });
  const same = await project.ostiary(['plan', '--detailed-exitcode']);
  expect([same.code, same.requests.filter((request) => request.includes('/guardrails/'))]).toEqual([0, []]);
  project.write({
    'access/b.yaml': connection('other-db', { guardrail_rules: [rule] }),
    'access/c.yaml': connection('new-db', { guardrail_rules: [rule] }),
  });
  const { stdout, requests } = await project.ostiary(['plan']);
  expect(stdout).toContain(`+ GuardrailRule/${rule}`);
  expect(requests.filter((request) => request.includes('/guardrails/'))).toEqual([`GET /api/guardrails/${rule}`]);
  await applyAndExpectInSync(project);
  const names = ['new-db', 'orders-db', 'other-db'];
  const guarded = (): readonly string[] =>
    names.filter((name) => store.guardrailLinks.leftsOf(store.findConnection(name)?.id ?? '').includes(rule));
  expect(guarded()).toEqual(names);
  expect((await project.ostiary(['explain', 'Connection/other-db', 'guardrail_rules'])).stdout).toMatch(/same/);
  project.write({ 'access/b.yaml': connection('other-db', { reviewers: ['dba'] }) });
  await applyAndExpectInSync(project);
  expect(guarded()).toEqual(names);
});

test('18 the gateway drops unknown ids or answers with 500: they are found before the first write', async () => {
  const project = await hoopProject();
  const nowhere = '00000000-0000-4000-8000-000000000000';
  project.write({ 'access/a.yaml': guardrail('no-drop', ['DROP'], { connection_ids: [nowhere] }) });
  await expectRefused(project, 'manifest/dangling-reference');
  project.write({ 'access/a.yaml': connection('orders-db', { guardrail_rules: [nowhere] }) });
  await expectRefused(project, 'manifest/dangling-reference');
  project.write({ 'access/a.yaml': manifest('DataMaskingRule', 'pii', { ...masked, connection_ids: [nowhere] }) });
  await expectRefused(project, 'manifest/dangling-reference');
});

test('21 without a masking provider every masking write is refused: preflight reports it', async () => {
  const project = await hoopProject({ provider: null });
  project.write({ 'access/a.yaml': manifest('DataMaskingRule', 'pii', masked), 'access/b.yaml': connection('orders-db') });
  const { stdout } = await expectRefused(project, 'hoop/no-masking-provider', 6);
  expect(stdout).toMatch(/hoop\/no-masking-provider +access\/a\.yaml:1:1/);
});

test('21 credentials without the name of a provider are those of gcp, and masking rules are written', async () => {
  const project = await hoopProject({ provider: '' });
  project.write({ 'access/a.yaml': manifest('DataMaskingRule', 'pii', masked), 'access/b.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
});

test('22 the free license has limits, also for an organization’s key: preflight reports them', async () => {
  const project = await hoopProject({ licence: 'oss' });
  project.write({ 'access/a.yaml': guardrail('no-drop'), 'access/b.yaml': guardrail('no-delete', ['DELETE']) });
  expect((await expectRefused(project, 'hoop/license', 6)).stdout).toMatch(/hoop\/license +access\/a\.yaml:1:1/);
  project.write({
    'access/a.yaml': connection('orders-db'),
    'access/b.yaml': manifest('GuardrailRule', 'no-drop', { input: { rules: [entry('A'), entry('B')] } }),
  });
  expect((await expectRefused(project, 'hoop/license', 6)).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'one entry of input rules, but there are 2',
  );
  const types = [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS', 'PERSON'] }];
  project.write({ 'access/b.yaml': manifest('DataMaskingRule', 'pii', { supported_entity_types: types }) });
  await expectRefused(project, 'hoop/license', 6);
  const allowed = await project.ostiary(['apply', '--yes', '--allow', 'hoop/license=please']);
  expect(allowed).toMatchObject({ code: 6, stderr: expect.stringContaining('has no effect: this refusal cannot be overridden') });
  project.write({ 'access/a.yaml': guardrail('no-drop'), 'access/b.yaml': manifest('DataMaskingRule', 'pii', masked) });
  await applyAndExpectInSync(project);
  project.model.settings.licence = 'enterprise';
  project.write({ 'access/c.yaml': guardrail('no-delete', ['DELETE']) });
  await expectRefused(project, 'hoop/license', 6, { OSTIARY_TOKEN: organisationKey });
  await applyAndExpectInSync(project);
});

test('22 the free license refuses commands that need a review: a plan states that everybody loses them', async () => {
  const project = await hoopProject({ licence: 'oss' });
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
  project.write({ 'access/a.yaml': connection('orders-db', modes) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': connection('orders-db', { ...modes, reviewers: ['dba'] }) });
  const { stdout } = await project.ostiary(['plan']);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /orders-db gains review\. .* everybody \(auditors: no runbooks\): exec, runbooks on orders-db: was yes, will be no access\/a\.yaml:15/,
  );
});

test('32 attributes are named, never requested one by one, and created by the write that names them', async () => {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', { attributes: ['pci'] }),
    'access/b.yaml': guardrail('no-drop', ['DROP'], { attributes: ['pci'] }),
    'access/c.yaml': manifest('DataMaskingRule', 'pii', { ...masked, attributes: ['gdpr'] }),
  });
  const { requests } = await applyAndExpectInSync(project);
  expect(new Set(requests.filter((request) => request.includes('/attributes')))).toEqual(
    new Set(['GET /api/attributes?page=1&page_size=100']),
  );
  project.write({
    'access/b.yaml': guardrail('no-drop', ['DROP']),
    'access/c.yaml': manifest('DataMaskingRule', 'pii', { ...masked, score_threshold: 0.4 }),
  });
  await applyAndExpectInSync(project);
  expect(project.model.store.guardrailAttributes.leftsOf('no-drop')).toEqual(['pci']);
  expect(project.model.store.maskingAttributes.leftsOf('pii')).toEqual(['gdpr']);
});

test('37 attributes are attached after the object is saved: where that fails, the object stays closed until they are attached', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['pci'] }) });
  project.model.setFault(({ method }) => (method === 'POST' ? { kind: 'attributes' } : undefined));
  const failed = await project.ostiary(['apply', '--yes']);
  expect(failed.code).toBe(5);
  expect(project.model.store.findConnection('orders-db')).toMatchObject({ connect: 'disabled', exec: 'disabled', runbooks: 'disabled' });
  project.model.setFault(undefined);
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('orders-db')).toMatchObject({ connect: 'enabled', exec: 'enabled', runbooks: 'disabled' });
  expect(project.model.store.connectionAttributes.leftsOf('orders-db')).toEqual(['pci']);
  project.model.setFault(({ method }) => (method === 'PUT' ? { kind: 'attributes' } : undefined));
  const opened = connection('orders-db', { attributes: ['pci', 'sox'], access_mode_runbooks: 'enabled' });
  project.write({ 'access/a.yaml': opened, 'access/b.yaml': guardrail('by-sox', ['DROP'], { attributes: ['sox'] }) });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(5);
  expect(project.model.store.findConnection('orders-db')).toMatchObject({ runbooks: 'disabled' });
});
