import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import type { Difference } from '../../../../src/protection/access/terms.ts';
import { compare } from '../../../../src/protection/compare/compare.ts';
import { desiredSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest } from '../../../support/risks.ts';

type Specs = readonly (readonly [JsonObject, JsonObject])[];

/** Compares connections, each with its spec before and after, in lists: those of one list share what is found. */
function differencesOf(
  specs: Specs,
  lists: readonly (readonly ResourceId[])[],
  dialect: 'interface' | 'hoop' = 'interface',
): readonly Difference[] {
  const [before, after] = ([0, 1] as const).map((side) =>
    desiredSnapshot(desiredState(specs.map((one, index) => connectionManifest(`db-${index}`, one[side]))), registry, dialect),
  );
  if (before === undefined || after === undefined) throw new Error('two states are needed');
  return lists.flatMap((ids) => compare({ before, after, formerOf: (former) => former }, ids));
}

const ids: readonly ResourceId[] = ['Connection/db-0', 'Connection/db-1'];

const two = { reviewers: ['a', 'b'], min_review_approvals: 1 };

test.each<readonly [string, Specs]>([
  [
    'equal connections that become different ones',
    [
      [two, { ...two, reviewers: ['a'] }],
      [two, { ...two, reviewers: [] }],
    ],
  ],
  [
    'equal connections that become equal ones by other fields',
    [
      [two, { ...two, reviewers: ['a'] }],
      [two, { ...two, reviewers: ['a'], min_review_approvals: null }],
    ],
  ],
])('what is found for one connection is not told of another: %s', (_, specs) => {
  const together = differencesOf(specs, [ids]);
  expect(together).toEqual(differencesOf(specs, [['Connection/db-0'], ['Connection/db-1']]));
  const texts = ids.map((id) => JSON.stringify(together.filter(({ connection }) => connection === id)).replaceAll(id, ''));
  expect(new Set(texts).size).toBe(2);
});

test('equal connections share what is found, each with its own name', () => {
  const one = [two, { ...two, reviewers: ['a'] }] as const;
  const found = differencesOf([one, one], [ids]).filter(({ people }) => 'member' in people && people.member.length === 0);
  expect(found.map(({ connection }) => connection)).toEqual(ids);
  expect(found[0]?.terms).toBe(found[1]?.terms);
  expect(found.map(({ causes }) => causes.less?.map(({ id, path }) => `${id}${path}`))).toEqual([
    ['Connection/db-0/reviewers'],
    ['Connection/db-1/reviewers'],
  ]);
});

test.each([
  ['reviewed less', { ...two, reviewers: ['a'] }],
  ['of other groups', { ...two, access_groups: ['sre'] }],
])('new and replaced connections, %s, share what is found with their like alone', (_, spec) => {
  const [before, after] = [
    ['kept', 'old-0', 'old-1'].map((name) => connectionManifest(name, two)),
    ['kept', 'next-0', 'next-1', 'new-0', 'new-1'].map((name) => connectionManifest(name, spec)),
  ].map((manifests) => desiredSnapshot(desiredState(manifests), registry, 'hoop'));
  if (before === undefined || after === undefined) throw new Error('two states are needed');
  const formers: Readonly<Record<ResourceId, ResourceId>> = {
    'Connection/kept': 'Connection/kept',
    'Connection/next-0': 'Connection/old-0',
    'Connection/next-1': 'Connection/old-1',
  };
  const formerOf = (id: ResourceId): ResourceId | undefined => formers[id];
  const all = [...after.resources.keys()];
  const together = compare({ before, after, formerOf }, all);
  expect(new Set(together.map(({ connection }) => connection)).size).toBe(all.length);
  expect(together).toEqual(all.flatMap((id) => compare({ before, after, formerOf }, [id])));
  const found = all.map((id) => together.filter(({ connection }) => connection === id));
  const shared = found.map(([first]) => found.filter(([other]) => other?.terms === first?.terms).length);
  expect(shared).toEqual([1, 2, 2, 2, 2]);
});

test.each<readonly [string, JsonObject, JsonObject, readonly string[]]>([
  ['open on both sides', {}, {}, ['unclear']],
  ['closed on both sides', { access_mode_connect: 'disabled' }, { access_mode_connect: 'disabled' }, []],
  ['closed before', { access_mode_connect: 'disabled' }, {}, ['more']],
])('attributes whose rules are not read make native access unclear where it is not certainly closed: %s', (_, had, has, expected) => {
  // The public gateway keeps what an attribute grants and requires in lists that manifests alone do not show.
  const sides = [
    { attributes: ['ops'], ...had },
    { attributes: [], ...has },
  ] as const;
  const found = differencesOf([sides], [['Connection/db-0']], 'hoop').filter(({ verb }) => verb === 'connect');
  expect([...new Set(found.flatMap(({ causes }) => Object.keys(causes)))].toSorted()).toEqual(expected);
});

test('of two new attributes, each grants access to its own groups alone', () => {
  const names = ['one', 'two'];
  const granting = names.map((name) => ({ kind: 'Attribute', metadata: { name }, spec: { access_groups: [`team-${name}`] } }));
  const [before, after] = [[], granting].map((more) => {
    const db = connectionManifest('db', { access_groups: ['dba'], attributes: more.length === 0 ? [] : names });
    return desiredSnapshot(desiredState([db, ...more]), registry, 'hoop');
  });
  if (before === undefined || after === undefined) throw new Error('two states are needed');
  const found = compare({ before, after, formerOf: (former) => former }, ['Connection/db']);
  const causes = found.flatMap((one) =>
    Object.values(one.causes)
      .flat()
      .map(({ id, path }) => `${id}${path}`),
  );
  expect(new Set(causes.filter((one) => one.includes('/access_groups/')))).toEqual(
    new Set(names.map((name) => `Attribute/${name}/access_groups/team-${name}`)),
  );
});
