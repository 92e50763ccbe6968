import { describe, expect, test } from 'vitest';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection, guardrail } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const manifests = {
  'access/a.yaml': connection('orders-a', { connection_tags: { env: 'prod', team: 'orders' } }),
  'access/b.yaml': connection('orders-b', { connection_tags: { env: 'dev', team: 'orders' } }),
  'access/c.yaml': connection('billing', { connection_tags: { env: 'prod' } }),
  'access/rule.yaml': guardrail('orders-rule', ['DROP']),
};

const selections: readonly (readonly [line: string, selected: readonly string[]])[] = [
  ['--only Connection/orders-*', ['Connection/orders-a', 'Connection/orders-b']],
  ['--only */orders-?', ['Connection/orders-a', 'Connection/orders-b']],
  ['--only *orders* --exclude Connection/*', ['GuardrailRule/orders-rule']],
  ['--only Connection/billing --only Guardrail*', ['Connection/billing', 'GuardrailRule/orders-rule']],
  ['--tag env=prod', ['Connection/billing', 'Connection/orders-a']],
  ['--tag env=prod --tag team=orders', ['Connection/orders-a']],
  ['--tag team=orders --exclude Connection/orders-b', ['Connection/orders-a']],
  ['--exclude Connection/billing', ['Connection/orders-a', 'Connection/orders-b', 'GuardrailRule/orders-rule']],
  ['access/a.yaml --only *', ['Connection/orders-a']],
];

describe.each(mainDialect(['interface', 'hoop']))('a selection on a gateway of the dialect %s', (dialect) => {
  test('limits plan, apply and drift, and never makes an orphan', async () => {
    const hoop = dialect === 'hoop' ? await hoopProject() : undefined;
    const repository = make({ 'ostiary.yaml': config(hoop?.url ?? gateway.url()), ...manifests });
    const env = { ...gateway.env(), ...gitEnv, ...(hoop === undefined ? {} : { OSTIARY_TOKEN: adminToken }) };
    const run = (line: string): ReturnType<typeof ostiaryInProcess> => ostiaryInProcess(line.split(' '), { cwd: repository.folder, env });
    for (const [line, selected] of selections) {
      const { code, stdout } = await run(`plan --format json --quiet ${line}`);
      const { plans } = JSON.parse(stdout);
      expect([line, code, plans[0].changes.map(({ id }: { readonly id: string }) => id).toSorted()]).toEqual([line, 0, selected]);
    }
    const part = await run('apply --yes --tag env=prod');
    expect(part.stdout).toContain('2 created');
    expect(part.stderr).not.toContain('git/applied-recorded');
    expect((await run('apply --yes')).stdout).toContain('2 created');

    repository.remove('access/c.yaml');
    repository.commit();
    for (const line of ['--only *', '--exclude Connection/orders-b', '--tag team=orders']) {
      const { plans } = JSON.parse((await run(`plan --format json --quiet ${line}`)).stdout);
      expect([line, plans[0].orphans, plans[0].changes]).toEqual([line, [], []]);
      expect((await run(`drift ${line}`)).code).toBe(0);
      expect(await run(`plan --prune ${line}`)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('remove --only, --tag, --exclude'),
      });
      expect((await run(`apply --yes ${line}`)).code).toBe(0);
    }
    const { plans } = JSON.parse((await run('plan --format json --quiet')).stdout);
    expect(plans[0].orphans).toMatchObject([{ id: 'Connection/billing' }]);
  });
});
