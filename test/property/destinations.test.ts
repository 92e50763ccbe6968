import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/model/config.ts';
import { planRisks } from '../../src/model/plan/plan.ts';
import { nameOf } from '../../src/model/resource.ts';
import { destinationGains, possibleGains } from '../model/destinations.ts';
import { leadingPairs } from '../model/leading-pairs.ts';
import { newAccess, verbsOf } from '../model/new-access.ts';
import { refusedAccess } from '../model/plan-report.ts';
import { acceptedByHand, planSettled, settled, stateAfter, stateBefore, type SecretSight } from '../model/settled-pair.ts';
import { runCount } from '../support/property-runs.ts';

const limits = { ...defaultLimits, from: 1000, newAccess: 'refuse' } as const;
const isByHand = fc.constantFrom(false, false, false, true);
const sights = fc.constantFrom<SecretSight>('shown', 'shown', 'hidden', 'unlisted', 'unresolved');

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted();
}

test(
  'a plan is loud exactly where people reach a place more easily than by any connection that led there',
  async () => {
    const counts = { loud: 0, quiet: 0, byHand: 0, possible: 0 };
    await fc.assert(
      fc.asyncProperty(leadingPairs, sights, isByHand, async (drawn, drawnSight, byHand) => {
        const applied = settled(drawn);
        // Who replaces a connection by hand is not told from an apply that did so and stopped.
        const isAccepted = byHand && applied.base !== undefined && Object.keys(applied.predecessors).length === 0;
        const pair = isAccepted ? acceptedByHand(applied) : applied;
        // Nothing but a base without edits by hand says what a token cannot see.
        const sight = pair.base === undefined || isAccepted ? 'shown' : drawnSight;
        const plan = await planSettled(pair, { sight, limits });
        if (plan === undefined) return;
        const sides = { before: stateBefore(applied), after: stateAfter(pair), predecessors: pair.predecessors };
        const gains = destinationGains(sides);
        const due = distinct(gains.map(({ connection }) => connection));
        const risks = planRisks(plan).filter(({ risk }) => risk.code === 'risk/destination-opened');
        expect({ risks: distinct(risks.map(({ id }) => nameOf(id))) }).toEqual({ risks: due });
        const headlines = plan.protection.headlines.filter(({ text }) => / can reach what .+ leads? to, /.test(text));
        expect({ headlines: distinct(headlines.flatMap(({ connections }) => connections.map(nameOf))) }).toEqual({ headlines: due });
        // What a connection without listed secrets keeps may lead anywhere.
        const refused = refusedAccess(plan).filter(({ verb }) => verb !== undefined || sight !== 'unlisted');
        const possible = possibleGains(sides).map((connection) => ({ connection }));
        const unclear = sight === 'unlisted' ? [] : possible;
        expect({ refused: verbsOf(refused) }).toEqual({ refused: verbsOf([...gains, ...newAccess(sides), ...unclear]) });
        if (possible.length > 0) counts.possible += 1;
        for (const { connection, verb, groups } of gains) {
          if (groups?.length !== 1) continue;
          const own = refused.filter((one) => one.connection === connection && one.verb === verb);
          expect([connection, verb, groups, own.some((one) => one.groups?.length === 0 || one.groups?.join() === groups.join())]).toEqual([
            connection,
            verb,
            groups,
            true,
          ]);
        }
        counts[due.length > 0 ? 'loud' : 'quiet'] += 1;
        if (isAccepted && due.length > 0) counts.byHand += 1;
      }),
      { numRuns: runCount(200) },
    );
    process.stdout.write(`pairs by whether people reach a destination more easily: ${JSON.stringify(counts)}\n`);
    expect(Math.min(counts.loud, counts.quiet)).toBeGreaterThan(runCount(200) / 4);
    expect(counts.byHand).toBeGreaterThan(runCount(200) / 60);
  },
  runCount(90_000) + 60_000,
);
