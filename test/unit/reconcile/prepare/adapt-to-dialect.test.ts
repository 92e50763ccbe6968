import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { adaptToDialect } from '../../../../src/reconcile/prepare/omissions.ts';
import { desiredState } from '../../../support/desired-state.ts';

const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled', access_schema: 'enabled' };
const desired = desiredState([
  {
    kind: 'Connection',
    metadata: { name: 'a' },
    spec: { type: 'custom', agent_id: 'x', ...modes, attributes: ['pci'], min_review_approvals: 2 },
  },
  { kind: 'Connection', metadata: { name: 'b' }, spec: { type: 'custom', agent_id: 'x', ...modes, reviewers: ['dba'] } },
  { kind: 'RunbookConfiguration', metadata: { name: 'c' }, spec: { git_url: 'https://git.test/a', ssh_user: 'git' } },
]);

test('fields of another dialect are omitted, each with a warning at its line', () => {
  const { desired: spoken, diagnostics } = adaptToDialect(desired, { dialect: 'interface' }, registry);
  expect(diagnostics.map(({ code, severity, at, resource }) => [code, severity, at?.file, resource])).toEqual([
    ['plan/other-dialect-field', 'warning', 'access/Connection-a.yaml', 'Connection/a'],
    ['plan/other-dialect-field', 'warning', 'access/Connection-a.yaml', 'Connection/a'],
    ['plan/other-dialect-field', 'warning', 'access/RunbookConfiguration-c.yaml', 'RunbookConfiguration/c'],
  ]);
  const [first, second, third] = spoken.resources;
  expect([first?.spec, [...(first?.stated ?? [])]]).toEqual([
    expect.not.objectContaining({ attributes: ['pci'] }),
    expect.not.arrayContaining(['attributes', 'min_review_approvals']),
  ]);
  expect(second).toBe(desired.resources[1]);
  expect(third?.spec).not.toHaveProperty('ssh_user');
});

test('fields of the dialect stay unchanged', () => {
  expect(adaptToDialect(desired, { dialect: 'hoop' }, registry)).toEqual({ desired, diagnostics: [] });
});

test('an optional field stays if the gateway reports it; other reported fields are ignored', () => {
  const borrowed = ['Connection.min_review_approvals', 'Connection.attributes', 'RunbookConfiguration.ssh_user'];
  const { desired: spoken, diagnostics } = adaptToDialect(desired, { dialect: 'interface', borrowed }, registry);
  expect(diagnostics.map(({ resource, message }) => [resource, message.split(' ', 1)[0]])).toEqual([
    ['Connection/a', 'attributes'],
    ['RunbookConfiguration/c', 'ssh_user'],
  ]);
  expect(spoken.resources[0]?.spec).toMatchObject({ min_review_approvals: 2 });
});

test('a field of one dialect stays there, and where a gateway of the other reports it', () => {
  const modesOf = { type: 'custom', agent_id: 'x', ...modes };
  const grouped = desiredState([{ kind: 'Connection', metadata: { name: 'a' }, spec: { ...modesOf, access_groups: ['dba'] } }]);
  const borrowed = ['Connection.access_groups'];
  const { desired: spoken, diagnostics } = adaptToDialect(grouped, { dialect: 'interface' }, registry);
  expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
    [
      'plan/other-dialect-field',
      'access_groups is a field of hoop gateways; this gateway (interface) does not have it, so Ostiary does not send it',
    ],
  ]);
  expect(spoken.resources[0]?.spec).not.toHaveProperty('access_groups');
  for (const gateway of [{ dialect: 'hoop' }, { dialect: 'interface', borrowed }])
    expect(adaptToDialect(grouped, gateway, registry)).toEqual({ desired: grouped, diagnostics: [] });
});
