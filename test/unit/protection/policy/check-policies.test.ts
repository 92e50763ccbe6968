import { describe, expect, test } from 'vitest';
import { checkManifests, loadText, policyText, someConnection } from '../../../support/policies.ts';
import { connectionManifest } from '../../../support/risks.ts';

const reviewed = '    - size(connection.reviewers) > 0';

function waiver(connection: string, until: string, reason = 'agreed'): string {
  return `  waivers:\n    - { connection: '${connection}', until: ${until}, reason: ${reason} }\n`;
}

const several = [
  connectionManifest('orders', { connection_tags: { env: 'prod', data: 'customer' } }),
  connectionManifest('orders-readonly', { connection_tags: { env: 'prod' }, subtype: 'mysql' }),
  connectionManifest('desk', { type: 'application', subtype: 'httpproxy', connection_tags: { env: 'dev' } }),
];

function found(policies: string, today?: string): readonly string[] {
  const { report } = checkManifests(several, policies, today === undefined ? {} : { today });
  return report.findings.map(({ connection }) => connection.slice('Connection/'.length));
}

describe('a policy applies to', () => {
  test.each([
    ['', ['desk', 'orders', 'orders-readonly']],
    ['  match: {}\n', ['desk', 'orders', 'orders-readonly']],
    ['  match: { tags: { env: prod } }\n', ['orders', 'orders-readonly']],
    ['  match: { tags: { env: prod, data: [customer, cardholder] } }\n', ['orders']],
    ['  match: { type: application }\n', ['desk']],
    ['  match: { subtype: [mysql, httpproxy] }\n', ['desk', 'orders-readonly']],
    ['  match: { name: "orders*" }\n', ['orders', 'orders-readonly']],
    ['  match: { name: ["d?sk", "missing"], type: application }\n', ['desk']],
    ['  match: { name: "d?sk", type: database }\n', []],
  ])('%j', (match, names) => {
    expect(found(policyText(reviewed, match))).toEqual(names);
  });
});

function asked(today: string, until = '2026-11-21', connection = 'orders'): ReturnType<typeof checkManifests> {
  return checkManifests(several, policyText(reviewed, waiver(connection, until)), { today });
}

describe('a waiver', () => {
  test('exempts a connection up to and including its last day, and is reported', () => {
    const { report } = asked('2026-11-21');
    expect(report.findings.map(({ connection }) => connection)).toEqual(['Connection/desk', 'Connection/orders-readonly']);
    expect(report.waived).toEqual([
      { policy: 'p', connection: 'Connection/orders', result: 'violated', until: '2026-11-21', reason: 'agreed' },
    ]);
    expect(asked('2026-11-22').report.waived).toEqual([]);
  });

  test.each([
    ['2026-11-22', 'error policy/waiver-ended the waiver of "p" for orders ended on 2026-11-21 (today is 2026-11-22)'],
    ['2026-11-21', 'warning policy/waiver-ending the waiver of "p" for orders ends today (2026-11-21)'],
    ['2026-11-20', 'warning policy/waiver-ending the waiver of "p" for orders ends in 1 day (2026-11-21)'],
    ['2026-11-07', 'warning policy/waiver-ending the waiver of "p" for orders ends in 14 days (2026-11-21)'],
    ['2026-11-06', undefined],
    ['2025-01-01', undefined],
  ])('on %s', (today, expected) => {
    const [first] = asked(today).diagnostics.map(({ severity, code, message }) => `${severity} ${code} ${message}`);
    expect(first).toBe(expected);
  });

  test.each([
    ['orders*', ['orders', 'orders-readonly']],
    ['?esk', ['desk']],
    ['*', ['desk', 'orders', 'orders-readonly']],
  ])('exempts all connections with a name like %s', (pattern, names) => {
    const { report, diagnostics } = asked('2026-01-01', '2026-11-21', pattern);
    expect(report.waived.map(({ connection }) => connection.slice('Connection/'.length))).toEqual(names);
    expect(report.findings).toHaveLength(3 - names.length);
    expect(diagnostics).toEqual([]);
  });

  test.each([
    ['order', 'did you mean "orders"?'],
    ['legacy-*', 'remove it'],
    ['desk?', 'did you mean "desk"?'],
  ])('for %s, which matches no connection, is reported', (pattern, hint) => {
    const { report, diagnostics } = asked('2026-01-01', '2026-11-21', pattern);
    expect(report.waived).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'policy/waiver-unused', severity: 'warning', hint }]);
  });
});

test.each(['warning', 'error'])('an ended waiver of a policy with the severity %s has this severity', (severity) => {
  const waivers = '  waivers: [{ connection: orders, until: 2026-11-21, reason: agreed }]\n';
  const { diagnostics } = checkManifests(several, policyText(reviewed, `  severity: ${severity}\n${waivers}`), { today: '2026-11-22' });
  expect(diagnostics).toMatchObject([{ code: 'policy/waiver-ended', severity }]);
});

test('a policy may only warn', () => {
  const { report } = checkManifests(several, policyText(reviewed, '  severity: warning\n  message: please\n'));
  expect(report.findings.map(({ severity, message }) => `${severity} ${message}`)).toContain('warning policy "p": please');
});

test('every expression has its own message and a position in the manifest', () => {
  const require = '    - { expression: connection.access_mode_connect == "disabled", message: no forwarding }';
  const [first] = checkManifests(several.slice(0, 1), policyText(require)).report.findings;
  expect(first).toMatchObject({ message: 'policy "p": no forwarding', at: { file: 'access/Connection-orders.yaml', line: 10 } });
});

function codes(text: string): readonly string[] {
  return loadText(`${someConnection}---\n${text}`).diagnostics.map(({ code, at }) => `${code} ${at?.line}:${at?.column}`);
}

describe('an invalid policy document', () => {
  const whole = policyText(reviewed);
  test.each([
    ['a field that is none', whole.replace('require', 'requires'), ['manifest/missing-field 16:1', 'manifest/unknown-field 17:3']],
    ['no day', `${whole}${waiver('a', '2026-02-29')}`, ['policy/no-such-day 20:33']],
    ['no reason', `${whole}${waiver('a', '2026-02-28', '""')}`, ['manifest/too-short 20:53']],
    ['a severity that is none', `${whole}  severity: fatal\n`, ['manifest/not-allowed-value 19:13']],
    ['a target that is none', whole.replace('{ name: p }', '{ name: p, targets: [tset] }'), ['manifest/unknown-target 15:32']],
    ['two of one name', `${whole}---\n${whole}`, ['manifest/duplicate-name 22:19']],
    ['no apiVersion', whole.replace('apiVersion: ostiary/v1\n', ''), ['manifest/missing-field 13:1']],
  ])('%s', (_, text, expected) => {
    expect(codes(text)).toEqual(expected);
  });

  test('does not apply to another target', () => {
    const { value } = loadText(`${someConnection}---\n${whole.replace('{ name: p }', '{ name: p, targets: [other] }')}`);
    expect(value?.policies).toBeUndefined();
  });
});
