import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { planRisks } from '../../src/model/plan/plan.ts';
import { subsetsOf } from '../model/universe.ts';
import { runCount } from '../support/property-runs.ts';
import { connectionManifest, planWithRisks } from '../support/risks.ts';
import type { Manifest } from '../support/scenario.ts';

/** Where a connection leads, and who may use it after whose approval; all of it from small pools, so that connections meet. */
type Model = {
  readonly host: 'one.internal' | 'two.internal';
  readonly spelling: (host: string) => string;
  readonly isPortStated: boolean;
  readonly user: string;
  readonly database: string | undefined;
  readonly pass: string;
  readonly groups: readonly string[];
  readonly reviewers: readonly string[];
  readonly needed: number;
  readonly modes: readonly Mode[];
};
type Mode = 'connect' | 'exec';
type State = Readonly<Record<string, Model>>;

const groups = ['dev', 'dba', 'sec'];
const people = subsetsOf(groups);

const models: fc.Arbitrary<Model> = fc
  .record({
    host: fc.constantFrom('one.internal', 'two.internal'),
    spelling: fc.constantFrom<Model['spelling']>(
      (host) => host,
      (host) => host.toUpperCase(),
      (host) => `${host}.`,
    ),
    isPortStated: fc.boolean(),
    user: fc.constantFrom('app', 'root'),
    database: fc.constantFrom('main', 'test', undefined),
    pass: fc.constantFrom('first', 'second', 'third'),
    groups: fc.subarray(groups),
    reviewers: fc.subarray(groups),
    least: fc.integer({ min: 1, max: 3 }),
    modes: fc.subarray<Mode>(['connect', 'exec']),
  })
  .map(({ least, ...model }) => ({ ...model, needed: Math.min(least, model.reviewers.length) }));

const states: fc.Arbitrary<State> = fc.dictionary(fc.constantFrom('a', 'b', 'c'), models, { minKeys: 1, noNullPrototype: true });

/** Some connections stay, some change one thing, some are others. */
const pairs: fc.Arbitrary<readonly [State, State]> = states.chain((before) => {
  const kept = fc.tuple(...Object.entries(before).map(([name, model]) => nextOf(model).map((next) => [name, next] as const)));
  const added = fc.option(models.map((model) => [['d', model] as const]));
  return fc.tuple(kept, added).map(([all, more]) => [before, Object.fromEntries([...all, ...(more ?? [])])] as const);
});

function nextOf(model: Model): fc.Arbitrary<Model> {
  const place = models.map(({ host, user, database, pass }) => ({ ...model, host, user, database, pass }));
  return fc.oneof(
    fc.constant(model),
    place,
    models.map(({ spelling, isPortStated }) => ({ ...model, spelling, isPortStated })),
    models,
  );
}

function manifestsOf(state: State): readonly Manifest[] {
  return Object.entries(state).map(([name, one]) =>
    connectionManifest(name, {
      access_mode_connect: one.modes.includes('connect') ? 'enabled' : 'disabled',
      access_mode_exec: one.modes.includes('exec') ? 'enabled' : 'disabled',
      access_groups: one.groups,
      reviewers: one.reviewers,
      ...(one.reviewers.length === 0 ? {} : { min_review_approvals: one.needed }),
      secret: {
        'envvar:HOST': { value: one.spelling(one.host) },
        ...(one.isPortStated ? { 'envvar:PORT': { value: '5432' } } : {}),
        ...(one.database === undefined ? {} : { 'envvar:DB': { value: one.database } }),
        'envvar:USER': { value: one.user },
        'envvar:PASS': { value: one.pass },
      },
    }),
  );
}

function isSamePlace(one: Model, other: Model): boolean {
  const isOtherDatabase = one.database !== undefined && other.database !== undefined && one.database !== other.database;
  return one.host === other.host && !isOtherDatabase && (one.user === other.user || one.pass === other.pass);
}

/** Whether some approvers are enough. */
function suffices({ reviewers, needed }: Pick<Model, 'reviewers' | 'needed'>, approvers: readonly string[]): boolean {
  return approvers.filter((group) => reviewers.includes(group)).length >= needed;
}

function mayUse(model: Model, person: readonly string[], mode: Mode): boolean {
  return model.modes.includes(mode) && model.groups.some((group) => person.includes(group));
}

/** Tries everybody, every mode and every set of approvers: a review by those who ask is none, and native access gives what commands give. */
function gains(after: Model, before: readonly Model[]): boolean {
  return people.some((person) =>
    (['connect', 'exec'] as const).some((mode) => {
      if (!mayUse(after, person, mode)) return false;
      const needed = suffices(after, person) ? 0 : after.needed;
      const modes: readonly Mode[] = mode === 'exec' ? ['exec', 'connect'] : ['connect'];
      return !before.some((one) =>
        modes.some(
          (other) =>
            mayUse(one, person, other) &&
            people.every((set) => !suffices({ ...after, needed }, set) || suffices(one, person) || suffices(one, set)),
        ),
      );
    }),
  );
}

function expectedAlarms(before: State, after: State): readonly string[] {
  return Object.entries(after).flatMap(([name, one]) => {
    const own = before[name];
    if (own !== undefined && isSamePlace(own, one)) return [];
    const guarded = Object.values(before).filter((other) => isSamePlace(other, one));
    return guarded.length > 0 && gains(one, guarded) ? [`Connection/${name}`] : [];
  });
}

test('a plan alarms exactly where people reach a place more easily than by any connection that led there', () => {
  const counts = { loud: 0, quiet: 0 };
  fc.assert(
    fc.property(pairs, ([before, after]) => {
      const expected = expectedAlarms(before, after);
      const found = planRisks(planWithRisks(manifestsOf(before), manifestsOf(after), { prune: true }));
      const alarms = found.filter(({ risk }) => risk.code === 'risk/destination-opened').map(({ id }) => id);
      expect(alarms.toSorted()).toEqual(expected.toSorted());
      counts[expected.length > 0 ? 'loud' : 'quiet'] += 1;
    }),
    { numRuns: runCount(300) },
  );
  expect(Math.min(counts.loud, counts.quiet)).toBeGreaterThan(30);
});
