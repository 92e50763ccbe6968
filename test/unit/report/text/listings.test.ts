import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Review } from '../../../../src/model/service.ts';
import { reviewListing, searchListing, templateListing, tableText, reviewText } from '../../../../src/report/text/listings.ts';
import { plainPalette, type Palette, visibleWidth } from '../../../../src/report/text/wrap.ts';

const group = { id: 'g', group: 'dba', status: 'APPROVED', forced_review: true, review_date: '2026-11-20T11:24:02.477Z' };
const by = { id: 'u', name: 'ada', email: 'ada@example.com', chat_id: '' };
const review: Review = {
  id: '1e625499-34c9-4b26-a9c3-17c7fa662bdf',
  created_at: '2026-11-20T11:20:20.411Z',
  session: 'f51ef3c4-9fca-45e0-a764-5810a8166295',
  type: 'jit',
  status: 'APPROVED',
  access_duration: 5_400_000_000_000,
  revoke_at: '',
  review_groups_data: [
    { ...group, reviewed_by: by },
    { ...group, group: 'security-officers-of-the-company', status: 'PENDING', forced_review: false, review_date: null, reviewed_by: null },
  ],
  time_window: { configuration: { start_time: '09:00', end_time: '18:00' } },
};

function named(name: string): (text: string) => string {
  return (text) => `<${name}>${text}</>`;
}

describe('reviews as text', () => {
  test('a list keeps whole ids in 80 columns, and states the age of each review', () => {
    const ages = [59, 60, 3599, 86_399, 86_400 * 30, -5, Number.NaN];
    const { headers, rows } = reviewListing(
      ages.map((age) => ({ ...review, created_at: String(age) })),
      Number,
    );
    expect(rows.map((row) => row[3])).toEqual(['59s', '1m', '59m', '23h', '30d', '0s', '']);
    const lines = tableText(headers, rows, 80).trimEnd().split('\n');
    for (const line of lines.slice(1)) expect(line.startsWith(review.id)).toBe(true);
    expect(lines.filter((line) => visibleWidth(line) > 80)).toEqual([]);
  });

  test('a review states its purpose, time window and the decision of each group', () => {
    expect(reviewText(review, { color: plainPalette, columns: 60 })).toBe(
      [
        '1e625499-34c9-4b26-a9c3-17c7fa662bdf  APPROVED',
        '  for                               jit, 1 h 30 min',
        '  window                            09:00 to 18:00 UTC',
        '  session                           f51ef3c4-9fca-45e0-a764…',
        '  asked                             2026-11-20T11:20:20.411Z',
        '  dba                               APPROVED, forced by ada…',
        '  security-officers-of-the-company  PENDING',
        '',
      ].join('\n'),
    );
  });

  test.each([
    [0, '0 s'],
    [999_999_999, '0 s'],
    [61_000_000_000, '1 min 1 s'],
    [172_800_000_000_000, '2 d'],
  ])('%i nanoseconds are %s', (nanoseconds, text) => {
    expect(reviewText({ ...review, access_duration: nanoseconds }, { color: plainPalette })).toContain(`jit, ${text}\n`);
  });

  test('only the status has a color', () => {
    const color: Palette = { ...plainPalette, green: named('green'), red: named('red'), yellow: named('yellow') };
    const first = (status: string): string => reviewText({ ...review, status }, { color }).split('\n')[0] ?? '';
    expect(first('APPROVED')).toBe(`${review.id}  <green>APPROVED</>`);
    expect(first('REVOKED')).toBe(`${review.id}  <red>REVOKED</>`);
    expect(first('PENDING')).toBe(`${review.id}  <yellow>PENDING</>`);
  });
});

describe('tableText', () => {
  const headers = ['name', 'type', 'reviewers'];
  const rows = [
    ['orders-db', 'database', 'dba-team, sre, everyone-else-who-is-awake'],
    ['日本', 'application', ''],
    ['a\u001b[31m', 'custom', 'x'],
  ];

  test('aligns columns and never clips without a terminal', () => {
    expect(tableText(headers, rows, undefined)).toBe(
      [
        'NAME         TYPE         REVIEWERS',
        'orders-db    database     dba-team, sre, everyone-else-who-is-awake',
        '日本         application',
        String.raw`a\u001b[31m  custom       x`,
        '',
      ].join('\n'),
    );
  });

  test('shortens the widest columns at a terminal', () => {
    expect(tableText(headers, rows, 44)).toBe(
      [
        'NAME         TYPE         REVIEWERS',
        'orders-db    database     dba-team, sre, ev…',
        '日本         application',
        String.raw`a\u001b[31m  custom       x`,
        '',
      ].join('\n'),
    );
  });

  test('stays within a terminal of any width', () => {
    for (let columns = 0; columns < 80; columns += 1) {
      for (const line of tableText(headers, rows, columns).split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  test('prints only the header without rows', () => {
    expect(tableText(headers, [], 80)).toBe('NAME  TYPE  REVIEWERS\n');
  });
});

test('no text of a gateway moves a cursor, hides or reorders anything', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const found = { id: text, name: text, type: text, subtype: text };
      const template = { name: text, repository: text, connections: [text], error: text, metadata: {}, commit: text, commit_author: text };
      const listings = [
        reviewListing([{ ...review, id: text, status: text, type: text }], () => 1),
        searchListing({
          connections: [{ ...found, resource_name: text }],
          resources: [found],
          runbooks: [{ name: text, repository: text }],
          errors: [],
        }),
        templateListing([{ ...template, commit_message: text }]),
      ];
      const nasty = {
        ...review,
        id: text,
        status: text,
        type: text,
        session: text,
        review_groups_data: [{ ...group, group: text, reviewed_by: { ...by, name: text } }],
      };
      const printed = [...listings.map(({ headers, rows }) => tableText(headers, rows, 80)), reviewText(nasty, { color: plainPalette })];
      for (const one of printed) expect(one.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }),
  );
});
