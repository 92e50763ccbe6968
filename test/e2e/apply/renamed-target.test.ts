import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clockOf } from '../../support/process-clock.ts';
import { useRepositories, withPush, type TestRepository } from '../../support/repository.ts';
import { connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

function configOf(...targets: readonly (readonly [string, string, folder?: string])[]): string {
  const all = targets
    .map(([name, url, folder = 'access']) => `  ${name}: { url: '${url}', prune: true, manifests: [${folder}] }\n`)
    .join('');
  return `apiVersion: ostiary/v1\nkind: Config\ntargets:\n${all}`;
}

/** Applies two connections to a target called prod, then removes one of them in a commit with another config. */
async function renamedProject(
  name: string,
  config: (url: string) => string,
  clock: Readonly<Record<string, string>> = {},
): Promise<{ readonly ours: TestRepository; readonly origin: TestRepository }> {
  const ours = withPush(
    make({
      'ostiary.yaml': configOf(['prod', gateway.url()]),
      'access/stay.yaml': connection(`${name}-stay`),
      'access/gone.yaml': connection(`${name}-gone`),
    }),
  );
  const origin = makeOrigin(ours);
  expect(await gateway.process('apply --yes', ours.folder, clock)).toMatchObject({ code: 0 });
  ours.remove('access/gone.yaml');
  ours.save({ 'ostiary.yaml': config(gateway.url()) });
  return { ours, origin };
}

test('a target that is renamed in the config keeps its record, in any clone', async () => {
  const { ours, origin } = await renamedProject('rt1', (url) => configOf(['production', url]));
  const other = clone(origin);
  for (const { folder } of [ours, other]) {
    const { stdout, stderr } = await gateway.run('plan', folder);
    expect(stderr + stdout).toContain('"production" is recorded as "prod"');
    expect(stdout).toContain('- Connection/rt1-gone');
  }
  expect(await gateway.run('apply --yes', other.folder)).toMatchObject({ code: 0 });
  expect(ours.git('ls-remote', 'origin', 'refs/ostiary/applied/*')).toContain('refs/ostiary/applied/production');
  const { stdout, stderr } = await gateway.run('plan', other.folder);
  expect(stderr + stdout).not.toContain('git/earlier-target');
  expect(stdout).toContain('No changes');
});

test('a target that is renamed and gets another URL is told of the record that no target has, and how to continue it', async () => {
  const { ours } = await renamedProject('rt0', (url) => configOf(['production', url.replace('127.0.0.1', 'localhost')]));
  const { stdout, stderr } = await gateway.run('plan', ours.folder);
  expect(stdout).not.toContain('- Connection/rt0-gone');
  expect(stderr).toContain('the record of "prod" is of a gateway that no target has now');
  ours.save({ 'ostiary.yaml': configOf(['prod', gateway.url().replace('127.0.0.1', 'localhost')]) });
  const [base = ''] = /--base [0-9a-f]{40}/.exec((await gateway.run('plan', ours.folder)).stderr) ?? [];
  const applied = await gateway.run(`apply --yes ${base}`, ours.folder);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('- Connection/rt0-gone')]);
  ours.save({ 'ostiary.yaml': configOf(['production', gateway.url().replace('127.0.0.1', 'localhost')]) });
  expect((await gateway.run('plan', ours.folder)).stderr).not.toContain('git/other-gateway');
});

test('a target that is new and reads other folders is told nothing of one that was removed', async () => {
  const { ours } = await renamedProject('rt9', (url) => configOf(['other', url.replace('127.0.0.1', 'localhost'), 'other']));
  ours.save({ 'other/one.yaml': connection('rt9-one') });
  const { code, stderr } = await gateway.run('plan', ours.folder);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('the record of "prod"')]);
});

test('the record of another target is not that of a new one', async () => {
  const { ours } = await renamedProject('rt2', (url) => configOf(['production', url], ['prod', url]));
  const { stdout, stderr } = await gateway.run('plan --target production', ours.folder);
  expect(stderr + stdout).not.toContain('git/earlier-target');
  expect(stdout).not.toContain('- Connection/rt2-gone');
});

test('of the records of a target that is renamed and renamed back, the later one counts, whatever the clocks show', async () => {
  const minutes = join(make({ minutes: '60' }).folder, 'minutes');
  const ahead = clockOf(minutes, { own: true });
  const { ours, origin } = await renamedProject('rt3', (url) => configOf(['production', url]), ahead);
  const other = clone(origin);
  expect(await gateway.run('apply --yes', other.folder)).toMatchObject({ code: 0 });
  for (const [name, before] of [
    ['prod', 'production'],
    ['production', 'prod'],
  ] as const) {
    ours.save({ 'ostiary.yaml': configOf([name, gateway.url()]), [`access/${name}.yaml`]: connection(`rt3-${name}`) });
    other.git('pull', '--quiet', 'origin', 'main');
    for (const { folder } of [ours, other, clone(origin)]) {
      const { stdout, stderr } = await gateway.run('plan', folder);
      expect(stderr + stdout).toContain(`"${name}" is recorded as "${before}"`);
      expect(stdout).toContain(`+ Connection/rt3-${name}`);
      expect(stdout).toContain('1 to create');
    }
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    const { stdout, stderr } = await gateway.run('plan', other.folder);
    expect(stderr + stdout).not.toContain('git/earlier-target');
    expect(stdout).toContain('No changes');
  }
});

/** Applies to two targets, a and b, then removes an object of b in a commit with another config; `localhost` is another gateway. */
async function exchangedProject(
  name: string,
  config: (left: string, right: string) => string,
): Promise<{ readonly ours: TestRepository; readonly origin: TestRepository; readonly left: string; readonly right: string }> {
  const [left, right] = [gateway.url(), gateway.url().replace('127.0.0.1', 'localhost')];
  const ours = withPush(
    make({
      'ostiary.yaml': configOf(['a', left, 'left'], ['b', right, 'right']),
      'left/l.yaml': connection(`${name}-l`),
      'right/r.yaml': connection(`${name}-r`),
      'right/gone.yaml': connection(`${name}-gone`),
    }),
  );
  const origin = makeOrigin(ours);
  for (const target of ['a', 'b']) expect(await gateway.run(`apply --yes --target ${target}`, ours.folder)).toMatchObject({ code: 0 });
  ours.remove('right/gone.yaml');
  ours.save({ 'ostiary.yaml': config(left, right) });
  return { ours, origin, left, right };
}

async function plan(target: string, { folder }: TestRepository): Promise<string> {
  const { stdout, stderr } = await gateway.run(`plan --target ${target}`, folder);
  return `${stderr}${stdout}`;
}

test('targets that exchange their names keep their records, there and back', async () => {
  const { ours, origin, left, right } = await exchangedProject('rt4', (one, other) => configOf(['a', other, 'right'], ['b', one, 'left']));
  const [a, b] = await Promise.all(['a', 'b'].map((name) => plan(name, ours)));
  expect(a).toContain('"a" is recorded as "b"');
  expect(a).toContain('- Connection/rt4-gone');
  expect(b).toContain('"b" is recorded as "a"');
  expect(b).toContain('No changes');
  expect(await gateway.run('apply --yes --target a', ours.folder)).toMatchObject({ code: 0 });
  for (const folder of [ours, clone(origin)]) {
    expect(await plan('a', folder)).toContain('No changes');
    const other = await plan('b', folder);
    expect(other).toContain('"b" is recorded as "a"');
    expect(other).toContain('No changes');
  }
  ours.save({ 'left/new.yaml': connection('rt4-new') });
  expect(await gateway.run('apply --yes --target b', ours.folder)).toMatchObject({ code: 0 });
  ours.remove('left/new.yaml');
  ours.save({ 'ostiary.yaml': configOf(['a', left, 'left'], ['b', right, 'right']) });
  for (const folder of [ours, clone(origin)]) {
    expect(await plan('a', folder)).toContain('- Connection/rt4-new');
    expect(await plan('b', folder)).toContain('No changes');
  }
  expect(await gateway.run('apply --yes --target a', ours.folder)).toMatchObject({ code: 0 });
  expect(await plan('a', clone(origin))).toContain('No changes');
});

test('targets that exchanged their names keep their records where their config moves to another folder', async () => {
  const { ours, left, right } = await exchangedProject('rt7', (one, other) => configOf(['a', other, 'right'], ['b', one, 'left']));
  for (const target of ['a', 'b']) expect(await gateway.run(`apply --yes --target ${target}`, ours.folder)).toMatchObject({ code: 0 });
  ours.remove('ostiary.yaml', 'left/l.yaml', 'right/r.yaml');
  ours.save({
    'conf/ostiary.yaml': configOf(['a', right, 'right'], ['b', left, 'left']),
    'conf/left/l.yaml': connection('rt7-l'),
    'conf/right/r.yaml': connection('rt7-r'),
  });
  const moved = { ...ours, folder: join(ours.folder, 'conf') };
  for (let round = 0; round < 2; round += 1) {
    for (const target of ['a', 'b']) {
      const planned = await plan(target, moved);
      expect(planned).toContain('No changes');
      expect(planned).not.toMatch(/git\/(?:no-base|other-gateway)/);
    }
    for (const target of ['a', 'b']) expect(await gateway.run(`apply --yes --target ${target}`, moved.folder)).toMatchObject({ code: 0 });
  }
});

test('a target under the former name of another one leaves it its record', async () => {
  const { ours } = await exchangedProject('rt5', (left, right) => configOf(['b', left, 'left'], ['c', right, 'right']));
  expect(await plan('b', ours)).toContain('"b" is recorded as "a"');
  expect(await gateway.run('apply --yes --target b', ours.folder)).toMatchObject({ code: 0 });
  const other = await plan('c', ours);
  expect(other).toContain('"c" is recorded as "b"');
  expect(other).toContain('- Connection/rt5-gone');
});

test('a record of another target that cannot be read stops no other target', async () => {
  const { ours } = await exchangedProject('rt6', (left, right) =>
    configOf(['a', left, 'left'], ['b', right, 'right'], ['c', left, 'left']),
  );
  const ref = 'refs/ostiary/applied/b';
  const tree = ours.git('rev-parse', `${ref}^{tree}`);
  const id = ours.git('commit-tree', tree, '-p', ours.git('rev-parse', 'HEAD~1'), '-m', 'Record\n\n{}');
  ours.git('push', '--quiet', '--force', 'origin', `${id}:${ref}`);
  for (const name of ['a', 'c']) expect(await plan(name, ours)).not.toContain('git/record-unreadable');
  expect(await plan('b', ours)).toContain('git/record-unreadable');
});
