import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PermissionChange } from '../../src/model/protection/protection.ts';
import { connection, manifest } from '../e2e/project.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { planPair, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { file, oneLine, open, useAccessProjects } from '../support/access-project.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { noLimits } from '../support/run-pipeline.ts';

const accessProject = useAccessProjects();

const orders = { ...open, access_mode_connect: 'disabled', access_mode_runbooks: 'disabled', access_groups: ['payments'] };
const rule = { access_type: 'command', connection_names: ['orders-db'], reviewers_groups: ['dba'], min_approvals: 1 };

test('a plan names what people in two groups gain, and people in one of them do not', { timeout: 120_000 }, async () => {
  const access = await accessProject({
    [file('orders-db')]: connection('orders-db', orders),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
  });
  await access.run('apply --yes --allow plan/access-control-on=test');
  // People on call do not see the connection; those of payments who are on call need no approval any more.
  access.commit({ 'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...rule, skip_review_groups: ['on-call'] }) });
  const both =
    'people in both on-call and payments: exec on orders-db: was after approval by dba, will be without approval access/prod.yaml:';
  const plan = await access.run('plan --full');
  expect(oneLine(plan.stdout)).toContain(both);
  const { permissions } = JSON.parse((await access.run('plan --format json')).stdout).plans[0].protection;
  expect(permissions).toMatchObject({
    changed: 0,
    changes: [{ effect: 'eased', groups: ['on-call', 'payments'], together: true, verbs: ['exec'], connections: ['Connection/orders-db'] }],
  });
  expect(oneLine((await access.run('plan --no-new-access')).stdout)).toContain('people in both');
  // Another group gains more, so that they are no news; the group that gains less does not cover them.
  access.commit({ [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', 'sre'] }) });
  const second = oneLine((await access.run('plan --full')).stdout);
  expect(second).toContain('people in both on-call and sre: exec on orders-db: was no, will be yes, without approval');
  expect(second).toContain('sre: exec on orders-db: was no, will be yes, after approval by dba');
});

test('a plan names every group whose members gain something together with another', { timeout: 120_000 }, async () => {
  const groups = ['payments', 'billing'];
  const access = await accessProject({
    [file('orders-db')]: connection('orders-db', { ...orders, access_groups: groups }),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
  });
  await access.run('apply --yes --allow plan/access-control-on=test');
  access.commit({ 'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...rule, skip_review_groups: ['on-call'] }) });
  const plan = oneLine((await access.run('plan --full')).stdout);
  expect(plan).toContain('people in one of billing, payments and in on-call: exec on orders-db: was after approval by dba');
  const { permissions } = JSON.parse((await access.run('plan --format json')).stdout).plans[0].protection;
  expect(permissions.changes).toMatchObject([
    { groups: ['billing', 'on-call'], together: true, oneOfEach: [['billing', 'payments'], ['on-call']] },
  ]);
  expect(plan).toContain('people in one of billing, payments and in on-call no longer need approval on orders-db');
  const people = 'people in one of billing, payments and in on-call, people in both admin and on-call: exec on orders-db: was yes after';
  expect(oneLine((await access.run('plan --no-new-access')).stdout)).toContain(people);
  expect((await access.run('plan --no-new-access --full')).stdout).toContain('- billing or payments+on-call: exec on orders-db\n');
  const [refused] = JSON.parse((await access.run('plan --no-new-access --format json')).stdout).plans;
  expect(refused.refusals[0].newAccess).toMatchObject([
    { groups: ['on-call', 'billing'], oneOfEach: [['billing', 'payments'], ['on-call']], verb: 'exec' },
    { groups: ['on-call', 'admin'], verb: 'exec' },
  ]);
});

/** First plans on gateways in random states: what the plan changes is compared with the gateway as it is. */
const pairs = fc
  .sample(accessPairs, { numRuns: runCount(60), ...seedOfRound(47) })
  .map((pair): AccessPair => ({ ...pair, base: undefined, objects: { ...pair.objects, analyzers: [] } }));

/** Returns whether a change states what people gain: it is about some of their groups, or about everybody. */
function states(change: PermissionChange, groups: readonly string[]): boolean {
  if (!['opened', 'granted', 'eased', 'longer'].includes(change.effect)) return false;
  const { groups: own, except = [], together, oneOfEach } = change;
  if (own === undefined) return groups.every((group) => !except.includes(group));
  const places = oneOfEach ?? own.map((group) => [group]);
  return together === true
    ? places.every((list) => list.some((group) => groups.includes(group)))
    : own.some((group) => groups.includes(group));
}

test('the delta of a plan states everything that the limit of new access refuses, for people in several groups too', async () => {
  const counts = { plans: 0, gains: 0, joint: 0 };
  for (const pair of pairs.filter(({ manifests }) => manifests.length > 0)) {
    const model = await startAccessGateway(pair);
    const gateway = await openHoop(model);
    try {
      const planned = await planPair(pair, await readLive(gateway), gateway, { limits: { ...noLimits, newAccess: 'refuse' } });
      if (planned === undefined) continue;
      counts.plans += 1;
      const { refusals, protection } = planned.plan;
      for (const { connection: on, groups, verb, runbook } of refusals.flatMap(({ newAccess }) => newAccess ?? [])) {
        // The delta is about groups other than admins, and does not compare which runbooks they are.
        if (
          groups === undefined ||
          verb === undefined ||
          runbook !== undefined ||
          groups.some((group) => group === 'admin' || group === 'auditor')
        )
          continue;
        const same = (protection.permissions?.changes ?? []).filter((one) => one.connections.includes(on) && one.verbs.includes(verb));
        // Where a connection leads is no permission on it: a headline says what people reach by it.
        const isLed = protection.headlines.some(({ text, connections }) => connections.includes(on) && text.includes(' can reach what '));
        const isStated = isLed || same.some((change) => states(change, groups));
        expect({ on, groups, verb, isStated, pair: isStated ? '' : JSON.stringify(pair) }).toMatchObject({ isStated: true });
        counts.gains += 1;
        if (groups.length > 1) counts.joint += 1;
      }
    } finally {
      await gateway.close();
      await model.close();
    }
  }
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.gains).toBeGreaterThan(50);
});
