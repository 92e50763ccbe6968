import { expect, test } from 'vitest';
import {
  checksAllOf,
  enforcementNote,
  enforcementOf,
  type EnforcingGateway,
  isSameEnforcement,
} from '../../../src/protection/controls/enforcement.ts';
import { type EnforcedControl, enforcedControls } from '../../../src/protection/controls/enforcement-table.ts';

const ssh = 'experimental.ssh_guardrails';
const sshInput = 'experimental.ssh_input_guardrails';
const rdp = 'experimental.rdp_pii_guard';
const flags = (...on: readonly string[]): ReadonlyMap<string, boolean> =>
  new Map([ssh, sshInput, rdp].map((name) => [name, on.includes(name)]));
const today: EnforcingGateway = { version: '1.148.0', provider: 'mspresidio', flags: flags() };
const undescribed: EnforcingGateway = {};

/** Each row: type and subtype, the gateway, and what native sessions do with input, output, masking and redaction. */
test.each<readonly [string, EnforcingGateway, string]>([
  ['database postgres', today, 'enforced, enforced, enforced, enforced'],
  ['database postgres', { ...today, version: '1.42.2' }, 'unchecked, unchecked, enforced, enforced'],
  ['database postgres', { ...today, provider: 'gcp' }, 'enforced, enforced, unchecked, enforced'],
  ['database postgres', { ...today, provider: '' }, 'enforced, enforced, unchecked, unchecked'],
  ['database postgres', { ...today, provider: 'alcatraz' }, 'enforced, enforced, enforced, enforced'],
  ['database postgres', { ...today, provider: undefined }, 'enforced, enforced, unclear, unclear'],
  ['database mssql', { ...today, provider: undefined }, 'enforced, unclear, unchecked, unchecked'],
  ['application httpproxy', { ...today, provider: 'gcp' }, 'enforced, unclear, unchecked, unchecked'],
  ['database postgres', undescribed, 'enforced, enforced, enforced, enforced'],
  ['database mysql', today, 'refused or enforced, refused or enforced, enforced, unchecked'],
  ['database mysql', { ...today, version: '1.108.2' }, 'unchecked, unchecked, enforced, unchecked'],
  ['database mysql', { ...today, version: 'unknown' }, 'unclear, unclear, enforced, unchecked'],
  ['database postgres', { ...today, version: 'unknown' }, 'enforced, enforced, enforced, enforced'],
  ['database postgres', { version: 'unknown' }, 'unclear, unclear, unclear, unclear'],
  ['database mysql', undescribed, 'enforced, enforced, enforced, enforced'],
  ['database mongodb', today, 'refused or enforced, refused or enforced, enforced, enforced'],
  ['database mssql', today, 'enforced, unclear, unchecked, unchecked'],
  ['database mssql', { ...today, version: '1.121.9' }, 'refused, refused, unchecked, unchecked'],
  ['database oracledb', today, 'enforced, enforced, enforced, enforced'],
  ['custom ', today, 'enforced, enforced, enforced, enforced'],
  ['custom bigquery', today, 'enforced, enforced, enforced, enforced'],
  ['custom bigquery', undescribed, 'unclear, unclear, unclear, enforced'],
  ['database newdb', today, 'unclear, unclear, unclear, unclear'],
  ['database newdb', undescribed, 'unclear, unclear, unclear, enforced'],
  ['application ssh', today, 'unchecked, unchecked, unchecked, unchecked'],
  ['application ssh', { ...today, flags: flags(ssh) }, 'only commands, only shells and commands, unchecked, unchecked'],
  ['application ssh', { ...today, flags: flags(sshInput) }, 'only typed lines, unchecked, unchecked, unchecked'],
  [
    'application ssh',
    { ...today, flags: flags(ssh, sshInput) },
    'only commands and typed lines, only shells and commands, unchecked, unchecked',
  ],
  ['application ssh', { ...today, flags: flags(ssh), provider: 'alcatraz' }, 'unclear, unclear, unchecked, unchecked'],
  ['application ssh', { ...today, flags: flags(ssh), version: '1.103.9' }, 'unchecked, unchecked, unchecked, unchecked'],
  ['application ssh', { ...today, flags: undefined }, 'unclear, unclear, unchecked, unchecked'],
  ['application git', today, 'unchecked, unchecked, unchecked, unchecked'],
  ['custom ssh', today, 'enforced, enforced, enforced, enforced'],
  ['application httpproxy', today, 'enforced, unclear, enforced, unchecked'],
  ['httpproxy claude-code', today, 'enforced, unclear, enforced, unchecked'],
  ['httpproxy postgres', today, 'enforced, unclear, enforced, unchecked'],
  ['application httpproxy', { ...today, version: '1.49.2' }, 'enforced, unclear, unchecked, unchecked'],
  ['application httpproxy', { ...today, version: '1.47.0' }, 'unchecked, unchecked, unchecked, unchecked'],
  ['application httpproxy', undescribed, 'unclear, unclear, unclear, enforced'],
  ['custom kubernetes', today, 'enforced, unclear, enforced, unchecked'],
  ['custom kubernetes', { ...today, version: '1.110.0' }, 'refused, refused, enforced, unchecked'],
  ['httpproxy mcpproxy', today, 'enforced, unclear, enforced, unchecked'],
  ['application tcp', today, 'refused, refused, unchecked, unchecked'],
  ['application tcp', { ...today, version: '1.108.2' }, 'unchecked, unchecked, unchecked, unchecked'],
  ['application tcp', undescribed, 'unclear, unclear, unchecked, enforced'],
  ['custom aws-ssm', today, 'refused or enforced, refused or enforced, unchecked, unchecked'],
  ['custom rdp', today, 'unchecked, unchecked, unchecked, unchecked'],
  ['custom rdp', { ...today, flags: flags(rdp) }, 'unchecked, unchecked, only sessions in the browser, unchecked'],
  ['custom rdp', { ...today, flags: flags(rdp), provider: '' }, 'unchecked, unchecked, only sessions in the browser, unchecked'],
  ['custom rdp', { ...today, flags: flags(rdp), version: '1.97.0' }, 'unchecked, unchecked, unchecked, unchecked'],
])('native sessions of %s on %o', (kind, gateway, expected) => {
  const { channels } = enforcementOf({ ...typeOf(kind), access_mode_connect: 'enabled' }, gateway);
  expect(enforcedControls.map((control) => channels.get('native')?.of[control]).join(', ')).toBe(expected);
});

function typeOf(kind: string): { readonly type: string; readonly subtype: string } {
  const [type = '', subtype = ''] = kind.split(' ');
  return { type, subtype };
}

function commandsOf(kind: string, gateway: EnforcingGateway, control: EnforcedControl = 'input'): string | undefined {
  return enforcementOf({ ...typeOf(kind), access_mode_exec: 'enabled' }, gateway).channels.get('commands')?.of[control];
}

test.each([
  ['mspresidio', 'enforced', 'enforced'],
  ['alcatraz', 'enforced', 'enforced'],
  ['gcp', 'unchecked', 'enforced'],
  ['', 'unchecked', 'unchecked'],
  [undefined, 'unclear', 'unclear'],
])('commands with the provider %o: masking %s, redaction %s', (provider, masking, redaction) => {
  const found = (control: EnforcedControl): string | undefined => commandsOf('custom rdp', { ...today, provider }, control);
  expect([found('masking'), found('redaction')]).toEqual([masking, redaction]);
});

test('commands check all rules, and the gateway runs none where it only forwards', () => {
  expect(['application ssh', 'application tcp', 'custom rdp', 'database mysql'].map((kind) => commandsOf(kind, today))).toEqual([
    undefined,
    undefined,
    'enforced',
    'enforced',
  ]);
  expect(commandsOf('application ssh', undescribed)).toBe('enforced');
});

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled' };

test.each([
  ['application ssh', 'input', 'not enforced on native ssh'],
  ['database mssql', 'masking', 'not enforced on native mssql'],
  ['database mssql', 'output', 'not known whether enforced on native mssql'],
  ['application tcp', 'input', 'native tcp refuses sessions'],
  ['database postgres', 'input', undefined],
] as const)('what reports say about %s: %s', (kind, control, expected) => {
  expect(enforcementNote(enforcementOf({ ...typeOf(kind), ...open }, today), control)).toBe(expected);
});

test('what one verb says about a control', () => {
  const found = enforcementOf({ ...typeOf('database mssql'), ...open }, today);
  expect(enforcementNote(found, 'masking', 'connect')).toBe('not enforced on native mssql');
  expect(enforcementNote(found, 'masking', 'exec')).toBeUndefined();
  const partly = enforcementOf({ ...typeOf('application ssh'), ...open }, { ...today, flags: flags(ssh) });
  expect(enforcementNote(partly, 'input', 'connect')).toBe('enforced on native ssh for commands alone');
});

const closed = { access_mode_connect: 'disabled', access_mode_exec: 'enabled' };

test.each([
  ['a type that checks nothing', 'database postgres', 'application ssh', open, open, false],
  ['native access that closes', 'application rdp', 'application rdp', open, closed, true],
  ['native access that opens', 'database mssql', 'database mssql', closed, open, true],
  ['another type behind closed native access', 'database postgres', 'custom rdp', closed, closed, true],
  ['another type, of both of which nothing is known', 'database newdb', 'database otherdb', open, open, false],
])('enforcement of masking in both directions: %s', (_, one, other, before, after, isSame) => {
  const [first, last] = [enforcementOf({ ...typeOf(one), ...before }, today), enforcementOf({ ...typeOf(other), ...after }, today)];
  expect(isSameEnforcement(first, last, 'masking')).toBe(isSame);
  expect(isSameEnforcement(last, first, 'masking')).toBe(isSame);
});

test('parts of what is checked are ordered by what they contain', () => {
  expect(checksAllOf('only commands and typed lines', 'only commands')).toBe(true);
  expect(checksAllOf('only commands', 'only commands and typed lines')).toBe(false);
  expect(checksAllOf('enforced', 'only commands')).toBe(true);
  expect(checksAllOf('only commands', 'refused or enforced')).toBe(false);
  expect(checksAllOf('only commands', 'only typed lines')).toBe(false);
});
