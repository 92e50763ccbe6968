import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameOf } from '../../src/model/resource.ts';
import { onModel, scenarioToken } from '../support/hoop-scenario.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { accessPairText } from './access-pairs.ts';
import { exposedAt, type Moment } from './exposed-moments.ts';
import { meetingPairs, type MeetingPair } from './meeting-pairs.ts';
import { changedFacts, momentsBetween } from './moments-between.ts';
import { startAccessGateway } from './run-access-pair.ts';
import { watchApply, type Watched, type WriteFault } from './watch-apply.ts';

async function start(pair: MeetingPair): Promise<HoopModel> {
  const model = await startAccessGateway(pair);
  for (const { metadata, spec } of pair.guardrails) {
    const ends = Array.isArray(spec['connection_ids']) ? spec['connection_ids'] : [];
    const ids = ends.flatMap((name) => (typeof name === 'string' ? (model.store.findConnection(name)?.id ?? []) : []));
    const sent = { name: metadata.name, input: spec['input'], connection_ids: ids };
    const { status, body } = await model.send('POST', '/guardrails', scenarioToken, sent);
    if (status !== 201) throw new Error(`${metadata.name}: ${status} ${JSON.stringify(body)}`);
  }
  return model;
}

type Ends = { readonly before: Moment; readonly after: Moment };

function endsOf({ moments }: Watched): Ends {
  const [before] = moments;
  const after = moments.at(-1);
  if (before === undefined || after === undefined) throw new Error('an apply has a first and a last moment');
  return { before, after };
}

/** Lists what becomes possible at some moment of an apply, and is possible neither before nor after, except on connections whose window the plan names. */
function exposedIn(watched: Watched, { before, after }: Ends = endsOf(watched)): readonly string[] {
  const named = new Set(watched.plan.singleWrites.flatMap(({ windows }) => windows.flatMap(({ connections }) => connections.map(nameOf))));
  const moments = momentsBetween(watched);
  counts.states += moments.length;
  const found = moments.flatMap((moment) =>
    exposedAt(moment, before, after)
      .filter((text) => !named.has(text.slice(0, text.indexOf(':'))))
      .map((text) => [text, ...changedFacts(before, moment)].join('\n  ')),
  );
  return found.slice(0, 1);
}

const counts = { planned: 0, windows: 0, states: 0, stops: 0, failures: 0 };

/** Judges every state of an apply of a pair, of one that stops at a write with the one that finishes it, and of one whose write the gateway rejects. */
async function judge(pair: MeetingPair, index: number): Promise<readonly string[]> {
  const whole = await onModel(start(pair), (model) => watchApply(model, pair));
  if (whole === undefined) return [];
  const textOf = (what: string, { steps, plan }: Watched): string => {
    const single = plan.singleWrites.map(({ id, windows }) => `${id} ${JSON.stringify(windows)}`);
    return [`pair ${index} ${what}`, ...steps, ...single, accessPairText(pair)].join('\n');
  };
  counts.planned += 1;
  if (whole.plan.singleWrites.some(({ windows }) => windows.length > 0)) counts.windows += 1;
  const found = exposedIn(whole).map((text) => textOf(text, whole));
  if (whole.failed.length > 0) return [...found, textOf(`fails: ${whole.failed.join('; ')}`, whole)];
  const writes = whole.moments.length - 1;
  if (writes < 2) return found;
  const at = 1 + (index % writes);
  await onModel(start(pair), async (model) => {
    const lost: WriteFault = (write) => (write < at ? undefined : { kind: 'lost', when: write === at ? 'after' : 'before' });
    await watchApply(model, pair, { fault: lost }).catch(() => undefined);
    model.setFault(undefined);
    const again = await watchApply(model, pair, { interrupted: whole.plan });
    if (again === undefined) return;
    counts.stops += 1;
    found.push(...exposedIn(again).map((text) => textOf(`after stop ${at}: ${text}`, again)));
    const left = changedFacts(endsOf(whole).after, endsOf(again).after);
    if (left.length > 0) found.push(textOf(`stop ${at} is not finished: ${[...left, ...again.failed].join('; ')}`, again));
  });
  await onModel(start(pair), async (model) => {
    let rejected: string | undefined;
    const fault: WriteFault = (write, request) => {
      if (write === at) rejected = request;
      return request === rejected ? { kind: 'answer', when: 'before', status: 422, message: 'no' } : undefined;
    };
    const partial = await watchApply(model, pair, { fault });
    if (partial === undefined) return;
    counts.failures += 1;
    found.push(...exposedIn(partial, endsOf(whole)).map((text) => textOf(`while ${rejected} fails: ${text}`, partial)));
  });
  return found;
}

/** How many pairs are drawn; four of ten cannot be planned, because rules would overlap. */
const drawn = 5;

test(
  'no state of an apply gives more than before and after where many changes meet, whatever is written, stops or fails',
  async () => {
    const found: string[] = [];
    for (const [index, pair] of fc.sample(meetingPairs, { numRuns: runCount(drawn), ...seedOfRound(15) }).entries())
      found.push(...(await judge(pair, index)));
    process.stdout.write(`${JSON.stringify(counts)} ${found.length} findings\n`);
    expect(found.slice(0, 2)).toEqual([]);
    expect(counts.stops).toBeGreaterThan(runCount(drawn) / 4);
    expect(counts.failures).toBeGreaterThan(runCount(drawn) / 4);
    expect(counts.states).toBeGreaterThan(runCount(drawn) * 10);
  },
  runCount(60_000) + 60_000,
);
