import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

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
