import { expect, test } from 'vitest';
import { preflight, preflightReads } from '../../../src/gateway/dialects/hoop/preflight.ts';
import { registry } from '../../../src/kinds/index.ts';
import { type AccessLists, analyzerRule, rulepack, withAccess } from '../../support/access-objects.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest as connection, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';

const handshake = { serverInfo: { status: 200, body: {}, server: '' }, caller: {} };

/** Checks a connection that replaces another one, where the gateway has these objects; other lists are empty. */
function referencesWith(given: AccessLists): readonly string[] {
  const live = withAccess(liveAs(desiredState([connection('orders-db')])), { 'access-control': 'off', ...given });
  const desired = desiredState([connection('shop-db', {}, { replaces: 'orders-db' })]);
  const plan = runReconcile({ desired, live }).value;
  if (plan === undefined) throw new Error('there is no plan');
  const proposal = { plan, desired, live, registry, accepted: [], joined: new Map() };
  const answers = new Map(preflightReads(proposal).map((path) => [path, null]));
  return preflight(proposal, handshake, answers).references.map(({ sort, name = '(unreadable)' }) => `${sort} ${name}`);
}

function pack(...connections: readonly string[]): AccessLists {
  return { rulepacks: [rulepack({ name: 'Mine', connections })] };
}

const analyzer = analyzerRule({ name: 'an-one' });

test.each<readonly [string, AccessLists, readonly string[]]>([
  ['nothing', {}, []],
  ['a rulepack', pack('orders-db'), ['rulepack Mine']],
  ['a rulepack on other connections', pack('other'), []],
  ['a rulepack on both', pack('orders-db', 'shop-db'), []],
  ['rulepacks that the token may not see', { rulepacks: 'unreadable' }, ['rulepack (unreadable)']],
  ['an analyzer rule', { 'analyzer-rules': [analyzer] }, ['session analyzer rule an-one']],
  ['analyzer rules that cannot be read', { 'analyzer-rules': 'unreadable' }, ['session analyzer rule (unreadable)']],
])('what names a replaced connection: %s', (_, given, expected) => {
  expect(referencesWith(given)).toEqual(expected);
});
