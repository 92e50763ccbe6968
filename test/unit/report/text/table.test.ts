import { describe, expect, it } from 'vitest';
import { tableText } from '../../../../src/report/text/listings.ts';

const headers = ['name', 'type', 'reviewers'];
const rows = [
  ['orders-db', 'database', 'dba-team, sre, everybody-else-who-is-awake'],
  ['日本', 'application', ''],
  ['a\u001b[31m', 'custom', 'x'],
];

describe('tableText', () => {
  it('aligns columns and never clips without a terminal', () => {
    expect(tableText(headers, rows, undefined)).toBe(
      [
        'NAME         TYPE         REVIEWERS',
        'orders-db    database     dba-team, sre, everybody-else-who-is-awake',
        '日本         application',
        String.raw`a\u001b[31m  custom       x`,
        '',
      ].join('\n'),
    );
  });

  it('shortens the widest columns at a terminal', () => {
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

  it('stays within a terminal of any width', () => {
    for (let columns = 0; columns < 80; columns += 1) {
      for (const line of tableText(headers, rows, columns).split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  it('prints only the header without rows', () => {
    expect(tableText(headers, [], 80)).toBe('NAME  TYPE  REVIEWERS\n');
  });
});
