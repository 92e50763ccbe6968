import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idOf } from '../../server/client.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway({ agents: ['default', 'prod-agent', 'staging-agent'] });
const { make } = useRepositories();
const acme = join('examples', 'acme');

function filesOf(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

test('a removed reviewer, a renamed tag and a loosened pattern are three headlines; a stricter live value is held', async () => {
  const files = filesOf(acme);
  const settings = (files['ostiary.yaml'] ?? '').replaceAll('https://gateway.acme.example', gateway.url());
  const repository = make({ ...files, 'ostiary.yaml': settings });
  const assigned = (files['secrets.env.example'] ?? '').matchAll(/^(OSTIARY_SECRET_\w+)=/gm);
  const env = { ...gitEnv, ...Object.fromEntries([...assigned].map(([, name = '']) => [name, `canary-${name}`])) };
  const run = (line: string): ReturnType<typeof gateway.run> =>
    gateway.run(`${line} --target production --no-origin`, repository.folder, env);
  expect((await run('apply --yes --report html=apply.html')).code).toBe(0);
  expect(readFileSync(join(repository.folder, 'apply.html'), 'utf8')).toContain('Results');

  const found = await gateway.call('GET', '/connections/support-tickets');
  const reviewers = found.body['reviewers'];
  const tightened = { ...found.body, reviewers: [...(Array.isArray(reviewers) ? reviewers : []), 'night-shift'] };
  expect((await gateway.call('PUT', `/connections/${idOf(found)}`, { body: tightened })).status).toBe(200);

  const edit = (path: string, from: string, to: string): Readonly<Record<string, string>> => {
    const text = files[path] ?? '';
    expect(text).toContain(from);
    return { [path]: text.replace(from, to) };
  };
  repository.save({
    ...edit('access/orders/databases.yaml', 'reviewers: [dba-team, orders-leads]', 'reviewers: [dba-team]'),
    ...edit('access/payments/cards.yaml', 'data: cardholder', 'data: card'),
    ...edit('access/guardrails/sql.yaml', '|truncate\\s)', ')'),
  });
  const { code, stdout } = await run('plan --own HEAD~1 --max-risk neutral');
  expect(code).toBe(6);
  expect(stdout).toMatch(
    /^ {2}1 connection loses reviewer group orders-leads \(orders-db; [^)]*\)\s+access\/orders\/databases\.yaml:\d+$/m,
  );
  expect(stdout).toMatch(
    /^ {2}1 connection loses masking of \d+ entity types \(payments-card-vault; [^)]*\)\s+access\/payments\/cards\.yaml:\d+$/m,
  );
  expect(stdout).toMatch(/^ {2}\d+ connections no longer block all of .*\([^)]*\) {2}access\/guardrails\/sql\.yaml:\d+$/m);
  expect(stdout).toMatch(
    /^Held: .*\n\n {2}= Connection\/support-tickets {2}access\/support\/desk\.yaml:\d+\n {6}reviewers {2}night-shift/m,
  );
  for (const risk of ['review', 'masking', 'input']) expect(stdout).toContain(`--allow risk/${risk}=REASON`);
  expect(stdout).not.toContain('canary-');

  await run('plan --own HEAD~1 --report html=plan.html');
  const page = readFileSync(join(repository.folder, 'plan.html'), 'utf8');
  for (const text of [
    '1 connection loses reviewer group orders-leads',
    '1 connection loses masking',
    'no longer block all of',
    'night-shift',
  ])
    expect(page).toContain(text);
  expect(page).not.toContain('canary-');
});
