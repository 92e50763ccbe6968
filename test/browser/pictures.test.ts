import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { run } from '../../src/program.ts';
import { config, connection, guardrail, manifest, type Files } from '../e2e/project.ts';
import { useGateway } from '../e2e/use-gateway.ts';
import { idOf } from '../server/client.ts';
import { useBrowser } from '../support/browser.ts';
import { createTestContext } from '../support/cli-context.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { terminalPicture } from '../support/terminal-picture.ts';

const gateway = useGateway({ agents: ['default'] });
const { make } = useRepositories();
const { open } = useBrowser();

const columns = 100;
const names = ['ledger-db', 'orders-db', 'payments-db', 'reports-db', 'support-desk', 'warehouse'];
let folder = '';

/** Returns the manifests of a small company; the second ones are those of a pull request. */
function company(isProposal: boolean): Files {
  const connections = names.map((name): readonly [string, string] => {
    const env = name === 'reports-db' || name === 'warehouse' ? 'dev' : 'prod';
    const opens = isProposal && name === 'orders-db';
    const spec = { access_mode_connect: opens ? 'enabled' : 'disabled', reviewers: ['dba-team'], connection_tags: { env } };
    return [`access/${name}.yaml`, connection(name, spec)];
  });
  const types = isProposal ? ['EMAIL_ADDRESS'] : ['EMAIL_ADDRESS', 'CREDIT_CARD'];
  const masking = { score_threshold: 0.5, supported_entity_types: [{ name: 'PII', entity_types: types }], custom_entity_types: [] };
  return {
    'ostiary.yaml': config(gateway.url()),
    ...Object.fromEntries(connections),
    'access/no-drop.yaml': guardrail('no-drop', ['DROP TABLE'], { connection_ids: ['ledger-db', 'orders-db', 'payments-db'] }),
    'access/mask-pii.yaml': manifest('DataMaskingRule', 'mask-pii', { ...masking, connection_ids: ['ledger-db', 'payments-db'] }),
  };
}

async function changeOnGateway(name: string, fields: Readonly<Record<string, string[] | number>>): Promise<void> {
  const found = await gateway.call('GET', `/connections/${name}`);
  await gateway.call('PUT', `/connections/${idOf(found)}`, { body: { ...found.body, ...fields } });
}

beforeAll(async () => {
  const repository = make(company(false));
  folder = repository.folder;
  await gateway.run('apply --yes', folder, gitEnv);
  await changeOnGateway('orders-db', { reviewers: [], access_max_duration: 600 });
  repository.git('branch', 'released');
  repository.save(company(true));
});

async function plan(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { context, printed } = createTestContext({ cwd: folder, env: { ...gitEnv, ...gateway.env(), ...env }, columns });
  expect(await run(['plan', '--own', 'released', ...args], context)).toBe(0);
  return printed().stdout.replaceAll(gateway.url(), 'http://127.0.0.1:8009');
}

// `npm run generate` draws both again.
test('docs/pictures/plan.svg shows what a plan prints', async () => {
  const printed = await plan([], { FORCE_COLOR: '1' });
  const text = `\u001B[1m$ ostiary plan --own origin/main\u001B[22m\n${printed.replace(/\s+\S*Digest\S* \S*[0-9a-f]{64}\S*/, '')}`;
  await expect(terminalPicture(text, columns)).toMatchFileSnapshot(join(process.cwd(), 'docs/pictures/plan.svg'));
});

// Pixels differ between machines, so what is compared is the text of the page in its order, beside the hash of the picture that was drawn of it.
test('docs/pictures/page.png is a small picture of the page as it is', async () => {
  const [path, textPath] = ['docs/pictures/page.png', 'docs/pictures/page.txt'];
  const report = join(folder, 'plan.html');
  await plan(['--report', `html=${report}`]);
  const { page } = await open(readFileSync(report, 'utf8').replaceAll(gateway.url(), 'http://127.0.0.1:8009'), { width: 1100 });
  const words = (await page.locator('body').innerText()).replaceAll(/\b[0-9a-f]{12}\b/g, '0'.repeat(12));
  const textOf = (picture: Buffer): string => `${createHash('sha256').update(picture).digest('hex')} page.png\n\n${words}\n`;
  if (process.env['OSTIARY_TEST_PICTURES'] === '1' && textOf(readFileSync(path)) !== readFileSync(textPath, 'utf8')) {
    const picture = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width: 1100, height: 960 } });
    writeFileSync(path, picture);
    writeFileSync(textPath, textOf(picture));
  }
  expect(readFileSync(textPath, 'utf8')).toBe(textOf(readFileSync(path)));
  expect(statSync(path).size).toBeLessThan(300_000);
});
