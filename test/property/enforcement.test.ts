import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { access } from '../../src/gateway/dialects/hoop/access.ts';
import { type EnforcingGateway, enforcementOf } from '../../src/protection/controls/enforcement.ts';
import { enforcedControls, type EnforcementCase, enforcementTable } from '../../src/protection/controls/enforcement-table.ts';
import { runCount } from '../support/property-runs.ts';

/** All cases of native sessions. */
const cases: readonly EnforcementCase[] = enforcementTable.flatMap(({ native, analyzer = 'unchecked' }) =>
  [...Object.values(native), analyzer].flatMap((cell) => (typeof cell === 'string' ? [] : cell)),
);
const flagNames = [...new Set(cases.flatMap(({ flags = {} }) => Object.keys(flags)))];
const versions = [...new Set(cases.flatMap(({ before }) => before ?? []))];

const connection = fc.record({
  type: fc.constantFrom('database', 'application', 'custom', 'httpproxy', 'other'),
  subtype: fc.constantFrom('', 'other', ...enforcementTable.flatMap(({ subtypes }) => subtypes)),
  access_mode_connect: fc.constantFrom('enabled', 'disabled'),
  access_mode_exec: fc.constantFrom('enabled', 'disabled'),
});

/** A version of the public gateway: one at which something changes, the one before, or today's. */
const version = fc.oneof(
  fc.constantFrom('1.148.0', ...versions),
  fc.constantFrom(...versions).map((text) => text.replace(/\d+\.\d+$/, (rest) => `${Number(rest.split('.')[0]) - 1}.9`)),
);
const gateway: fc.Arbitrary<Required<EnforcingGateway>> = fc.record({
  version,
  provider: fc.constantFrom('', 'gcp', 'mspresidio', 'alcatraz'),
  flags: fc.record(Object.fromEntries(flagNames.map((name) => [name, fc.boolean()]))).map((flags) => new Map(Object.entries(flags))),
});

/** Returns what each way to use a connection does with each control. */
function levelsOn(spec: Parameters<typeof enforcementOf>[0], on: EnforcingGateway): readonly string[] {
  const { channels, analyzer = 'none' } = enforcementOf(spec, on);
  return [...[...channels.values()].flatMap(({ of }) => enforcedControls.map((control) => of[control])), analyzer];
}

test('what a gateway does not report makes what it enforces unclear, and never stricter', () => {
  fc.assert(
    fc.property(connection, gateway, fc.subarray(['version', 'provider', 'flags'], { minLength: 1 }), (spec, known, hidden) => {
      const less = {
        version: hidden.includes('version') ? 'unknown' : known.version,
        ...(hidden.includes('provider') ? {} : { provider: known.provider }),
        ...(hidden.includes('flags') ? {} : { flags: hidden.includes('version') ? new Map<string, boolean>() : known.flags }),
      };
      const [all, some] = [levelsOn(spec, known), levelsOn(spec, less)];
      expect(some).toHaveLength(all.length);
      const changed = some.flatMap((level, index) => (level === all[index] || level === 'unclear' ? [] : [`${all[index]} to ${level}`]));
      expect(changed).toEqual([]);
    }),
    { numRuns: runCount(500) },
  );
});

test('a gateway with no provider enforces no mask, except one that the agent finds by itself', () => {
  fc.assert(
    fc.property(connection, gateway, (spec, known) => {
      const { channels } = enforcementOf(spec, { ...known, provider: '' });
      const masks = [...channels].flatMap(([name, { of }]) =>
        name === 'native' && spec.subtype === 'rdp' ? [] : [of.masking, of.redaction],
      );
      expect(masks.filter((level) => !['unchecked', 'unclear'].includes(level))).toEqual([]);
    }),
    { numRuns: runCount(500) },
  );
});

test('Ostiary reads every flag that the table names', () => {
  expect(flagNames.length).toBeGreaterThan(0);
  const rows = access['feature-flags']?.list.rows({ feature_flags: Object.fromEntries(flagNames.map((name) => [name, true])) });
  expect(rows?.rows.map((row) => String(Object(row).name))).toEqual(flagNames);
});
