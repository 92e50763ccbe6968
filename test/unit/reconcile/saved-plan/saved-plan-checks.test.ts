import { describe, expect, it } from 'vitest';
import { type Action, type Change, noDigest } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import {
  differentPlan,
  otherManifests,
  otherRepository,
  otherTarget,
  otherTool,
  otherVersion,
  undeclaredChanges,
} from '../../../../src/reconcile/saved-plan/saved-plan-checks.ts';
import { desiredOf, wantedOf } from '../../../support/resources.ts';
import { testTarget } from '../../../support/run-pipeline.ts';

function changeOf(id: ResourceId, action: Action, given: Partial<Change> = {}): Change {
  return { id, action, fields: [], needs: [], carried: [], ...given };
}

describe('the version of a saved plan', () => {
  it('is named in the refusal of another format', () => {
    expect(otherVersion('2')).toMatchObject({
      code: 'plan/other-version',
      message: expect.stringContaining('version 2'),
      allowable: false,
    });
  });

  it.each([
    ['1.2.0', '1.2.0'],
    ['1.2.0', '1.2.9'],
    ['0.1.0-rc.1', '0.1.0'],
  ])('of Ostiary %s is accepted by %s', (then, now) => {
    expect(otherTool(then, now)).toBeUndefined();
  });

  it.each([
    ['1.2.0', '1.3.0', '1.2'],
    ['1.3.0', '1.2.9', '1.3'],
    ['1.2.0', '2.2.0', '1.2'],
    ['1.1.0', '1.10.0', '1.1'],
  ])('of Ostiary %s is refused by %s', (then, now, minor) => {
    expect(otherTool(then, now)).toMatchObject({
      code: 'plan/other-version',
      hint: `apply it with ${minor}, or plan again`,
      allowable: false,
    });
  });
});

describe('the digest of --digest', () => {
  const writes = [changeOf('Connection/db', 'update')];
  const idle = [changeOf('Connection/db', 'blocked'), changeOf('Connection/app', 'held')];

  const empty = { accepted: [], unwritten: [], unwrittenSecrets: [] };

  it('refuses a plan without writes that has changed manifests, if no plan was reviewed', () => {
    const unwritten = [{ id: 'Connection/db', risks: [] }] as const;
    expect(differentPlan(noDigest, { ...empty, unwritten, seals: { tree: '', digest: 'a1' }, changes: [] })).toMatchObject({
      code: 'plan/other-digest',
    });
  });

  it.each([
    ['the same digest', 'a1', writes],
    ['the same digest of a plan that writes nothing', 'a1', idle],
    ['no reviewed plan, and one that writes nothing', noDigest, idle],
    ['no reviewed plan, and one without changes', noDigest, []],
  ])('accepts %s', (_, wanted, changes) => {
    expect(differentPlan(wanted, { ...empty, seals: { tree: '', digest: 'a1' }, changes })).toBeUndefined();
  });

  it.each([
    ['another digest', 'b2', writes, 'expected b2'],
    ['another digest of a plan that writes nothing', 'b2', idle, 'expected b2'],
    ['another digest of a plan without changes', 'b2', [], 'expected b2'],
    ['a prefix of the digest', 'a', writes, 'expected a'],
    ['no reviewed plan, and one that writes', noDigest, writes, 'no plan was approved'],
  ])('refuses %s, and names the digest of the plan', (_, wanted, changes, message) => {
    const refusal = differentPlan(wanted, { ...empty, seals: { tree: '', digest: 'a1' }, changes });
    expect(refusal).toMatchObject({ code: 'plan/other-digest', allowable: false });
    expect(refusal?.message).toContain(message);
    expect(refusal?.message).toContain('its digest is a1');
  });
});

describe('the digest of a plan that was applied completely', () => {
  const empty = { accepted: [], unwritten: [], unwrittenSecrets: [], seals: { tree: '', digest: 'a1' } };

  it('accepts a plan without changes, and no other one', () => {
    expect(differentPlan('b2', { ...empty, changes: [] }, 'b2')).toBeUndefined();
    for (const action of ['update', 'blocked', 'held'] as const)
      expect(differentPlan('b2', { ...empty, changes: [changeOf('Connection/db', action)] }, 'b2')).toMatchObject({
        code: 'plan/other-digest',
      });
    const unwritten = [{ id: 'Connection/db', risks: [] }] as const;
    expect(differentPlan('b2', { ...empty, unwritten, changes: [] }, 'b2')).toMatchObject({ code: 'plan/other-digest' });
    expect(differentPlan('c3', { ...empty, changes: [] }, 'b2')).toMatchObject({ code: 'plan/other-digest' });
  });
});

describe('the target of a saved plan', () => {
  const organisation = { ...testTarget, organisation: 'acme' };

  it('is accepted if nothing differs', () => {
    expect(otherTarget(testTarget, { ...testTarget })).toBeUndefined();
    expect(otherTarget(organisation, { ...organisation })).toBeUndefined();
  });

  it.each([
    ['name', { ...testTarget, name: 'other' }],
    ['url', { ...testTarget, url: 'http://other.test' }],
    ['dialect', { ...testTarget, dialect: 'hoop' }],
    ['organisation', organisation],
  ] as const)('is refused if the %s differs, in both directions', (_, other) => {
    for (const [then, now] of [
      [testTarget, other],
      [other, testTarget],
    ] as const)
      expect(otherTarget(then, now)).toMatchObject({ code: 'plan/other-target', allowable: false });
  });
});

describe('the manifests of a saved plan', () => {
  it('are compared by their digests, which the refusal abbreviates', () => {
    expect(otherManifests('a'.repeat(64), 'a'.repeat(64))).toBeUndefined();
    expect(otherManifests('a'.repeat(64), 'b'.repeat(64))?.message).toContain('(aaaaaaaaaaaa then, bbbbbbbbbbbb now)');
  });
});

describe('the repository of a saved plan', () => {
  it.each([
    ['an unknown history of the plan', [], ['c1']],
    ['an unknown history here', ['c1'], []],
    ['one first commit in common', ['c1', 'c2'], ['c2', 'c3']],
  ])('is accepted with %s', (_, then, now) => {
    expect(otherRepository(then, now)).toBeUndefined();
  });

  it('is refused with no first commit in common', () => {
    expect(otherRepository(['c1'], ['c2', 'c3'])).toMatchObject({ code: 'plan/other-repository', allowable: false });
  });
});

describe('the changes of a saved plan', () => {
  const declared = wantedOf([
    desiredOf('Connection/db'),
    desiredOf('Connection/new', { replaces: 'old' }),
    desiredOf('Connection/label', { key: 'Connection/stable' }),
  ]);

  it.each([
    changeOf('Connection/db', 'create'),
    changeOf('Connection/db', 'update'),
    changeOf('Connection/old', 'update'),
    changeOf('Connection/gone', 'delete'),
    changeOf('Connection/gone', 'blocked'),
    changeOf('Connection/gone', 'held'),
  ])('may $action $id', (change) => {
    expect(undeclaredChanges({ changes: [change] }, declared)).toEqual([]);
  });

  it.each([
    changeOf('Connection/gone', 'create'),
    changeOf('Connection/gone', 'update'),
    changeOf('Connection/gone', 'rename'),
    changeOf('Connection/db', 'delete'),
    changeOf('Connection/old', 'create'),
    changeOf('GuardrailRule/old', 'update'),
    changeOf('Connection/anything', 'delete', { key: 'Connection/stable' }),
  ])('may not $action $id', (change) => {
    expect(undeclaredChanges({ changes: [change] }, declared)).toMatchObject([
      { code: 'plan/other-manifests', resource: change.id, allowable: false, message: expect.stringContaining(`(${change.action})`) },
    ]);
  });
});
