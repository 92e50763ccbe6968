import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { snapshotPlan } from '../../src/protection/posture/diff-postures.ts';
import { differencesOfPlan } from '../../src/protection/compare/plan-differences.ts';
import { assessProtection } from '../../src/protection/protection.ts';
import { buildProtectionMatrix } from '../../src/protection/protection-matrix.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { barriers, useBrowser } from '../support/browser.ts';
import { desiredState } from '../support/desired-state.ts';
import { connection } from '../support/manifests.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

const { open } = useBrowser();

function guardrail(name: string, words: readonly string[], connections: readonly string[]): Manifest {
  const input = { rules: [{ name: 'words', type: 'deny_words_list', words: [...words] }] };
  return { kind: 'GuardrailRule', metadata: { name }, spec: { input, connection_ids: [...connections] } };
}

const dialect = { dialect: 'interface', borrowed: ['Connection.access_groups'] };

/** The page of what changes between two sets of manifests. */
async function pageOf(before: readonly Manifest[], after: readonly Manifest[]): Promise<string> {
  const first = desiredState(before);
  // Objects are there already; what is left to do is to tie them.
  const gateway = memoryGateway({
    registry,
    agents: ['default'],
    resources: first.resources.map(({ key, spec }) => ({ id: key, spec })),
    dialect,
  });
  const applied = await planAgainst(gateway, first, { borrowed: dialect.borrowed });
  await applyPlan({ gateway, ...applied, desired: first, concurrency: 8 });
  const desired: DesiredState = desiredState(after);
  const { plan, live }: { readonly plan: typeof applied.plan; readonly live: LiveState } = await planAgainst(gateway, desired, {
    borrowed: dialect.borrowed,
  });
  const snapshots = snapshotPlan(plan, live, registry, { desired, base: first });
  const assessed = {
    ...plan,
    ...assessProtection(plan, { desired, live, snapshots, differences: differencesOfPlan(plan, snapshots), base: first, registry }),
  };
  const matrix = buildProtectionMatrix(assessed, snapshots);
  return renderHtml(planDocument([assessed], { matrix }));
}

function some(count: number, spec: (index: number) => JsonObject): readonly Manifest[] {
  return Array.from({ length: count }, (_, index) => connection(`db-${String(index).padStart(4, '0')}`, spec(index)));
}

const few = [
  [
    ...some(6, (index) => ({ reviewers: ['dba', 'sre'], connection_tags: { env: index < 3 ? 'prod' : 'dev' } })),
    guardrail('g', ['DROP'], ['db-0000']),
  ],
  [
    ...some(6, (index) => ({ reviewers: index === 1 ? ['dba'] : ['dba', 'sre'], connection_tags: { env: index < 3 ? 'prod' : 'dev' } })),
    guardrail('g', ['DROP', 'TRUNCATE'], ['db-0000', 'db-0004']),
  ],
] as const;

test.each([{}, { dark: true }, { width: 360 }] as const)(
  'the page is accessible, has no errors and makes no requests: %j',
  async (look) => {
    const { page, complaints } = await open(await pageOf(...few), look);
    expect(complaints).toEqual([]);
    expect(await barriers(page)).toEqual([]);
    const headlines = await page.locator('ul.headlines > li').allInnerTexts();
    const shown = headlines.map((text) => text.replaceAll(/\s+/g, ' ').trim()).join('\n');
    expect(shown).toMatch(/^weaker 1 connection loses reviewer group sre \(db-0001; env=prod\): access\/Connection-db-0001\.yaml:\d+\n/);
    expect(shown).toMatch(/\nstronger .* \(db-0004/);
  },
);

test('the matrix shows changed connections until a person asks for the others, and effects stay beside their causes on a phone', async () => {
  const { page } = await open(await pageOf(...few), { width: 400 });
  const rows = page.locator('table.picture tbody tr[data-name]:visible');
  const changed = await rows.count();
  expect(await page.locator('table.picture tr[data-direction=same]:visible').count()).toBe(0);
  await page.locator('#same').check();
  expect(await rows.count()).toBeGreaterThan(changed);
  await page.locator('#fold').click();
  const sizes = await page.locator('table.stack').evaluateAll((tables) => tables.map((table) => table.getBoundingClientRect().right));
  expect(sizes.length).toBeGreaterThan(0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(400);
});

test('search and filters show the matching objects and their count, also by keyboard', async () => {
  const { page } = await open(await pageOf(...few));
  const shown = (): Promise<number> => page.locator('table.picture tbody tr[data-name]:visible').count();
  const all = await shown();
  await page.locator('#search').fill('env=prod db-0001');
  expect(await shown()).toBe(1);
  expect(await page.locator('#count').innerText()).toMatch(/^\d+ of \d+ shown$/);
  await page.locator('#search').fill('nothing-is-called-so');
  expect(await shown()).toBe(0);
  await page.locator('#search').fill('');
  await page.locator('#direction').selectOption('weakens');
  expect(await page.locator('table.picture tbody tr[data-name]:visible').allInnerTexts()).toEqual([expect.stringContaining('db-0001')]);
  await page.locator('#direction').selectOption('');
  expect(await shown()).toBe(all);
  await page.locator('#fold').focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('details:not([open])').count()).toBe(0);
  expect(await page.locator('details table').first().innerText()).toContain('sre');
});

const reviewedBy =
  (...reviewers: readonly string[]) =>
  (index: number): JsonObject => ({ reviewers: [...reviewers], connection_tags: { env: ['prod', 'staging', 'dev'][index % 3] ?? '' } });

test('changes beyond 20 are folded until a search finds them; a single change has no table of before and after', async () => {
  const { page } = await open(await pageOf(some(25, reviewedBy('dba', 'sre')), some(25, reviewedBy('dba'))), { width: 360 });
  const folds = page.locator('details[data-rest] > summary');
  expect(await folds.allInnerTexts()).toEqual(['5 more changes', '5 more connections']);
  const last = page.locator('details[data-direction]', { hasText: 'db-0024' }).last();
  expect(await last.isVisible()).toBe(false);
  await page.locator('#search').fill('db-0024');
  expect(await last.isVisible()).toBe(true);
  const legend = await page.locator('table.picture caption').boundingBox();
  expect(legend?.width).toBeLessThanOrEqual(360);
  const single = await open(await pageOf(some(1, reviewedBy('dba', 'sre')), some(1, reviewedBy('dba'))));
  expect(await single.page.locator('h2').allInnerTexts()).toEqual(['Protection', 'Changes', 'Connections and their protection']);
});

const seenBy = (...access_groups: readonly string[]): JsonObject => ({ access_groups: [...access_groups], reviewers: ['dba'] });

test.each([{}, { dark: true }, { width: 400 }] as const)(
  'who can do what is a table with a choice of group, connection and verb: %j',
  async (look) => {
    const before = some(4, () => seenBy('dba'));
    const after = some(4, (index) => (index === 0 ? seenBy('dba', 'sre', 'contractors') : index < 3 ? seenBy('dba', 'sre') : seenBy()));
    const { page, complaints } = await open(await pageOf(before, after), look);
    expect([complaints, await barriers(page)]).toEqual([[], []]);
    const table = page.locator('table.permissions');
    expect(await table.locator('caption').innerText()).toMatch(
      /^10 permissions of a group on a connection change, \d+ stay the same\. Headlines state the others\.$/,
    );
    const rows = async (): Promise<readonly string[]> =>
      (await table.locator('tbody tr:visible').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
    expect((await rows()).length).toBe(3);
    expect((await rows())[0]).toMatch(/^sre db-0001 was no, will be yes, after approval by dba/);
    const choose = async (name: string, value: string): Promise<number> => {
      await page.locator(`[data-choice=${name}]`).selectOption(value);
      return (await rows()).length;
    };
    expect(await choose('group', 'sre')).toBe(3);
    expect(await choose('connection', 'db-0001')).toBe(1);
    expect(await choose('verb', 'exec')).toBe(1);
    expect(await choose('group', 'people in no group')).toBe(0);
    // The first letter of an option chooses it by keyboard.
    await page.locator('[data-choice=group]').focus();
    await page.keyboard.press('a');
    expect((await rows()).length).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.locator('.scroll:has(table.permissions)').evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    expect((await table.locator('caption').boundingBox())?.height).toBeLessThan(80);
  },
);

/** Lists the cells whose text is wider than the cell. */
const cutCells = `[...document.querySelectorAll('table.picture td, table.picture th')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)`;

const limitedTo =
  (limit: number) =>
  (index: number): JsonObject => ({ ...reviewedBy('dba', 'sre')(index), access_max_duration: limit });

/** Some connections that only groups reach, which adds a column. */
const grouped =
  (limit: number) =>
  (index: number): JsonObject => ({
    ...limitedTo(limit)(index),
    ...(index % 3 === 0 ? { access_groups: limit < 5000 ? ['a'] : null } : {}),
  });

test.each([
  ['without access groups', limitedTo],
  ['with access groups', grouped],
])('a page of 201 changes %s has no cell that overflows, and prints on few pages without unfolding its details', async (_, specOf) => {
  const { page } = await open(await pageOf(some(201, specOf(5400)), some(201, specOf(1800))));
  const headings = await page.locator('table.picture thead th').allTextContents();
  expect(headings.includes('who')).toBe(specOf === grouped);
  expect(await page.evaluate(cutCells)).toEqual([]);
  await page.setViewportSize({ width: 703, height: 1000 });
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate(cutCells)).toEqual([]);
  expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([703, 703]);
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  const pages = Number(
    /\/Type\s*\/Pages[^>]*\/Count (\d+)|\/Count (\d+)/
      .exec(pdf)
      ?.slice(1)
      .find((one) => one !== undefined),
  );
  expect(pages).toBeGreaterThan(2);
  expect(pages).toBeLessThan(20);
});

const canaries = [
  '<img src=x onerror="window.canary=1">',
  '</style><script>window.canary=1</script>',
  '"><svg onload=window.canary=1>',
  "' onmouseover='window.canary=1",
  'javascript:window.canary=1',
  '\u202E<b>x</b>',
];

test('no text of a manifest or a gateway runs as script or becomes HTML', async () => {
  const hostile = (more: readonly string[]): readonly Manifest[] => [
    connection('db', { reviewers: [...more], connection_tags: { env: 'prod' } }),
    guardrail('g', [...canaries, `${more.length}`], ['db']),
  ];
  const html = await pageOf(hostile(canaries), hostile(canaries.slice(1)));
  const { page, complaints } = await open(html);
  await page.locator('#fold').click();
  const shown = await page.evaluate(`[...document.querySelectorAll('body *')].map((one) => {
    for (const sort of ['mouseover', 'mouseenter', 'focus', 'load', 'error']) one.dispatchEvent(new Event(sort));
  }).length`);
  expect(shown).toBeGreaterThan(100);
  expect(await page.evaluate('window.canary')).toBeUndefined();
  expect(complaints).toEqual([]);
  expect(await page.locator('img, iframe, object, b, main script, svg[onload]').count()).toBe(0);
  expect(await page.locator('main').innerText()).toContain('<img src=x onerror');
});

test('a page of 1,000 changed connections has at most 60,000 elements', async () => {
  const html = await pageOf(some(1000, reviewedBy('dba', 'sre')), some(1000, reviewedBy('dba')));
  const { page, complaints } = await open(html);
  expect(complaints).toEqual([]);
  const rows = await page.locator('table.picture tr[data-direction="weakens"]').count();
  const rest = (await page.locator('table.picture').innerText()).matchAll(/and (\d+) more changed connections/g);
  expect([...rest].reduce((sum, [, more]) => sum + Number(more), rows)).toBe(1000);
  expect(rows).toBeGreaterThanOrEqual(300);
  expect(await page.locator('*').count()).toBeLessThanOrEqual(60_000);
});
