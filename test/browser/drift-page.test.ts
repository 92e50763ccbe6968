import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { config, connection, guardrail, manifest } from '../e2e/project.ts';
import { useGateway } from '../e2e/use-gateway.ts';
import { barriers, useBrowser } from '../support/browser.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';

const gateway = useGateway({ agents: ['default'] });
const { make } = useRepositories();
const { open } = useBrowser();

let html = '';

async function change(path: string, spec: object): Promise<void> {
  const { body } = await gateway.call('GET', path);
  await gateway.call('PUT', path, { body: { ...body, ...spec } });
}

beforeAll(async () => {
  const masking = { score_threshold: 0.5, supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS', 'PERSON'] }] };
  const { folder } = make({
    'ostiary.yaml': config(gateway.url()),
    'access/ledger.yaml': connection('ledger-db', { reviewers: ['dba-team'] }),
    'access/orders.yaml': connection('orders-db', { reviewers: ['dba-team', 'sre'], connection_tags: { env: 'prod' } }),
    'access/reports.yaml': connection('reports-db', { reviewers: ['analysts'], access_max_duration: 3600 }),
    'access/no-drop.yaml': guardrail('no-drop', ['DROP TABLE', 'ALTER'], { connection_ids: ['orders-db', 'reports-db'] }),
    'access/mask.yaml': manifest('DataMaskingRule', 'mask-pii', { ...masking, connection_ids: ['orders-db'] }),
  });
  await gateway.run('apply --yes', folder, gitEnv);
  await change('/connections/orders-db', { reviewers: ['dba-team'], connection_tags: { env: 'staging' } });
  await change('/connections/reports-db', { reviewers: ['security'], access_max_duration: 600 });
  await gateway.call('DELETE', '/connections/ledger-db');
  await gateway.run('drift --report html=drift.html', folder, gitEnv);
  html = readFileSync(join(folder, 'drift.html'), 'utf8').replaceAll(gateway.url(), 'http://127.0.0.1:8009');
});

async function text(one: Locator): Promise<string> {
  return (await one.innerText()).replaceAll(/\s+/g, ' ').trim();
}

test.each([{}, { dark: true }, { width: 400 }] as const)(
  'the page of a drift shows what differs, who changed it, what stays, and what a person can do: %j',
  async (look) => {
    const { page, complaints } = await open(html, look);
    expect([complaints, await barriers(page)]).toEqual([[], []]);
    expect(await page.locator('h1').innerText()).toMatch(
      /^Drift on production: .*\. Weakens protection of 2 connections, .*\. 3 objects changed /,
    );
    await page.locator('#fold').click();
    const objects = page.locator('main details[data-direction]:has(pre)');
    expect(await Promise.all((await objects.all()).map(text))).toEqual([
      expect.stringMatching(/^~ Connection\/orders-db .*access\/orders.yaml:20 .*- reviewers: sre .*by admin, 2\S+ \S+ UTC, /),
      expect.stringMatching(
        /^~ Connection\/reports-db held in part because it is stricter; apply --revert Connection\/reports-db undoes it .*! access_max_duration \(held\): 1 h → 10 min - reviewers: analysts \+ reviewers \(held\): security /,
      ),
      expect.stringMatching(/^- Connection\/ledger-db deleted outside Ostiary .*by admin, /),
    ]);
    const choices = page.locator('main ul:not(.headlines) > li');
    expect(await Promise.all((await choices.all()).map(text))).toEqual([
      expect.stringMatching(/^To accept it, ostiary drift --adopt .* accepts weaker protection of orders-db, reports-db; keeps stricter /),
      expect.stringMatching(
        /^To revert it, ostiary drift --revert .*writes 3 objects .* restores .* gives up stricter protection of reports-db\.$/,
      ),
      'If you do nothing, ostiary apply reverts it, except what is held on 1 object.',
    ]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.locator('#direction').selectOption('both');
    expect(await objects.locator('visible=true').locator('summary').allInnerTexts()).toEqual([expect.stringContaining('reports-db')]);
  },
);
