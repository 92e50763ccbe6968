import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Json } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { checkPolicies } from '../../src/protection/policy/check-policies.ts';
import { compilePolicies, type CompiledPolicy } from '../../src/protection/policy/compile-policies.ts';
import { liveSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { findScalarOffset } from '../../src/manifest/yaml/scalar-offset.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { loadText, policyText, someConnection } from '../support/policies.ts';
import { connectionManifest, liveAs } from '../support/risks.ts';

/** Fields that may be hidden, with the values that may lie behind. */
const fields: Readonly<Record<string, readonly Json[]>> = {
  reviewers: [[], ['dba'], ['dba', 'sre']],
  access_mode_exec: ['enabled', 'disabled'],
  access_max_duration: [60, 9000, null],
  connection_tags: [{}, { env: 'prod' }, { env: 'dev' }],
  redact_types: [[], ['PERSON_NAME']],
  access_groups: [null, [], ['dba']],
};

const atom = fc.constantFrom(
  'size(connection.reviewers) > 0',
  '"dba" in connection.reviewers',
  'connection.reviewers.all(group, group.startsWith("d"))',
  'connection.access_mode_exec == "disabled"',
  'has(connection.access_max_duration)',
  'connection.access_max_duration <= 3600',
  '"env" in connection.connection_tags',
  'connection.connection_tags.exists(key, connection.connection_tags[key] == "prod")',
  'connection.redact_types == ["PERSON_NAME"]',
  'connection.type == "database"',
  'posture.approvals > 0',
  'size(posture.redaction) > 0',
  'access.exec.all(people, people.approval)',
  'access.connect.exists(people, "dba" in people.groups && people.min_approvals > 1)',
  '!access.connect.exists(people, "sre" in people.groups)',
  'access.connect.all(people, has(people.access_max_duration))',
);

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `(${left}) && (${right})`),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `(${left}) || (${right})`),
    tie('expression').map((inner) => `!(${inner})`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `((${a}) ? (${b}) : (${c}))`),
    tie('expression').map((inner) => `[connection].all(one, ${inner})`),
  ),
}));

const desired: DesiredState = desiredState([connectionManifest('orders', { resource_name: 'orders' })]);
const live = liveAs(desired);

function liveWith(spec: Readonly<Record<string, Json>>, unknown: readonly string[]): LiveState {
  return { ...live, resources: live.resources.map((one) => ({ ...one, spec: { ...one.spec, ...spec }, unknown })) };
}

function passes(rules: readonly CompiledPolicy[], state: LiveState): boolean {
  const snapshot = liveSnapshot(state, registry, 'interface');
  const checking = { rules, snapshot, resources: desired.resources, live: state.resources, registry, today: '2026-11-21' };
  return checkPolicies(checking).report.findings.length === 0;
}

/** All specs of some fields. */
function specs(names: readonly string[]): readonly Readonly<Record<string, Json>>[] {
  const [first, ...rest] = names;
  if (first === undefined) return [{}];
  return (fields[first] ?? []).flatMap((value) => specs(rest).map((spec) => ({ ...spec, [first]: value })));
}

test('a policy that passes with a hidden value passes for every value', () => {
  const shown = fc.record(Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, fc.constantFrom(...values)])));
  fc.assert(
    fc.property(expression, shown, fc.subarray(Object.keys(fields), { minLength: 1, maxLength: 2 }), (text, spec, hidden) => {
      const { value } = loadText(`${someConnection}---\n${policyText(`    - '${text}'`)}`);
      const { rules, diagnostics } = compilePolicies(value?.policies ?? [], registry);
      fc.pre(diagnostics.length === 0);
      const unknown = hidden.map((name) => `/${name}`);
      fc.pre(passes(rules, liveWith(spec, unknown)));
      const failing = specs(hidden).filter((behind) => !passes(rules, liveWith({ ...spec, ...behind }, [])));
      expect(failing).toEqual([]);
    }),
    { numRuns: runCount(40) },
  );
});

test('a policy that depends only on hidden values never passes', () => {
  const asking = atom.filter((text) => text.includes('connection.reviewers') || text.includes('approvals'));
  fc.assert(
    fc.property(asking, fc.boolean(), (text, isNegated) => {
      const { value } = loadText(`${someConnection}---\n${policyText(`    - '${isNegated ? `!(${text})` : text}'`)}`);
      const { rules } = compilePolicies(value?.policies ?? [], registry);
      expect(passes(rules, liveWith({ reviewers: ['dba'] }, ['/reviewers']))).toBe(false);
    }),
  );
});

test('the position of a character is found in every scalar style', () => {
  const word = fc.stringMatching(/^[a-z'"\\(){}.]{1,8}$/);
  const lines = fc.array(
    fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(lines, fc.nat(), fc.constantFrom('literal', 'folded', 'single', 'double'), (texts, pick, style) => {
      const value = texts.join(style === 'literal' ? '\n' : ' ');
      const written = {
        literal: `|-\n    ${texts.join('\n    ')}`,
        folded: `>-\n    ${texts.join('\n    ')}`,
        single: `'${texts.map((text) => text.replaceAll("'", "''")).join('\n    ')}'`,
        double: JSON.stringify(value),
      }[style];
      const source = `key: ${written}\nnext: 1\n`;
      const offset = pick % value.length;
      const at = findScalarOffset(source, 5, { value, offset });
      const found = source[at] === '\n' ? ' ' : source[at];
      const expected = value[offset] === '\n' ? ' ' : value[offset];
      expect([found === '\\' && style === 'double' ? source[at + 1] : found]).toEqual([expected]);
    }),
    { numRuns: runCount(100) },
  );
});
