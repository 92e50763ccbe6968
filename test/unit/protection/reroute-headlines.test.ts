import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { protectionOfDrift } from '../../../src/protection/protection.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';

function leadingTo(host: string, spec: JsonObject = {}): readonly Manifest[] {
  const secret = { 'envvar:HOST': { value: host }, 'envvar:PASS': { value: 'secret' } };
  return [connectionManifest('db', { reviewers: ['dba'], secret, ...spec })];
}

/** Plans manifests on a gateway, with those that were applied last, and returns the headlines of the plan and of its drift. */
function headlinesOf(manifests: readonly Manifest[], found: readonly Manifest[], applied: readonly Manifest[]): readonly unknown[] {
  const live = liveAs(desiredState(found));
  const base = { commit: 'a'.repeat(40), desired: desiredState(applied), removedIn: new Map() };
  const plan = runReconcile({ desired: desiredState(manifests), live, base }).value;
  return plan === undefined ? [] : [plan.protection.headlines, protectionOfDrift(plan, live, registry).headlines];
}

test.each([
  ['another host', leadingTo('two'), '/secret/envvar:HOST'],
  ['another agent', leadingTo('one', { agent_id: 'other' }), '/agent_id'],
  ['another command', leadingTo('one', { command: ['bash'] }), '/command'],
])('drift that sends a credential to %s has the headline of the plan that undoes it, which is marked', (_, found, path) => {
  const headline = { direction: 'reroutes', connections: ['Connection/db'], causes: [{ by: 'Connection/db', path, byHand: true }] };
  expect(headlinesOf(leadingTo('one'), found, leadingTo('one'))).toMatchObject([[headline], [headline]]);
});

test('a change of the manifests that sends a credential elsewhere is not marked', () => {
  const [planned] = headlinesOf(leadingTo('two'), leadingTo('one'), leadingTo('one'));
  expect(planned).toMatchObject([{ direction: 'reroutes', causes: [{ path: '/secret/envvar:HOST' }] }]);
  expect(JSON.stringify(planned)).not.toContain('byHand');
});

/** A connection with a credential from a source, under this key. */
function fromSource(key: string): readonly Manifest[] {
  return [connectionManifest('db', { reviewers: ['dba'], secret: { [key]: { valueFrom: { env: 'OSTIARY_SECRET_DB' } } } })];
}

test.each([
  ['by hand', [connectionManifest('db', { reviewers: ['dba'] })], { resolved: ['reroutes'], unresolved: [] }],
  ['by the applied manifest', fromSource('envvar:PASS'), { resolved: ['reroutes'], unresolved: ['reroutes'] }],
])('a credential that was set %s and gets another key is known by its value, or by its source', (_, applied, expected) => {
  const live = liveAs(desiredState(fromSource('envvar:PASS')));
  const directions = [false, true].map((isUnresolved) => {
    const desired = desiredState(fromSource('envvar:TOKEN'), { isUnresolved });
    const base = { commit: 'a'.repeat(40), desired: desiredState(applied, { isUnresolved }), removedIn: new Map() };
    const plan = runReconcile({ desired, live, base }).value;
    expect(plan?.changes[0]?.fields).toContainEqual(expect.objectContaining({ path: '/secret/envvar:TOKEN' }));
    return plan?.protection.headlines.map(({ direction }) => direction);
  });
  expect(directions).toEqual([expected.resolved, expected.unresolved]);
});

function booksAt(url: string): readonly Manifest[] {
  const spec = { git_url: url, git_password: { value: 'secret' } };
  return [{ kind: 'RunbookConfiguration', metadata: { name: 'books' }, spec }];
}

test('drift that sends the password of runbooks in clear has the headline of the plan that undoes it', () => {
  const [applied, found] = [booksAt('https://git.example.com/books'), booksAt('http://git.example.com/books')];
  const headline = {
    direction: 'reroutes',
    text: '1 runbook configuration sends a kept credential to another endpoint or with other settings',
    connections: [],
    causes: [{ by: 'RunbookConfiguration/books', path: '/git_url', byHand: true }],
  };
  expect(headlinesOf(applied, found, applied)).toMatchObject([[headline], [headline]]);
});

test('another repository of runbooks names the connections on which runbooks can be run', () => {
  const open = { reviewers: ['dba'], access_mode_runbooks: 'enabled' };
  const connections = [connectionManifest('app', open), connectionManifest('db'), connectionManifest('ops', open)];
  const [first, next] = ['https://git.example.com/books', 'https://git.example.com/more'].map((url) => [...connections, ...booksAt(url)]);
  const [planned] = headlinesOf(next ?? [], first ?? [], first ?? []);
  expect(planned).toMatchObject([
    {
      direction: 'reroutes',
      text: '2 connections accept runbooks from another repository or server',
      connections: ['Connection/app', 'Connection/ops'],
      causes: [{ by: 'RunbookConfiguration/books', path: '/git_url' }],
    },
  ]);
});
