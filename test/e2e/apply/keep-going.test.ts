import { describe, expect, test } from 'vitest';
import { useRepositories, withPush, type TestRepository } from '../../support/repository.ts';
import { connection, guardrail, manifest, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin } = useRepositories();

const ref = 'refs/ostiary/applied/production';

async function appliedProject(files: Files, prune: boolean): Promise<TestRepository> {
  const config = `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\ntargets: { production: { url: '${gateway.url()}', prune: ${prune} } }\n`;
  const ours = withPush(make({ 'ostiary.yaml': config, ...files }));
  makeOrigin(ours);
  expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
  return ours;
}

/** The parts of a plan document that these tests read. */
type PlanJson = {
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly { readonly id: string; readonly action: string; readonly error?: { readonly code: string } }[];
  readonly orphans: readonly { readonly id: string; readonly kept?: string }[];
};

async function planOf(line: string, { folder }: TestRepository): Promise<{ readonly code: number | null; readonly plan: PlanJson }> {
  const { code, stdout } = await gateway.run(`plan --format json --quiet ${line}`, folder);
  return { code, plan: JSON.parse(stdout).plans[0] };
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function recordedCommit({ git }: TestRepository): unknown {
  return JSON.parse(git('log', '-1', '--format=%b', ref)).commit;
}

/** Creates a masking rule without a manifest that protects a connection. */
async function maskByHand(name: string, protectedName: string): Promise<string> {
  const { body: found } = await gateway.call('GET', `/connections/${protectedName}`);
  const masking = {
    name,
    connection_ids: [found['id'] ?? ''],
    supported_entity_types: [{ name: 'people', entity_types: ['EMAIL_ADDRESS'] }],
    custom_entity_types: [],
    score_threshold: 0.6,
  };
  const { body } = await gateway.call('POST', '/datamasking-rules', { body: masking });
  const { id } = body;
  return typeof id === 'string' ? id : '';
}

describe('--keep-going', () => {
  test('leaves out a successor whose attachment cannot move, with its predecessor, and applies the rest', async () => {
    const ours = await appliedProject(
      { 'access/old.yaml': connection('k1-old'), 'access/other.yaml': connection('k1-other'), 'access/gone.yaml': connection('k1-gone') },
      true,
    );
    const rule = await maskByHand('k1-hand', 'k1-old');
    const first = ours.git('rev-parse', 'HEAD').trim();
    ours.remove('access/old.yaml', 'access/gone.yaml');
    const second = ours.save({
      'access/new.yaml': connection('k1-new', {}, { replaces: 'k1-old' }),
      'access/other.yaml': connection('k1-other', { reviewers: [], connection_tags: { env: 'prod' } }),
    });

    const refused = await gateway.run('plan', ours.folder);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('plan/edge-cannot-move') });
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 3 });

    const { code, plan } = await planOf('--keep-going', ours);
    expect(code).toBe(3);
    expect(plan.counts).toMatchObject({ create: 0, update: 1, replace: 0, delete: 1, blocked: 1, orphaned: 0 });
    expect(plan.changes.map(({ id, action }) => `${action} ${id}`)).toEqual([
      'blocked Connection/k1-new',
      'update Connection/k1-other',
      'delete Connection/k1-gone',
    ]);
    expect(plan.changes[0]?.error).toMatchObject({ code: 'plan/edge-cannot-move' });
    const text = await gateway.run('plan --keep-going --report markdown=plan.md', ours.folder);
    expect(flat(text.stdout)).toMatch(
      /^Plan for production: \S+ is deleted[^.]*\. 1 to update, 1 to delete, 1 blocked \(not written\)\. http:\S+ config ostiary.yaml Digest \w+ Connection\/k1-new is blocked: DataMaskingRule\/k1-hand has no manifest/,
    );
    expect(flat(text.stdout)).toContain('1 to update, 1 to delete, 1 blocked');

    const applied = await gateway.run('apply --yes --keep-going', ours.folder);
    expect(applied.code).toBe(5);
    expect(flat(applied.stdout)).toContain('not finished: 1 updated, 1 deleted, 1 blocked.');
    expect(await gateway.names('/connections')).toEqual(expect.arrayContaining(['k1-old', 'k1-other']));
    expect(await gateway.names('/connections')).not.toContain('k1-new');
    expect(await gateway.names('/connections')).not.toContain('k1-gone');
    expect((await gateway.call('GET', '/connections/k1-old')).body).toMatchObject({ access_mode_connect: 'enabled' });
    expect((await gateway.call('GET', `/datamasking-rules/${rule}`)).body['connection_ids']).toHaveLength(1);
    expect(recordedCommit(ours)).toBe(first);

    expect(await gateway.run('apply --yes --keep-going', ours.folder)).toMatchObject({ code: 5 });
    expect(await gateway.call('DELETE', `/datamasking-rules/${rule}`)).toMatchObject({ status: 204 });
    expect(await gateway.run('apply --yes --keep-going', ours.folder)).toMatchObject({ code: 0 });
    expect(recordedCommit(ours)).toBe(second);
    expect(await gateway.names('/connections')).toContain('k1-new');
    expect(await gateway.names('/connections')).not.toContain('k1-old');
  });

  test('blocks what depends on a blocked rule, and nothing else', async () => {
    const ours = await appliedProject(
      {
        'access/first.yaml': guardrail('k2-first'),
        'access/second.yaml': guardrail('k2-second', ['DROP', 'TRUNCATE']),
        'access/third.yaml': guardrail('k2-third', ['ALTER']),
        'access/moves.yaml': connection('k2-moves', { guardrail_rules: ['k2-third'] }),
        'access/keeps.yaml': connection('k2-keeps', { guardrail_rules: ['k2-first'], connection_tags: { env: 'dev' } }),
        'access/weaker.yaml': connection('k2-weaker', { guardrail_rules: ['k2-first', 'k2-second'] }),
        'access/free.yaml': connection('k2-free'),
      },
      true,
    );
    ours.remove('access/third.yaml');
    ours.save({
      // Its former name still has a manifest, so the rule cannot be planned.
      'access/fourth.yaml': guardrail('k2-fourth', ['DROP'], {}, { renamedFrom: 'k2-first' }),
      'access/moves.yaml': connection('k2-moves', { guardrail_rules: ['k2-fourth'] }),
      'access/created.yaml': connection('k2-created', { guardrail_rules: ['k2-fourth'] }),
      'access/keeps.yaml': connection('k2-keeps', { guardrail_rules: ['k2-first', 'k2-fourth'], connection_tags: { env: 'prod' } }),
      'access/weaker.yaml': connection('k2-weaker', { guardrail_rules: ['k2-first', 'k2-second', 'k2-fourth'] }),
      'access/second.yaml': guardrail('k2-second', ['DROP']),
      'access/free.yaml': connection('k2-free', { reviewers: [], guardrail_rules: ['k2-first'] }),
    });
    const { code, plan } = await planOf('--keep-going', ours);
    expect(code).toBe(3);
    const shown = plan.changes.map(({ id, action, error }) => [action, id, error?.code]);
    expect(shown).toEqual([
      ['blocked', 'Connection/k2-created', 'plan/needs-blocked'],
      ['blocked', 'GuardrailRule/k2-fourth', 'plan/former-name-declared'],
      ['blocked', 'GuardrailRule/k2-second', 'plan/needs-blocked'],
      ['update', 'Connection/k2-keeps', undefined],
      ['update', 'GuardrailRule/k2-first', undefined],
    ]);
    // The removed rule still protects a connection that waits for the blocked one.
    expect(plan.orphans).toMatchObject([{ id: 'GuardrailRule/k2-third', kept: expect.stringContaining('k2-fourth is blocked') }]);
    expect(await gateway.run('apply --yes --keep-going', ours.folder)).toMatchObject({ code: 5 });
    const rules = async (name: string): Promise<unknown> => (await gateway.call('GET', `/connections/${name}`)).body['guardrail_rules'];
    expect(await rules('k2-moves')).toHaveLength(1);
    expect(await rules('k2-keeps')).toHaveLength(1);
    expect(await gateway.names('/guardrails')).toEqual(expect.arrayContaining(['k2-first', 'k2-second', 'k2-third']));
    expect(await gateway.names('/guardrails')).not.toContain('k2-fourth');
    expect(await gateway.names('/connections')).not.toContain('k2-created');
  });

  test('a secret that cannot be read blocks its object alone', async () => {
    const ours = await appliedProject({ 'access/a.yaml': connection('k5-a') }, false);
    const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_K5' } } };
    ours.save({ 'access/a.yaml': connection('k5-a', { secret }), 'access/b.yaml': connection('k5-b') });
    expect(await gateway.run('plan', ours.folder)).toMatchObject({ code: 3, stderr: expect.stringContaining('OSTIARY_SECRET_K5') });
    const { plan } = await planOf('--keep-going', ours);
    expect(plan.counts).toMatchObject({ create: 1, blocked: 1 });
    expect(await gateway.run('apply --yes --keep-going', ours.folder)).toMatchObject({ code: 5 });
    expect(await gateway.run('apply --yes --keep-going', ours.folder, { OSTIARY_SECRET_K5: 'aaaa' })).toMatchObject({ code: 0 });
  });

  test('a reference that names nothing blocks its manifest alone; an error about no object stops the run', async () => {
    const rule = manifest('DataMaskingRule', 'k4-rule', {
      connection_ids: ['k4-missing'],
      supported_entity_types: [{ name: 'people', entity_types: ['EMAIL_ADDRESS'] }],
    });
    const ours = await appliedProject({ 'access/a.yaml': connection('k4-a') }, false);
    ours.save({
      'access/rule.yaml': rule,
      'access/b.yaml': connection('k4-b', { agent_id: 'nowhere' }),
      'access/c.yaml': connection('k4-c'),
    });
    const { code, plan } = await planOf('--keep-going', ours);
    expect(code).toBe(3);
    expect(plan.counts).toMatchObject({ create: 1, blocked: 2 });
    ours.save({ 'access/c.yaml': 'apiVersion: ostiary/v1\nkind: Connection\n' });
    expect(await gateway.run('apply --yes --keep-going', ours.folder)).toMatchObject({ code: 3 });
    expect(await gateway.names('/connections')).not.toContain('k4-c');
  });
});
