import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LiveState } from '../../src/index.ts';
import type { Permission } from '../../src/model/protection/permission.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import { mayAsk, mayRunFile, reaches, termsOf, type AccessState, type Subject, type Terms } from '../model/access-model.ts';
import { readAccessState } from '../model/access-state.ts';
import { readerOf, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { subsetsOf } from '../model/universe.ts';
import { findAccess, type FoundAccess } from '../support/access-answers.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { runCount } from '../support/property-runs.ts';

const people = subsetsOf(accessPools.groups).flatMap((groups) => [groups, [...groups, 'admin'], [...groups, 'auditor']]);

async function readBoth(pair: AccessPair): Promise<{ readonly live: LiveState; readonly state: AccessState }> {
  const model = await startAccessGateway(pair);
  const gateway = await openHoop(model);
  try {
    return { live: await readLive(gateway), state: await readAccessState(readerOf(model)) };
  } finally {
    await gateway.close();
    await model.close();
  }
}

/** Returns everything about one person and one connection as the model of access answers it. */
function expectedAnswers(state: AccessState, subject: Subject, name: string): Readonly<Record<string, unknown>> {
  const sees = reaches(state, subject, name);
  const terms = (request: 'connect' | 'exec'): string => {
    const { refused, approval, longest } = termsOf(state, subject, name, request);
    return reviewText(
      refused ? 'refused' : approval && { ...approval, force: approval.forcing, groups: approval.reviewers },
      request,
      longest,
    );
  };
  return {
    sees,
    connects: sees && mayAsk(state, subject, name, 'connect'),
    executes: sees && mayAsk(state, subject, name, 'exec'),
    connect: terms('connect'),
    exec: terms('exec'),
    can:
      sees &&
      verbs.map((verb) => {
        const isRunnable = verb !== 'runbooks' || accessPools.files.some((file) => mayRunFile(state, subject, name, file));
        return canText(isRunnable && mayAsk(state, subject, name, verb), termsOf(state, subject, name, verb));
      }),
    files: accessPools.files.map((file) => mayRunFile(state, subject, name, file)),
  };
}

function foundAnswers(found: FoundAccess, state: AccessState, name: string): Readonly<Record<string, unknown>> {
  const review = (request: 'connect' | 'exec'): string => {
    const { by, longest } = found.review(request === 'connect' ? 'jit' : 'command');
    return reviewText(by, request, longest);
  };
  const files = found.runbooks.map(({ repository, name: start }) => (repository === undefined ? [] : [{ repository, name: start }]));
  const runbookRules = files.map((list) => ({ groups: [], connections: [], files: list }));
  return {
    sees: found.sees,
    connects: found.uses('connect'),
    executes: found.uses('exec'),
    connect: review('connect'),
    exec: review('exec'),
    can: found.sees ? verbs.map((verb) => permissionText(found.can(verb))) : verbs.some((verb) => found.can(verb).answer !== 'no'),
    files: accessPools.files.map((file) => files.length > 0 && mayRunFile({ ...state, runbookRules }, { groups: [] }, name, file)),
  };
}

const verbs = ['connect', 'exec', 'runbooks'] as const;

/** Prints whether a verb is possible, and after whose approval. */
function canText(isAsked: boolean, { refused, approval, longest }: Terms): string {
  if (!isAsked || refused) return 'no';
  const by = approval && `${approval.needed} of ${approval.reviewers.toSorted().join()} forced by ${approval.forcing.toSorted().join()}`;
  return `yes ${by ?? 'without'} for ${longest} s`;
}

function permissionText({ answer, approval, longest }: Permission): string {
  if (answer !== 'yes') return answer;
  const by =
    typeof approval === 'object'
      ? `${approval.needed} of ${approval.groups.toSorted().join()} forced by ${approval.force.toSorted().join()}`
      : approval;
  return `yes ${by ?? 'without'} for ${longest ?? Infinity} s`;
}

type Reviewed = { readonly groups: readonly string[]; readonly needed: number; readonly force: readonly string[] };

/** Prints a review; only an approved native session has a limit. */
function reviewText(by: Reviewed | 'refused' | undefined, request: 'connect' | 'exec', longest: number): string {
  if (by === undefined || by === 'refused') return by ?? 'none';
  const { groups, needed, force } = by;
  const limit = request === 'connect' ? ` for ${longest} s` : '';
  return `${needed} of ${groups.toSorted().join()} forced by ${force.toSorted().join()}${limit}`;
}

test('what a person can do on the public gateway is what an independent model says', async () => {
  await fc.assert(
    fc.asyncProperty(accessPairs, async (pair) => {
      const { live, state } = await readBoth(pair);
      const find = findAccess(live);
      for (const name of Object.keys(state.connections))
        for (const groups of people) {
          const expected = expectedAnswers(state, { groups }, name);
          const found = foundAnswers(find(name, groups), state, name);
          expect({ name, groups, ...found }).toEqual({ name, groups, ...expected });
        }
    }),
    { numRuns: runCount(15) },
  );
});
