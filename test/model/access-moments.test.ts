import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { onModel, openHoop } from '../support/hoop-scenario.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { compareAccess, type AccessGain } from './access-judgement.ts';
import { accessPairText, type AccessPair } from './access-pairs.ts';
import { requests, type AccessState } from './access-model.ts';
import { readAccessState } from './access-state.ts';
import { applyPlanned, planPair, readerOf, readLive, startAccessGateway } from './run-access-pair.ts';
import { rulePairs } from './rule-pairs.ts';

/** Plans a pair and applies it; undefined where it cannot be planned, or the plan is refused. */
async function applyTo(model: HoopModel, pair: AccessPair): Promise<readonly string[] | undefined> {
  const gateway = await openHoop(model);
  try {
    const live = await readLive(gateway);
    const planned = await planPair(pair, live, gateway);
    if (planned === undefined || planned.plan.singleWrites.some(({ windows }) => windows.length > 0)) return undefined;
    return (await applyPlanned(planned, live, gateway)).map(({ id, code, message }) => `${id} ${code ?? ''} ${message ?? ''}`);
  } finally {
    await gateway.close();
  }
}

function keyOf({ subject, request }: AccessGain): string {
  return `${request} by ${subject.machine?.name ?? subject.groups.join('+')}`;
}

/** Lists what people can do at a moment and could do neither before nor after. */
function exposedAt(moment: AccessState, before: AccessState, after: AccessState): readonly string[] {
  return Object.keys(moment.connections).flatMap((name) => {
    const [first, last] = [before, after].map((state) =>
      compareAccess(state, moment, { name }).gains.map((gain) => [keyOf(gain), gain] as const),
    );
    const also = new Map(last);
    return (first ?? []).flatMap(([key, { by }]) => {
      const other = also.get(key);
      return other === undefined || key.startsWith(requests[3]) ? [] : [`${name}: ${key} for ${by.join(', ')} and ${other.by.join(', ')}`];
    });
  });
}

test(
  'an apply that stops after any of its writes leaves nothing possible that was possible neither before nor after',
  async () => {
    const found: string[] = [];
    const counts = { applied: 0, stops: 0 };
    for (const pair of fc.sample(rulePairs, { numRuns: runCount(25), ...seedOfRound(13) })) {
      const whole = await onModel(startAccessGateway(pair), async (model) => {
        const before = await readAccessState(readerOf(model));
        const begun = model.log.requests.length;
        const failed = await applyTo(model, pair);
        const writes = model.log.requests.slice(begun).flatMap(({ method }, index) => (method === 'GET' ? [] : [index + 1]));
        return failed === undefined ? undefined : { before, failed, writes, after: await readAccessState(readerOf(model)) };
      });
      if (whole === undefined) continue;
      counts.applied += 1;
      if (whole.failed.length > 0) found.push(`${whole.failed.join('\n')}\n${accessPairText(pair)}`);
      for (const stop of whole.writes.slice(0, -1)) {
        counts.stops += 1;
        await onModel(startAccessGateway(pair), async (model) => {
          const begun = model.log.count();
          model.setFault(({ index }) =>
            index < begun + stop ? undefined : { kind: 'lost', when: index === begun + stop ? 'after' : 'before' },
          );
          await applyTo(model, pair).catch(() => undefined);
          model.setFault(undefined);
          const exposed = exposedAt(await readAccessState(readerOf(model)), whole.before, whole.after);
          if (exposed.length > 0) found.push(`stop ${stop}: ${exposed.slice(0, 3).join('; ')}\n${accessPairText(pair)}`);
        });
      }
    }
    process.stdout.write(`${counts.applied} applies, ${counts.stops} stops, ${found.length} findings\n`);
    expect(found.slice(0, 2)).toEqual([]);
    expect(counts.stops).toBeGreaterThan(runCount(25));
  },
  runCount(90_000) + 120_000,
);
