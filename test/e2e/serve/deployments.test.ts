import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { addressOf, startOstiary } from '../../support/cli.ts';
import { adminKey, createDatabase, encryptionKey, fixture } from '../../support/servers.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();

type Container = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly securityContext: unknown;
};
type PodSpec = {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext: unknown;
};

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const { services, secrets } = parse(readFileSync('deploy/compose.yaml', 'utf8'));
const manifests = readdirSync('deploy/kubernetes').flatMap((name) =>
  parseAllDocuments(readFileSync(join('deploy/kubernetes', name), 'utf8')).map((document) => document.toJS()),
);

const deployment: PodSpec = manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec;
const cronJob: PodSpec = manifests.find(({ kind }) => kind === 'CronJob').spec.jobTemplate.spec.template.spec;

/** Serves with the arguments and variables of a deployment, the files of its secrets in a folder, and reads its health. */
async function readiness(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<number> {
  const { url, drop } = await createDatabase(await fixture('template'));
  const files = { 'database-url': `${url}\n`, 'encryption-key': `${encryptionKey.toString('base64')}\n`, 'admin-key': `${adminKey}\n` };
  const cwd = makeProject(files);
  const env = Object.fromEntries(Object.entries(variables).map(([name, path]) => [name, basename(path)]));
  // On this machine alone, and without a load balancer to wait for.
  const here = args.map((word) => word.replace('0.0.0.0', '127.0.0.1').replace(/^10$/, '0'));
  const running = await startOstiary([...here, '--port', '0'], { cwd, env });
  try {
    const address = await addressOf(running);
    const authorized = await fetch(`${address}/connections`, { headers: { 'Api-Key': adminKey } });
    const ready = await fetch(`${address}/readyz`);
    return Math.max(ready.status, authorized.status);
  } finally {
    running.child.kill('SIGTERM');
    await running.ended;
    await drop();
  }
}

test('the gateway of the Compose file starts with its arguments and secrets', async () => {
  const { command, environment, image, secrets: used } = services.gateway;
  expect(await readiness(command, environment)).toBe(200);
  expect(image).toBe(`ostiary:${version}`);
  expect(Object.values(environment)).toEqual(used.map((name: string) => `/run/secrets/${name}`));
  for (const [name, { file }] of Object.entries<{ readonly file: string }>(secrets)) expect(file).toBe(`secrets/${name}`);
});

test('the gateway of the Deployment starts with its arguments and secrets', async () => {
  const { data } = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'gateway');
  expect(await readiness(deployment.containers[0]?.args ?? [], data)).toBe(200);
});

test('pods meet the restricted pod security standard, read-only, with the image of this version', () => {
  for (const { containers, initContainers = [], securityContext } of [deployment, cronJob]) {
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of [...containers, ...initContainers]) {
      expect(container.image).toBe(`registry.example.com/ostiary:${version}`);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  }
  expect(readFileSync('Dockerfile', 'utf8')).toContain('\nUSER 10001:10001\n');
});

test('the scheduled job runs a command line that there is, on every target', async () => {
  const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_SCHEDULED' } } };
  const cwd = makeProject({
    'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }),
    'access/a.yaml': connection('scheduled', { secret }),
  });
  const ended = await gateway.run((cronJob.containers[0]?.args ?? []).join(' '), cwd);
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('2 targets')]);
});
