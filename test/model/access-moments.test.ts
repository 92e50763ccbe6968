import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/index.ts';
import { onModel, openHoop, stopAt } from '../support/hoop-scenario.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { accessPairText, type AccessPair } from './access-pairs.ts';
import { exposedAt } from './exposed-access.ts';
import { readAccessState } from './access-state.ts';
import type { AccessState } from './access-model.ts';
import { movePairs } from './move-pairs.ts';
import { applyPlanned, planPair, readerOf, readLive, startAccessGateway } from './run-access-pair.ts';
import { rulePairs } from './rule-pairs.ts';

type Applied = { readonly plan: Plan; readonly failed: readonly string[] };

/** Plans a pair and applies it; undefined where it cannot be planned, or the plan is refused. */
async function applyTo(model: HoopModel, pair: AccessPair, interrupted?: Plan): Promise<Applied | undefined> {
  const gateway = await openHoop(model);
  try {
    const live = await readLive(gateway);
    const planned = await planPair(pair, live, gateway, { interrupted });
    if (planned === undefined || planned.plan.singleWrites.some(({ windows }) => windows.length > 0)) return undefined;
    const failed = await applyPlanned(planned, live, gateway);
    return { plan: planned.plan, failed: failed.map(({ id, code, message }) => `${id} ${code ?? ''} ${message ?? ''}`) };
  } finally {
    await gateway.close();
  }
}

function sorted(list: readonly string[]): readonly string[] {
  return [...list].toSorted();
}

/** Lists what decides access, an object a line, without what differs between two gateways that decide the same. */
function linesOf({ connections, rules, machines, rows = {}, granted, runbookRules }: AccessState): readonly string[] {
  return [
    ...Object.entries(connections).map(([name, one]) => [name, { ...one, attributes: sorted(one.attributes) }]),
    ...rules.map((one) => ({ ...one, id: '', connections: sorted(one.connections), attributes: sorted(one.attributes) })),
    ...machines.map((one) => ({ ...one, attributes: sorted(one.attributes) })),
    ...Object.entries(rows).map(([name, groups]) => [name, sorted(groups)]),
    ...Object.entries(granted).map(([name, groups]) => [name, sorted(groups)]),
    ...runbookRules,
  ]
    .map((one) => JSON.stringify(one))
    .toSorted();
}

/** Lists what differs between two states. */
function differences(found: AccessState, expected: AccessState): readonly string[] {
  const [has, wants] = [linesOf(found), linesOf(expected)];
  return [
    ...has.filter((line) => !wants.includes(line)).map((line) => `found ${line}`),
    ...wants.filter((line) => !has.includes(line)).map((line) => `expected ${line}`),
  ];
}

type Counts = { applied: number; stops: number; moves: number };

/** Applies a pair, then stops it after each of its writes: nothing is possible then that is possible neither before nor after, and the next plan finishes it. */
async function stopEachWrite(pair: AccessPair, counts: Counts, mustFinish: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  const whole = await onModel(startAccessGateway(pair), async (model) => {
    const before = await readAccessState(readerOf(model));
    const begun = model.log.requests.length;
    const applied = await applyTo(model, pair);
    const writes = model.log.requests.slice(begun).flatMap(({ method }, index) => (method === 'GET' ? [] : [index + 1]));
    return applied === undefined ? undefined : { ...applied, before, writes, after: await readAccessState(readerOf(model)) };
  });
  if (whole === undefined) return [];
  const isMove = whole.plan.changes.some(({ closed }) => closed === 'between');
  counts.applied += 1;
  counts.moves += whole.plan.changes.filter(({ closed }) => closed === 'between').length;
  if (whole.failed.length > 0) found.push(`${whole.failed.join('\n')}\n${accessPairText(pair)}`);
  for (const stop of whole.writes.slice(0, -1)) {
    counts.stops += 1;
    await onModel(startAccessGateway(pair), async (model) => {
      stopAt(model, stop);
      await applyTo(model, pair).catch(() => undefined);
      model.setFault(undefined);
      const exposed = exposedAt(await readAccessState(readerOf(model)), whole.before, whole.after);
      if (exposed.length > 0) found.push(`stop ${stop}: ${exposed.slice(0, 3).join('; ')}\n${accessPairText(pair)}`);
      if (!mustFinish || !isMove || whole.failed.length > 0) return;
      const again = await applyTo(model, pair, whole.plan);
      const left = differences(await readAccessState(readerOf(model)), whole.after);
      const problems = [...(again === undefined ? ['refused'] : again.failed), ...left];
      if (problems.length > 0) found.push([`stop ${stop} is not finished`, ...problems, accessPairText(pair)].join('\n'));
    });
  }
  return found;
}

const timeout = runCount(80_000) + 600_000;

test(
  'an apply that stops after any of its writes leaves nothing possible that was possible neither before nor after',
  async () => {
    const found: string[] = [];
    const counts = { applied: 0, stops: 0, moves: 0 };
    for (const pair of fc.sample(rulePairs, { numRuns: runCount(5), ...seedOfRound(13) }))
      found.push(...(await stopEachWrite(pair, counts, false)));
    process.stdout.write(`${counts.applied} applies, ${counts.stops} stops, ${found.length} findings\n`);
    expect(found.slice(0, 2)).toEqual([]);
    expect(counts.stops).toBeGreaterThan(runCount(5));
  },
  timeout,
);

test(
  'so does one whose rules take connections from each other, and the next plan finishes it',
  async () => {
    const found: string[] = [];
    const counts = { applied: 0, stops: 0, moves: 0 };
    for (const pair of fc.sample(movePairs, { numRuns: runCount(4), ...seedOfRound(14) }))
      found.push(...(await stopEachWrite(pair, counts, true)));
    process.stdout.write(`${counts.applied} applies, ${counts.moves} moves, ${counts.stops} stops, ${found.length} findings\n`);
    expect(found.slice(0, 2)).toEqual([]);
    expect(counts.moves).toBeGreaterThanOrEqual(runCount(4) / 6);
  },
  timeout,
);
