import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

test('10 values that the gateway fills in are no difference', async () => {
  const project = await hoopProject();
  const subtypes = ['postgres', 'mysql', 'mssql', 'oracledb'];
  project.write(
    Object.fromEntries(
      subtypes.map((subtype) => [
        `access/${subtype}.yaml`,
        connection(`${subtype}-db`, { subtype, secret: { 'envvar:HOST': { value: 'h' } } }),
      ]),
    ),
  );
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('mssql-db')?.secret).toEqual({ 'envvar:HOST': 'aA==', 'envvar:INSECURE': 'ZmFsc2U=' });
});

test('11 mongodb has one default command', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('mongo-db', { subtype: 'mongodb', secret: { 'envvar:HOST': { value: 'h' } } }) });
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('mongo-db')?.command).toEqual(['mongo', '--quiet', '$CONNECTION_STRING']);
});

test('11 mongodb with an empty connection string gets the command with host, port and user', async () => {
  const project = await hoopProject();
  const { store } = project.model;
  const byParts = ['mongo', '--quiet', 'mongodb://$USER:$PASS@$HOST:$PORT/?$OPTIONS'];
  const parts = { 'envvar:CONNECTION_STRING': { value: '' }, 'envvar:HOST': { value: 'h' } };
  const stored = { 'envvar:CONNECTION_STRING': '', 'envvar:HOST': 'aA==', 'envvar:OPTIONS': btoa('tls=true') };
  project.write({ 'access/a.yaml': connection('mongo-db', { subtype: 'mongodb', secret: parts }) });
  await applyAndExpectInSync(project);
  expect(store.findConnection('mongo-db')).toMatchObject({ command: byParts, secret: { ...stored, 'envvar:PORT': btoa('27017') } });
  project.write({
    'access/a.yaml': connection('mongo-db', {
      subtype: 'mongodb',
      secret: { ...parts, 'envvar:PORT': { value: '1' } },
      reviewers: ['dba'],
    }),
  });
  await applyAndExpectInSync(project);
  expect(store.findConnection('mongo-db')).toMatchObject({ command: byParts, secret: { ...stored, 'envvar:PORT': btoa('1') } });
  for (const secret of [
    undefined,
    {
      'envvar:CONNECTION_STRING': { keep: true },
      'envvar:HOST': { value: 'h' },
      'envvar:OPTIONS': { keep: true },
      'envvar:PORT': { keep: true },
    },
  ]) {
    project.write({
      'access/a.yaml': connection('mongo-db', { subtype: 'mongodb', reviewers: ['sre'], ...(secret === undefined ? {} : { secret }) }),
    });
    await applyAndExpectInSync(project);
    expect(store.findConnection('mongo-db')).toMatchObject({ command: byParts });
  }
  project.write({
    'access/a.yaml': connection('mongo-db', { subtype: 'mongodb', secret: { 'envvar:CONNECTION_STRING': { value: 'mongodb://h' } } }),
  });
  await applyAndExpectInSync(project);
  expect(store.findConnection('mongo-db')).toMatchObject({ command: ['mongo', '--quiet', '$CONNECTION_STRING'] });
});

test('2.4 the legacy types postgres, mysql and mssql get the defaults of the subtypes', async () => {
  const project = await hoopProject();
  const types = ['postgres', 'mysql', 'mssql'];
  project.write(
    Object.fromEntries(
      types.map((type) => [
        `access/${type}.yaml`,
        connection(`${type}-db`, { type, subtype: '', secret: { 'envvar:HOST': { value: 'h' } } }),
      ]),
    ),
  );
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('mssql-db')?.secret).toMatchObject({ 'envvar:INSECURE': 'ZmFsc2U=' });
});
