import { describe, expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { file, grouped, oneLine, open, row, switchOn, useAccessProjects, writesIn } from '../support/access-project.ts';
import type { HoopProject } from '../support/hoop-project.ts';

const accessProject = useAccessProjects();

/** Loses the first request of a method and a path, before or after it takes effect, and all later ones. */
function stopAt({ model }: HoopProject, method: string, part: string, when: 'before' | 'after'): void {
  let isStopped = false;
  model.setFault((seen) => {
    if (isStopped) return { kind: 'lost', when: 'before' };
    if (seen.method !== method || !seen.path.includes(part)) return undefined;
    isStopped = true;
    return { kind: 'lost', when };
  });
}

const masked = { score_threshold: 0.5, supported_entity_types: [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }] };
const asked = { access_type: 'jit', connection_names: ['orders-db'], reviewers_groups: ['dba'], min_approvals: 1 };

describe('an interrupted apply', () => {
  const allow = '--allow plan/access-control-on=reviewed';

  test('of a creation before or after its row is continued without a question', async () => {
    for (const when of ['before', 'after'] as const) {
      const access = await accessProject({ [file('a-db')]: grouped('a-db') });
      const { run, rows, repository, project } = access;
      await switchOn(access);
      await run('apply --yes');
      repository.save({ [file('b-db')]: grouped('b-db', ['dba', 'sre']) });
      stopAt(project, 'PUT', '/plugins/access_control/conn/', when);
      const stopped = await run('apply --yes');
      expect([stopped.code, oneLine(stopped.stdout)]).not.toEqual([0, expect.anything()]);
      expect(stopped.stdout).not.toMatch(/1 created/);
      project.model.setFault(undefined);
      expect(rows()).toEqual(when === 'before' ? {} : { 'b-db': ['dba', 'sre'] });
      expect((await run('plan')).stdout).toContain('unfinished: created closed by an interrupted apply');
      const ended = await run('apply --yes');
      expect([when, ended.code, rows()]).toEqual([when, 0, { 'b-db': ['dba', 'sre'] }]);
      expect(writesIn(ended)).toEqual(['PUT /api/connections/ID', ...(when === 'before' ? [row] : [])]);
      expect((await run('plan')).stdout).toContain('No changes.');
    }
  });

  test('of a replacement before its row gives the successor the groups that only the gateway had', async () => {
    const access = await accessProject({ [file('a-db')]: connection('a-db', open) });
    const { run, rows, grant, repository, project } = access;
    await run('apply --yes');
    await switchOn(access);
    await grant('a-db', ['sre']);
    repository.save({ [file('a-db')]: connection('b-db', open, { replaces: 'a-db' }) });
    stopAt(project, 'PUT', '/plugins/access_control/conn/', 'before');
    expect((await run('apply --yes')).code).toBe(5);
    project.model.setFault(undefined);
    expect(rows()).toEqual({ 'a-db': ['sre'] });
    expect([(await run('apply --yes')).code, rows()?.['b-db']]).toEqual([0, ['sre']]);
    expect((await run('apply --yes --prune')).code).toBe(0);
    expect([(await run('plan')).stdout, rows()]).toEqual([expect.stringContaining('No changes.'), { 'b-db': ['sre'] }]);
  });

  test('that has switched access control on is continued, and is no change outside Ostiary', async () => {
    for (const when of ['before', 'after'] as const) {
      const access = await accessProject({ [file('a-db')]: grouped('a-db'), [file('b-db')]: grouped('b-db') });
      const { run, rows, repository, project } = access;
      await run('apply --yes');
      repository.save({
        [file('a-db')]: grouped('a-db', ['dba'], { reviewers: ['sre'] }),
        [file('b-db')]: grouped('b-db', ['sre']),
        [file('c-db')]: grouped('c-db', ['sre']),
      });
      stopAt(project, 'POST', '/plugins', when);
      const stopped = await run(`apply --yes ${allow}`);
      expect(stopped.code).toBe(5);
      expect(writesIn(stopped).filter((one) => one !== 'POST /api/plugins')).toEqual([]);
      expect(stopped.stdout).not.toMatch(/\d (?:created|updated)/);
      project.model.setFault(undefined);
      expect(rows()).toEqual(when === 'before' ? undefined : { 'a-db': ['dba'], 'b-db': ['sre'] });
      const planned = await run('plan');
      expect(planned.stdout).not.toContain('Changed outside Ostiary');
      expect(planned.code).toBe(when === 'before' ? 6 : 0);
      const ended = await run(when === 'before' ? `apply --yes ${allow}` : 'apply --yes');
      expect([ended.code, rows()]).toEqual([0, { 'a-db': ['dba'], 'b-db': ['sre'], 'c-db': ['sre'] }]);
      expect((await run('plan')).stdout).toContain('No changes.');
      expect((await run('drift')).code).toBe(0);
    }
  });

  test.each(['a-db', 'b-db'])(
    'whose switch for %s had no answer, before the gateway was gone, is reverted, and is no change outside Ostiary',
    async (name) => {
      const plain = { [file('a-db')]: connection('a-db', open) };
      const access = await accessProject(plain);
      const { run, repository, project } = access;
      expect((await run('apply --yes')).code).toBe(0);
      repository.save({ ...plain, [file(name)]: grouped(name, ['dba']) });
      stopAt(project, 'POST', '/plugins', 'after');
      const lost = await run(`apply --yes ${allow}`);
      expect([lost.code, oneLine(lost.stdout)]).toEqual([5, expect.stringMatching(/1 failed.*access control was not switched on/)]);
      project.model.setFault(undefined);
      repository.save(plain);
      expect(await run('drift')).toMatchObject({ stdout: expect.not.stringContaining('switched on') });
    },
  );

  test('that the gateway refuses to switch on writes nothing else', async () => {
    const access = await accessProject({ [file('a-db')]: grouped('a-db') });
    const { run, repository, project } = access;
    await run('apply --yes');
    repository.save({ [file('a-db')]: grouped('a-db', ['dba'], { reviewers: ['sre'] }), [file('b-db')]: grouped('b-db', ['sre']) });
    project.model.setFault(({ method, path }) =>
      method === 'POST' && path === '/api/plugins'
        ? { kind: 'answer', when: 'before', status: 400, message: 'plugin already enabled' }
        : undefined,
    );
    const refused = await run(`apply --yes ${allow}`);
    expect([refused.code, writesIn(refused)]).toEqual([5, ['POST /api/plugins']]);
    expect(oneLine(refused.stdout)).toMatch(/2 failed.*access control was not switched on: .*plugin already enabled/);
  });

  test.each([
    ['Connection', connection('half', { ...open, reviewers: ['admin'], attributes: ['pci'] })],
    ['GuardrailRule', guardrail('half', ['DROP'], { attributes: ['pci'] })],
    ['DataMaskingRule', manifest('DataMaskingRule', 'half', { ...masked, attributes: ['pci'] })],
    ['AccessRequestRule', manifest('AccessRequestRule', 'half', { ...asked, attributes: ['pci'] })],
  ])('of a %s that the gateway saved without its attributes is continued, and is no import', async (_, half) => {
    const attribute = manifest('Attribute', 'pci', { description: 'x' });
    const { run, repository, project } = await accessProject({
      'access/pci.yaml': attribute,
      [file('orders-db')]: connection('orders-db', open),
    });
    expect((await run('apply --yes')).code).toBe(0);
    repository.save({ 'access/half.yaml': half });
    project.model.setFault(({ method }) => (method === 'POST' ? { kind: 'attributes' } : undefined));
    expect((await run('apply --yes')).code).toBe(5);
    project.model.setFault(undefined);
    const { code, stdout } = await run('plan');
    expect([0, 2]).toContain(code);
    expect(oneLine(stdout)).not.toMatch(/outside Ostiary|never applied|import/);
    expect((await run('apply --yes')).code).toBe(0);
    expect((await run('plan')).stdout).toContain('No changes.');
  });
});
