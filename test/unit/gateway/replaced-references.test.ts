import { expect, test } from 'vitest';
import { preflight, preflightReads } from '../../../src/gateway/dialects/hoop/preflight.ts';
import { registry } from '../../../src/kinds/index.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest as connection, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';

const handshake = { serverInfo: { status: 200, body: {}, server: '' }, caller: {} };
const rulepacks = '/rulepacks?page=1&page_size=100';
const analyzers = '/ai/session-analyzer/rules';

/** Checks a connection that replaces another one, with these answers of the gateway; other lists are empty. */
function referencesWith(answers: Readonly<Record<string, unknown>>): readonly string[] {
  const live = liveAs(desiredState([connection('orders-db')]));
  const desired = desiredState([connection('shop-db', {}, { replaces: 'orders-db' })]);
  const plan = runReconcile({ desired, live }).value;
  if (plan === undefined) throw new Error('there is no plan');
  const proposal = { plan, desired, live, registry, accepted: [], joined: new Map() };
  const given = new Map(preflightReads(proposal).map((path) => [path, path in answers ? answers[path] : null]));
  return preflight(proposal, handshake, given).references.map(({ sort, name = '(unreadable)' }) => `${sort} ${name}`);
}

function page(rows: readonly object[], total: number = rows.length): unknown {
  return { pages: { total, page: 1, size: rows.length }, data: rows };
}

test.each<readonly [string, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['no lists', {}, []],
  ['a rulepack', { [rulepacks]: page([{ display_name: 'Mine', connection_names: ['orders-db'] }]) }, ['rulepack Mine']],
  ['a rulepack on other connections', { [rulepacks]: page([{ display_name: 'Mine', connection_names: ['other'] }]) }, []],
  ['a rulepack on both', { [rulepacks]: page([{ display_name: 'Mine', connection_names: ['orders-db', 'shop-db'] }]) }, []],
  ['rulepacks that the token may not see', { [rulepacks]: undefined }, ['rulepack (unreadable)']],
  [
    'more rulepacks than a page has',
    { [rulepacks]: page([{ display_name: 'Mine', connection_names: [] }], 101) },
    ['rulepack (unreadable)'],
  ],
  ['an analyzer rule', { [analyzers]: page([{ name: 'an-one', connection_names: ['orders-db'] }]) }, ['session analyzer rule an-one']],
  ['analyzer rules that cannot be read', { [analyzers]: undefined }, ['session analyzer rule (unreadable)']],
])('what names a replaced connection: %s', (_, answers, expected) => {
  expect(referencesWith(answers)).toEqual(expected);
});
