import { expect, test } from 'vitest';
import { adminToken, hoopProject, type HoopProject } from '../../support/hoop-project.ts';
import { commentsOn, commitAll, openPullRequest, pullRequestPayload, type StepEnded } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { titlesIn } from '../fleet/use-fleet.ts';
import { useAction } from './use-action.ts';
import { connection, guardrail, useProjects, writeFiles, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

/** A config with a gateway of each dialect, each with a token and manifests of its own, and one that is down. */
function settings(hoop: Pick<HoopProject, 'url'>, down = true, more = ''): string {
  const urls = { east: gateway.url(), ...(down ? { down: 'http://127.0.0.1:9' } : {}), west: hoop.url };
  const targets = Object.entries(urls).map(
    ([name, url]) => `  ${name}: { url: '${url}', token: { env: TOKEN_${name.toUpperCase()} }, manifests: [${name}/] }\n`,
  );
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [shared/]\ntargets:\n${targets.join('')}${more}`;
}

const env = (): Readonly<Record<string, string>> => ({
  TOKEN_EAST: gateway.env()['OSTIARY_TOKEN'] ?? '',
  TOKEN_DOWN: 'token-of-down-canary',
  TOKEN_WEST: adminToken,
});

type Inputs = Readonly<Record<string, string>>;

/** A pull request whose checkout adds the files, and the plan of it. */
async function proposal(
  name: string,
  before: Files,
  files: Files,
): Promise<{ readonly cwd: string; readonly number: number; readonly plan: (inputs: Inputs, more?: Inputs) => Promise<StepEnded> }> {
  const cwd = makeProject(before);
  const base = commitAll(cwd);
  writeFiles(cwd, files);
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), name);
  const payload = pullRequestPayload({ ...pull, base });
  return {
    cwd,
    number: pull.number,
    plan: (inputs, more = {}) =>
      bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan', ...inputs }, env: { ...env(), ...more } }),
  };
}

/** Returns the titles of each comment, in their order. */
async function titlesOn(number: number): Promise<readonly (readonly string[])[]> {
  return (await commentsOn(bench.github(), number)).map(({ body }) => titlesIn(body));
}

test('a pull request configures no target, and no output of one target contains a secret of another', async () => {
  const hoop = await hoopProject();
  const canary = 'canary-of-west';
  const secret = { 'envvar:KEY': { valueFrom: { env: 'OSTIARY_SECRET_WEST' } }, 'envvar:CA': { valueFrom: { file: 'ca.pem' } } };
  const files = {
    'ostiary.yaml': settings(hoop, false, `  south: { url: 'http://127.0.0.1:9', token: { env: TOKEN_WEST } }\n`),
    'shared/rule.yaml': guardrail('own-rule'),
    'ca.pem': 'canary-of-a-file\n',
    'east/a.yaml': connection('own-east', { connection_tags: { echo: `${canary} canary-of-a-file ${adminToken}` } }),
    'west/b.yaml': connection('own-west', { secret }),
  };
  const { number, plan } = await proposal('own-checks', { 'ostiary.yaml': settings(hoop, false) }, files);
  const planned = await plan({ 'all-targets': 'true', secrets: 'resolve' }, { OSTIARY_SECRET_WEST: canary });
  expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect(await titlesOn(number)).toEqual([[expect.any(String), expect.any(String), 'The manifests are valid for south']]);
  const [comment] = await commentsOn(bench.github(), number);
  const parts = comment?.body.split(/^### /m).slice(1) ?? [];
  expect(parts.map((part) => /Check added: target south/.test(part))).toEqual([true, true, false]);
  const [masks = ''] = planned.stdout.split(/^::stop-commands::/m);
  for (const value of [canary, 'canary-of-a-file', adminToken, env()['TOKEN_EAST']]) expect(masks).toContain(`::add-mask::${value}\n`);
});
