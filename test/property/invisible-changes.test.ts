import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/model/plan/plan.ts';
import { isPointerWithin } from '../../src/model/pointer.ts';
import { nameOf } from '../../src/model/resource.ts';
import { planSummaryText } from '../../src/report/wording/summary.ts';
import { verdictText } from '../../src/report/wording/phrases.ts';
import { planVerdict } from '../../src/report/subjects/verdict.ts';
import { busyEvents } from '../support/history-events.ts';
import { secretPath, type Fact } from '../support/history-manifests.ts';
import { runCount } from '../support/property-runs.ts';
import { repositoryHistory } from '../support/random-history.ts';

/** Returns whether a change, accepted drift, an orphan or a refusal of the plan names what differs. */
function isNamed({ changes, accepted, edges, orphans, refusals, unwrittenSecrets }: Plan, { id, path, other }: Fact): boolean {
  const found = [...changes, ...accepted].filter((one) =>
    [id, other].some((end) => end !== undefined && (one.id === end || one.key === end)),
  );
  if (found.some(({ action }) => path === '' || (action !== 'update' && action !== 'held'))) return true;
  if (orphans.some((one) => one.id === id) || refusals.some(({ message }) => message.includes(nameOf(id)))) return true;
  if (other !== undefined) {
    const named = [...edges.filter(({ action }) => action !== 'foreign'), ...accepted.flatMap((one) => one.edges)];
    return named.some(({ rule, connection }) => rule === other && connection === id);
  }
  const paths = [...found.flatMap(({ fields }) => fields), ...unwrittenSecrets.filter((one) => one.id === id)].map((one) => one.path);
  return paths.some((one) => isPointerWithin(path, one) || isPointerWithin(one, path));
}

test('after any history, a change of the manifests is never invisible', async () => {
  const tally = { differing: 0, hidden: 0, uncompared: 0, matching: 0 };
  await fc.assert(
    fc.asyncProperty(busyEvents, async (events) => {
      const history = repositoryHistory();
      for (const [index, event] of events.entries()) {
        await history.play(event);
        const differing = history.differing();
        for (const key of ['admin', 'reader'] as const) {
          const { live, reviewed, diagnostics } = await history.planHead(key, index % 2 === 0);
          if (reviewed === undefined && diagnostics.some(({ severity }) => severity === 'error')) continue;
          const plan = reviewed?.plan;
          if (plan === undefined) throw new Error('neither a plan nor an error');
          const text = `${verdictText(planVerdict(plan))} ${planSummaryText(plan)}`;
          const isLive = new Set(live.resources.map(({ id }) => id));
          const unread = history
            .stated()
            .filter(({ id, path, text: meaning }) => key === 'reader' && path === secretPath && meaning !== 'kept' && isLive.has(id));
          const isCounted = (fact: Fact): boolean => plan.notCompared.some(({ id, path }) => id === fact.id && path === fact.path);
          const isMatch = text.includes('matches the manifests');
          tally.differing += differing.length;
          tally.hidden += key === 'reader' ? differing.filter(({ path }) => path === secretPath).length : 0;
          tally.uncompared += plan.notCompared.length;
          tally.matching += isMatch ? 1 : 0;
          expect({
            key,
            invisible: differing.filter((fact) => !isNamed(plan, fact)),
            claimed: isMatch ? [...differing, ...history.missing()] : [],
            uncounted: unread.filter((fact) => !isCounted(fact) && !isNamed(plan, fact)),
            isCounted: plan.notCompared.length === 0 || text.includes(`${plan.notCompared.length} secret`),
          }).toEqual({ key, invisible: [], claimed: [], uncounted: [], isCounted: true });
        }
      }
    }),
    { numRuns: runCount(12) },
  );
  for (const count of Object.values(tally)) expect(count).toBeGreaterThan(8);
});
