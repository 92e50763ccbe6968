import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { planDocument } from '../../../../src/report/subjects/plan.ts';
import { permissionsBlock } from '../../../../src/report/rows/lines.ts';
import { blockLines } from '../../../../src/report/text/lines.ts';
import { permissionsTitle } from '../../../../src/report/wording/permissions.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connection } from '../../../support/manifests.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { planAgainst } from '../../../support/run-pipeline.ts';

type Specs = Readonly<Record<string, JsonObject>>;

const dialect = { dialect: 'interface', borrowed: ['Connection.access_groups'] };

/** Plans from a gateway with some connections to others. */
async function planBetween(before: Specs, after: Specs): Promise<Plan> {
  const [first, desired] = [before, after].map((specs) =>
    desiredState(Object.entries(specs).map(([name, spec]) => connection(name, spec))),
  );
  if (first === undefined || desired === undefined) throw new Error('two states are needed');
  const resources = first.resources.map(({ key, spec }) => ({ id: key, spec }));
  const gateway = memoryGateway({ registry, agents: ['default'], resources, dialect });
  return (await planAgainst(gateway, desired, { borrowed: dialect.borrowed })).plan;
}

/** Returns all changes of a plan as text, and those that its text shows. */
async function linesOf(before: Specs, after: Specs): Promise<{ readonly all: readonly string[]; readonly shown: readonly string[] }> {
  const plan = await planBetween(before, after);
  const terminal = { color: plainPalette, columns: 400 };
  const blocks = planDocument([plan])
    .sections()
    .flatMap((section) => section.blocks);
  const shown = blocks.flatMap((block) => (block.type === 'lines' && block.part === 'permissions' ? [block] : []));
  const [all, some] = [permissionsBlock(plan.protection.permissions?.changes ?? []), ...shown].map((block) =>
    blockLines(block, terminal)
      .map((line) => line.trim())
      .filter((line) => line !== `${permissionsTitle}:`),
  );
  return { all: all ?? [], shown: some ?? [] };
}

const seen = { access_groups: ['dba'], reviewers: ['dba'] };

test('a new group is named with the verbs that it gains, the approval and its line', async () => {
  const { all, shown } = await linesOf({ orders: seen }, { orders: { ...seen, access_groups: ['dba', 'contractors'] } });
  expect(all).toEqual([
    'contractors: connect, exec on orders: was no, will be yes, after approval by dba  access/Connection-orders.yaml:14',
  ]);
  expect(shown).toEqual(all);
});

test('equal changes of groups, verbs and connections are one line, new access without approval first', async () => {
  const more = { access_groups: ['a', 'b', 'dba'], reviewers: ['dba'] };
  const { all } = await linesOf(
    { c1: seen, c2: seen, c3: { access_groups: ['dba'] }, c4: { ...seen, access_mode_exec: 'disabled' } },
    { c1: more, c2: more, c3: { access_groups: ['a', 'dba'] }, c4: { access_groups: ['dba'], access_mode_exec: 'disabled' } },
  );
  expect(all.map((line) => line.split('  ')[0])).toEqual([
    'a: connect, exec on c3: was no, will be yes, without approval',
    'a, b: connect, exec on c1, c2: was no, will be yes, after approval by dba',
    'dba: connect on c4: was after approval by dba, will be without approval',
  ]);
});

test('a plan that changes no permission has none, and one that does counts those that stay the same', async () => {
  expect(
    (await planBetween({ orders: seen }, { orders: { ...seen, connection_tags: { env: 'dev' } } })).protection.permissions,
  ).toBeUndefined();
  const { permissions } = (await planBetween({ a: seen, b: seen }, { a: { ...seen, access_groups: ['dba', 'sre'] }, b: seen })).protection;
  // Two connections, three verbs, two groups and people in none.
  expect([permissions?.changed, permissions?.same]).toEqual([2, 16]);
});
