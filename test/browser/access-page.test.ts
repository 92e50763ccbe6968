import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { asObject } from '../../src/model/json.ts';
import { groupsIn, permissionsByGroup } from '../../src/protection/permission/permission.ts';
import { readPostures } from '../../src/protection/posture/posture.ts';
import { allConnections, desiredSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { renderAccessPage } from '../../src/report/html/access-page.ts';
import { accessReport } from '../../src/report/text/access-report.ts';
import { barriers, useBrowser } from '../support/browser.ts';
import { desiredState } from '../support/desired-state.ts';
import { largeAccess } from '../support/large-access.ts';

const { open } = useBrowser();

const place = { file: 'access/orders.yaml', line: 9, column: 1 };

function pageOf(connections: number, teams: number): string {
  const desired = desiredState(largeAccess(connections, teams).map(([name, spec]) => ({ kind: 'Connection', metadata: { name }, spec })));
  const snapshot = desiredSnapshot(desired, registry, 'interface');
  const postures = readPostures(snapshot);
  const reported = allConnections(snapshot).flatMap((id) => {
    const posture = postures(id);
    if (posture === undefined) return [];
    const { byGroup, others } = permissionsByGroup({ id, posture, snapshot }, groupsIn(snapshot));
    return [{ id, tags: asObject(snapshot.resources.get(id)?.spec['connection_tags']), people: [others, ...byGroup.values()] }];
  });
  const origin = { commit: 'a'.repeat(40), time: '2026-11-27T00:00:00.000Z', author: 'Ada <b>' };
  const target = 'production';
  return renderAccessPage(
    accessReport({
      target,
      source: 'manifests',
      commit: origin.commit,
      connections: reported,
      placeOf: () => place,
      originOf: () => origin,
    }),
  );
}

test.each([{}, { dark: true }, { width: 400 }] as const)('the report on access is accessible and searches: %j', async (look) => {
  const { page, complaints } = await open(pageOf(12, 3), look);
  expect(complaints).toEqual([]);
  expect(await barriers(page)).toEqual([]);
  await page.locator('#search').fill('env=prod sre');
  expect(await page.locator('tbody tr:visible').count()).toBeGreaterThan(0);
  expect((await page.locator('#count').innerText()).trim()).toMatch(/^\d+ of \d+ shown$/);
  await page.locator('#search').fill('');
  const width = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(width).toBeLessThanOrEqual(0);
});
