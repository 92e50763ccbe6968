import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReviewDetails } from '../../../../src/model/service.ts';
import { searchListing, templateListing } from '../../../../src/report/subjects/listings.ts';
import { tableText } from '../../../../src/report/text/table.ts';
import { reviewListing, reviewJsonOf, reviewText } from '../../../../src/report/text/reviews.ts';
import { plainPalette, visibleWidth } from '../../../../src/report/wrap.ts';

const group = { id: 'g', group: 'dba', status: 'APPROVED', forced_review: true, review_date: '2026-11-20T11:24:02.477Z' };
const by = { id: 'u', name: 'ada', email: 'ada@example.com', chat_id: '' };
const review: ReviewDetails = {
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
  about: { connection: 'orders-db', requester: 'otto@example.com', input: 'select 1\nfrom orders' },
  remaining: 1799,
};

describe('reviews as text', () => {
  test('a list keeps whole ids in 80 columns, and states the age of each review', () => {
    const ages = [59, 60, 3599, 86_399, 86_400 * 30, -5, Number.NaN];
    const listing = reviewListing(
      ages.map((age) => ({ ...review, created_at: String(age) })),
      Number,
    );
    const groups = 'dba APPROVED, waits for security-officers-of-the-company';
    expect((listing.details ?? []).map(([line]) => line)).toEqual([
      ...['59 s', '1 min', '59 min', '23 h', '30 d', '0 s'].map((age) => `requested ${age} ago by otto@example.com; ${groups}`),
      `requested by otto@example.com; ${groups}`,
    ]);
    const lines = tableText(listing, 80).trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith(`${review.id}  APPROVED  29 min left  orders-db`))).toHaveLength(7);
    expect(lines.filter((line) => line === String.raw`  input: select 1\nfrom orders`)).toHaveLength(7);
    expect(lines.filter((line) => visibleWidth(line) > 80)).toEqual([]);
  });

  test('a session that the token cannot read leaves its columns empty, and is null in JSON', () => {
    const hidden = { ...review, about: undefined, remaining: undefined };
    expect(reviewListing([hidden], Number)).toMatchObject({ rows: [[review.id, 'APPROVED', '1 h 30 min', '']], details: [{ length: 1 }] });
    expect(reviewJsonOf(hidden)).toMatchObject({ connection: null, requester: null, input: null, remaining_seconds: null });
    expect(reviewText(hidden, { color: plainPalette })).toContain(
      `  session                           ${review.session} (the token cannot read it)\n`,
    );
  });

  test('an input is escaped and bounded; the rest of it is counted', () => {
    const about = { connection: 'orders-db', requester: 'otto', input: `\u001b[2K\u202e${'x'.repeat(5000)}; drop table orders` };
    const [, line = ''] = reviewListing([{ ...review, about }], Number).details?.[0] ?? [];
    expect(line).toMatch(/^input: \S+x… \(4,824 more characters; --format json prints them\)$/);
    const shown = reviewText({ ...review, about }, { color: plainPalette, columns: 80 });
    expect(shown).toContain(String.raw`\u001b[2K\u202exx`);
    expect(shown.replaceAll(/\n */g, '')).toContain('x… (3,024 more characters; --format json prints them)');
    expect(reviewJsonOf({ ...review, about })['input']).toBe(about.input);
  });
});

test('no text of a gateway moves a cursor, hides or reorders anything', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const about = { connection: text, requester: text, input: text };
      const found = { id: text, name: text, type: text, subtype: text };
      const template = { name: text, repository: text, connections: [text], error: text, metadata: {}, commit: text, commit_author: text };
      const listings = [
        reviewListing([{ ...review, id: text, status: text, type: text, about }], () => 1),
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
        about,
        id: text,
        status: text,
        type: text,
        session: text,
        review_groups_data: [{ ...group, group: text, reviewed_by: { ...by, name: text } }],
      };
      const printed = [...listings.map((listing) => tableText(listing, 80)), reviewText(nasty, { color: plainPalette })];
      for (const one of printed) expect(one.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }),
  );
});
