import { describe, expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { asObject } from '../../src/model/json.ts';
import { groupsIn, permissionsByGroup } from '../../src/protection/permission/permission.ts';
import { allConnections, desiredSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { renderTablePage } from '../../src/report/html/page.ts';
import { accessReportPage } from '../../src/report/subjects/access-pages.ts';
import { accessReport, type ReportedConnection } from '../../src/report/subjects/access-report.ts';
import { barriers, useBrowser } from '../support/browser.ts';
import { desiredState } from '../support/desired-state.ts';
import type { Manifest } from '../support/scenario.ts';
import { largeAccess } from '../support/large-access.ts';

const { open } = useBrowser();

const place = { file: 'access/orders.yaml', line: 9, column: 1 };

type Reported = { readonly all: readonly ReportedConnection[]; readonly groups: readonly string[] };

function reported(manifests: readonly Manifest[]): Reported {
  const snapshot = desiredSnapshot(desiredState(manifests), registry, 'interface');
  const groups = groupsIn(snapshot);
  const all = allConnections(snapshot).flatMap((id) => {
    const { byGroup, others } = permissionsByGroup({ id, snapshot }, groups);
    return [{ id, tags: asObject(snapshot.resources.get(id)?.spec['connection_tags']), people: [others, ...byGroup.values()] }];
  });
  return { all, groups };
}

/** Many connections: production after an approval, the others used by teams that own them. */
function manyConnections(connections: number, teams: number): readonly Manifest[] {
  return largeAccess(connections, teams).map(([name, spec]) => ({ kind: 'Connection', metadata: { name }, spec }));
}

const source = { target: 'production', source: 'manifests', placeOf: () => place };

function reportOf({ all }: Reported): string {
  const origin = { state: 'committed', commit: 'a'.repeat(40), time: '2026-11-27T00:00:00.000Z', author: 'Ada <b>' } as const;
  return renderTablePage(accessReportPage(accessReport({ ...source, commit: origin.commit, connections: all, originOf: () => origin })));
}

const looks = [{}, { dark: true }, { width: 400 }] as const;

describe('the report on access', () => {
  test.each(looks)('is accessible, searches and chooses: %j', async (look) => {
    const { page, complaints } = await open(reportOf(reported(manyConnections(12, 3))), look);
    expect([complaints, await barriers(page)]).toEqual([[], []]);
    const rows = async (): Promise<readonly string[]> =>
      page.locator('tbody tr:visible').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent).join(' ')));
    const everything = await rows();
    await page.locator('#search').fill('env=prod sre');
    const found = await rows();
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((text) => /env=prod/.test(text) && /sre/.test(text))).toBe(true);
    expect((await page.locator('#count').innerText()).trim()).toBe(`${found.length} of ${everything.length} shown`);
    await page.locator('#search').fill('');
    const choose = async (choice: string, value: string): Promise<readonly string[]> => {
      await page.locator(`[data-choice=${choice}]`).selectOption(value);
      return rows();
    };
    const own = await choose('group', 'team-1');
    expect(own.filter((text) => /team-1/.test(text)).length).toBeGreaterThan(3);
    const [only] = await choose('connection', 'db-1');
    expect(only).toMatch(/^db-1env=prod.*team-1.* after .*dba and security/);
    expect(await choose('verb', 'runbooks')).toEqual([]);
    await choose('verb', '');
    // The first letter of an option chooses it by keyboard.
    await page.locator('[data-choice=connection]').focus();
    await page.keyboard.press('a');
    expect(await rows()).toEqual(own);
    const width = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(width).toBeLessThanOrEqual(0);
  });

  test('of 1,000 connections and 40 groups has at most 25,000 elements, chooses, searches, and prints', async () => {
    const html = reportOf(reported(manyConnections(1000, 38)));
    expect(Buffer.byteLength(html)).toBeLessThan(2_000_000);
    const { page, complaints } = await open(html);
    const elements = await page.locator('*').count();
    const pdf = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1');
    const sheets = Math.max(...[...pdf.matchAll(/\/Count (\d+)/g)].map(([, count]) => Number(count)));
    await page.locator('[data-choice=group]').selectOption('team-7');
    expect(await page.locator('tbody tr:visible', { hasText: 'team-7' }).count()).toBeGreaterThan(20);
    await page.locator('#search').fill('db-7');
    expect(complaints).toEqual([]);
    expect(elements).toBeLessThanOrEqual(25_000);
    expect([sheets > 10, sheets < 120], `${sheets} sheets`).toEqual([true, true]);
  });
});

test('the report names what a connection blocks and masks, and no group that can do nothing', async () => {
  const manifests: readonly Manifest[] = [
    { kind: 'Connection', metadata: { name: 'db' }, spec: { ...largeAccess(1, 1)[0]?.[1], access_groups: ['a', '<b>x</b>'] } },
    {
      kind: 'GuardrailRule',
      metadata: { name: 'g' },
      spec: { connection_ids: ['db'], input: { rules: [{ name: 'w', type: 'deny_words_list', words: ['DROP'] }] } },
    },
  ];
  const { page, complaints } = await open(reportOf(reported(manifests)));
  expect(complaints).toEqual([]);
  const rows = (await page.locator('tbody tr').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
  expect(rows).toEqual([
    expect.stringMatching(/^db env=prod, .* blocked DROP <b>x<\/b>, a after dba and security, 1 h .* access\/orders\.yaml:9/),
  ]);
  expect(await page.locator('main b').count()).toBe(0);
});
