import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PermissionDelta, PermissionEffect } from '../../src/model/protection/protection.ts';
import { nameOf } from '../../src/model/resource.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import type { Terms } from '../model/access-model.ts';
import { isEasier, isEnough } from '../model/approvals.ts';
import { termsAt, verbs, type Verb } from '../model/new-access.ts';
import { alarms } from '../model/plan-report.ts';
import { runAccessPair, type AccessRun } from '../model/run-access-pair.ts';
import { defaultRoles } from '../../src/model/protection/access-objects.ts';
import { seeingAll } from '../../src/protection/access/effective-access.ts';
import { runCount } from '../support/property-runs.ts';

const people: readonly (readonly string[])[] = [[], ...accessPools.groups.map((group) => [group])];

function expectedEffect(before: Terms | undefined, after: Terms | undefined): PermissionEffect | undefined {
  if (after === undefined) return before === undefined ? undefined : 'lost';
  if (before === undefined) return isEnough(after.approval, []) ? 'opened' : 'granted';
  if (isEasier(after, before)) return 'eased';
  if (isEasier(before, after)) return 'stricter';
  if (before.longest === after.longest) return undefined;
  return after.longest > before.longest ? 'longer' : 'stricter';
}

/** Lists the effects of a plan on each group, and on people in none, as the model finds them on the gateway before and after its apply. */
function expectedEffects({ predecessors }: AccessPair, { before, after }: AccessRun): readonly string[] {
  const names = new Set([...Object.keys(before.connections), ...Object.keys(after.connections)]);
  return [...names].flatMap((name) => {
    const former = before.connections[name] === undefined ? (predecessors[name] ?? name) : name;
    return people.flatMap((groups) =>
      verbs.flatMap((verb) => {
        const effect = expectedEffect(termsAt(before, { groups }, former, verb), termsAt(after, { groups }, name, verb));
        return effect === undefined ? [] : [effectText(groups, verb, name, effect)];
      }),
    );
  });
}

function effectText(groups: readonly string[], verb: Verb, name: string, effect: PermissionEffect): string {
  return `${groups[0] ?? '(none)'} ${verb} ${name}: ${effect}`;
}

/** Lists the effects that a plan states for people in one group, and in none; those of several groups have a property of their own. */
function foundEffects(delta: PermissionDelta | undefined): readonly string[] {
  const single = (delta?.changes ?? []).filter(({ together }) => together !== true);
  return single.flatMap(({ effect, groups, except = [], verbs: own, connections }) =>
    connections.flatMap((id) =>
      people
        .filter(([group]) =>
          groups === undefined ? group === undefined || !except.includes(group) : group !== undefined && groups.includes(group),
        )
        .flatMap((member) => own.map((verb) => effectText(member, verb, nameOf(id), effect))),
    ),
  );
}

test(
  'what a plan changes for each group is what an independent model finds after its apply, and its headlines agree',
  async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(accessPairs, async (pair) => {
        const run = await runAccessPair(pair, false);
        if (run === undefined || run.failed.length > 0) return;
        const { protection } = run.plan;
        const found = foundEffects(protection.permissions);
        expect(found.toSorted()).toEqual(expectedEffects(pair, run).toSorted());
        expect(new Set(found).size).toBe(found.length);
        changed += found.length > 0 ? 1 : 0;
        for (const { effect, groups, connections } of protection.permissions?.changes ?? [])
          for (const id of connections) {
            const isNew = run.before.connections[pair.predecessors[nameOf(id)] ?? nameOf(id)] === undefined;
            if (!(isNew ? ['opened'] : ['opened', 'granted', 'eased', 'longer']).includes(effect)) continue;
            // A new connection that admins alone can use is open to no one else.
            if (isNew && groups?.every((group) => seeingAll([{ roles: defaultRoles }]).includes(group)) === true) continue;
            const about = protection.headlines.filter((headline) => headline.connections.includes(id));
            expect([id, effect, about.some(({ direction }) => alarms[direction] !== undefined)]).toEqual([id, effect, true]);
          }
        for (const { text } of protection.headlines) {
          const [, group, name] = /^(\w+) can reach (\w+)$/.exec(text) ?? [];
          if (group === undefined || name === undefined || !accessPools.groups.some((one) => one === group)) continue;
          const can = verbs.filter((verb) => termsAt(run.after, { groups: [group] }, name, verb) !== undefined);
          const gains = found.filter(
            (one) => one.startsWith(`${group} `) && /: (?:opened|granted)$/.test(one) && one.includes(` ${name}: `),
          );
          expect([text, gains.length]).toEqual([text, can.length]);
        }
      }),
      { numRuns: runCount(12) },
    );
    expect(changed).toBeGreaterThan(runCount(12) / 4);
  },
  120_000 + runCount(60_000),
);
