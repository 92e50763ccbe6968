import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../../support/scenario.ts';
import { checkManifests, policyText, policyDiagnostics } from '../../../support/policies.ts';
import { connectionManifest, guardrailManifest, liveAs, maskingManifest, pattern, registered, words } from '../../../support/risks.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { spellingOf } from '../../../../src/gateway/dialects/choose-dialect.ts';

const here = { file: 'access/policies.yaml' };

/** The only mistake, as `line:column message`; lines count from the first of the policy. */
function mistake(text: string): string {
  const found = policyDiagnostics(text);
  expect(found.map(({ code }) => code)).toEqual(['policy/expression']);
  const [one] = found;
  expect(one?.at).toMatchObject(here);
  return `${(one?.at?.line ?? 0) - 13}:${one?.at?.column} ${one?.message}`;
}

describe('an error in an expression is reported at its character', () => {
  test.each([
    ['plain', '    - size(connection.reviewerz) > 0', '5:23 type error: No such key: reviewerz'],
    ['single quotes', "    - 'connection.name == ''a'' || foo'", '5:36 type error: Unknown variable: foo'],
    ['double quotes', String.raw`    - "connection.name == \"a\" || foo"`, '5:36 type error: Unknown variable: foo'],
    ['an escape of four', String.raw`    - "\u0063onnection.nam == 'a'"`, '5:24 type error: No such key: nam'],
    ['a block', '    - |-\n      true &&\n        foo', '7:9 type error: Unknown variable: foo'],
    ['a folded block', '    - >-\n      true &&\n      foo', '7:7 type error: Unknown variable: foo'],
    ['several plain lines', '    - true\n      && foo', '6:10 type error: Unknown variable: foo'],
    ['a map', '    - { expression: "foo", message: no }', '5:22 type error: Unknown variable: foo'],
    ['inside has', '    - has(connection.access_max_durations)', '5:22 type error: No such key: access_max_durations'],
    ['no CEL', "    - 'size(connection.reviewers) >'", '5:36 invalid CEL expression: Unexpected token: EOF'],
    ['no question', '    - connection.name', '5:7 the expression has the type string, expected bool'],
    ['matches', '    - connection.name.matches("(a+)+$")', '5:7 matches() can take unbounded time'],
    ['a pattern that is none', '    - connection.name.re("(?=a)")', '5:26 invalid RE2 pattern: invalid or unsupported Perl syntax'],
    ['a pattern that is made', '    - connection.name.re(connection.type)', '5:7 re() requires a quoted pattern'],
    ['what is not there', '    - dyn(connection) == 3', '5:7 unknown function "dyn"'],
    ['bind', "    - 'cel.bind(a, [1], size(a) > 0)'", '5:8 unknown function "bind"'],
  ])('%s', (_, require, expected) => {
    expect(mistake(policyText(require))).toBe(expected);
  });

  test('with a suggestion', () => {
    expect(policyDiagnostics(policyText('    - size(connection.reviewer) > 0'))).toMatchObject([{ hint: 'did you mean "reviewers"?' }]);
  });
});

describe('with the names of the public gateway', () => {
  const spelling = spellingOf([{ dialect: 'hoop' }]);
  const dynamo = connectionManifest('keys', {
    type: 'custom',
    subtype: 'keyvaluedb',
    issuetracker_issue_template_id: 'OPS-1',
    connection_tags: { engine: 'dynamodb' },
  });
  const check = (require: string, more = ''): readonly (readonly [string, string])[] =>
    checkManifests([dynamo], policyText(`    - '${require}'`, more), spelling === undefined ? {} : { spelling }).report.findings.map(
      ({ result, message }) => [result, message],
    );

  test.each([
    ['connection.subtype == "dynamodb"'],
    ['"dynamodb" == connection.subtype && connection.subtype != "cloudwatch"'],
    ['connection.subtype in ["postgres", "dynamodb"]'],
    ['connection.subtype == "keyvaluedb"'],
    ['has(connection.jira_issue_template_id) && connection.jira_issue_template_id == "OPS-1"'],
    ['connection.connection_tags["engine"] == "dynamodb"'],
  ])('%s holds', (expression) => {
    expect(check(expression)).toEqual([]);
  });

  test('a match finds the connection', () => {
    const require = 'connection.subtype != "dynamodb"';
    expect(check(require, '  match: { subtype: dynamodb }\n')).toEqual([['violated', expect.any(String)]]);
    expect(check(require, '  match: { subtype: cloudwatch }\n')).toEqual([]);
  });

  test('an error is at its character behind a replaced name', () => {
    const found = policyDiagnostics(policyText(`    - connection.subtype == "dynamodb" && connection.nam == "a"`), spelling);
    expect(found).toMatchObject([{ at: { column: 54 }, message: 'type error: No such key: nam' }]);
    expect(policyDiagnostics(policyText('    - connection.jira_issue_template_id == ""'))).toMatchObject([{ code: 'policy/expression' }]);
  });
});

describe('an expression that would take too long is rejected before it is evaluated', () => {
  const nested = (depth: number): string => (depth === 0 ? 'true' : `connection.reviewers.all(x${depth}, ${nested(depth - 1)})`);
  const list = `[${Array.from({ length: 49 }, (_, index) => index).join(', ')}]`;
  test.each([
    ['deep brackets', `${'('.repeat(900)}true${')'.repeat(900)}`],
    ['many nots', `${'!'.repeat(1500)}true`],
    ['macros in macros', nested(4)],
    ['long lists in long lists', `${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c > 0)))`],
    ['a long chain', Array.from({ length: 200 }, () => 'true').join(' && ')],
    ['one megabyte', `connection.name == "${'a'.repeat(1_000_000)}"`],
    ['an endless list', `size([${'1,'.repeat(900)}1]) > 0`],
  ])('%s', (_, expression) => {
    const require = `    - '${expression}'`;
    expect(policyDiagnostics(policyText(require)).map(({ code }) => code)).toEqual(['policy/expression']);
  });

  test('so is one that reads too much of a connection', () => {
    const reviewers = Array.from({ length: 700 }, (_, index) => `group-${index}`);
    const policies = policyText('    - connection.reviewers.all(a, connection.reviewers.exists(b, b == a))');
    const { report } = checkManifests([connectionManifest('big', { reviewers })], policies);
    expect(report.findings).toMatchObject([{ result: 'unknown', message: expect.stringContaining('the evaluation exceeds its limit') }]);
  });
});

describe('a pattern that takes too long cannot be evaluated and does not pass', () => {
  const text = `["${'ab'.repeat(100)}"].map(x, ${sum('x', 60)}).map(y, ${sum('y', 60)})`;
  test.each([
    ['found', `${text}.exists(z, z.re("[ab]*a[ab]{400}[cd]"))`],
    ['not found', `!${text}.exists(z, z.re("[ab]*a[ab]{400}[cd]"))`],
  ])('%s', (_, expression) => {
    const { report } = checkManifests([connectionManifest('big')], policyText(`    - '${expression}'`));
    expect(report.findings).toMatchObject([{ result: 'unknown', message: expect.stringContaining('the evaluation exceeds its limit') }]);
  });
});

function sum(name: string, times: number): string {
  return Array.from({ length: times }, () => name).join('+');
}

const manifests: readonly Manifest[] = [
  connectionManifest('orders', {
    reviewers: ['dba', 'sre'],
    min_review_approvals: null,
    access_max_duration: 3600,
    connection_tags: { env: 'prod' },
    redact_types: ['PERSON_NAME'],
    secret: {
      'envvar:HOST': { value: 'db' },
      'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } },
      'envvar:TOKEN': { keep: true },
    },
    resource_name: 'orders',
  }),
  guardrailManifest('no-drop', [words('DROP'), pattern('a+')], { connection_ids: ['orders'] }),
  maskingManifest('people', { ...registered('PERSON'), score_threshold: 0.5, connection_selector: { match_tags: { env: 'prod' } } }),
];

describe('the variables of expressions', () => {
  test.each([
    'connection.name == "orders" && connection.type == "database" && connection.subtype == "postgres"',
    'connection.agent_id == "default" && connection.managed_by == ""',
    'connection.reviewers == ["dba", "sre"] && size(connection.force_approve_groups) == 0',
    'connection.access_max_duration == 3600 && has(connection.access_max_duration)',
    'connection.connection_tags["env"] == "prod" && connection.connection_tags.env == "prod"',
    '!("team" in connection.connection_tags) && !has(connection.connection_tags.team)',
    'connection.redact_enabled && connection.redact_types == ["PERSON_NAME"]',
    'connection.guardrail_rules == ["no-drop"] && guardrails[0].name == "no-drop"',
    'guardrails.all(rule, rule.input.rules.exists(entry, entry.words.exists(word, word == "DROP")))',
    'guardrails[0].input.rules.exists(entry, entry.pattern_regex == "a+") && size(guardrails[0].output.rules) == 0',
    'masking.exists(rule, rule.score_threshold < 0.6 && "PERSON" in rule.supported_entity_types[0].entity_types)',
    'connection.secret["envvar:HOST"].source == "inline" && !connection.secret["envvar:HOST"].credential',
    'connection.secret["envvar:PASS"].source == "env" && connection.secret["envvar:PASS"].credential',
    'connection.secret["envvar:TOKEN"].source == "kept" && size(connection.secret) == 3',
    'posture.access == ["connect"] && posture.approvals == 2 && "DROP" in posture.input',
    'connection.name.re("^ord") && !connection.name.re("^x") && connection.name.contains("der")',
  ])('%s', (expression) => {
    const { report } = checkManifests(manifests, policyText(`    - '${expression}'`));
    expect(report.findings.map(({ message }) => message)).toEqual([]);
    expect(report.connections).toBe(1);
  });

  test.each([
    ['postgres', []],
    ['tcp', ['violated']],
  ] as const)('posture.masking on a connection of type %s has what its proxy masks', (subtype, results) => {
    const on = connectionManifest('orders', { subtype, connection_tags: { env: 'prod' } });
    const { report } = checkManifests([on, ...manifests.slice(1)], policyText(`    - '"PERSON" in posture.masking && size(masking) == 1'`));
    expect(report.findings.map(({ result }) => result)).toEqual(results);
  });

  test.each([
    ['connection.access_max_duration < 10', 'violated'],
    ['size(connection.command) < 0', 'violated'],
    ['connection.connection_tags["team"] == "a"', 'unknown'],
    ['connection.min_review_approvals >= 1', 'unknown'],
    ['connection.min_review_approvals >= 1 && connection.name == "x"', 'violated'],
  ] as const)('%s is %s', (expression, result) => {
    expect(checkManifests(manifests, policyText(`    - '${expression}'`)).report.findings).toMatchObject([
      { result, connection: 'Connection/orders' },
    ]);
  });

  test.each([
    ['1/0 > 0', 'division by zero', 8],
    ['connection.connection_tags["team"] == "a"', 'no value for team', 8],
    ['size(connection.reviewers) > 0 && connection.connection_tags.team == "a"', 'no value for team', 69],
    ['guardrails[7].name == "a"', 'No such key: index out of bounds, index 7 >= size 1', 8],
    ['connection.min_review_approvals >= 1', 'no value for min_review_approvals', 19],
  ] as const)('%s fails at its character', (expression, reason, column) => {
    const { report } = checkManifests(manifests, policyText(`    - '${expression}'`));
    const message = `policy "p": could not be evaluated: ${reason}`;
    const at = { file: 'access/policies.yaml', line: 18, column };
    expect(report.findings).toMatchObject([{ result: 'unknown', message, error: { code: 'policy/expression', severity: 'error', at } }]);
  });

  test.each([
    'true || 1/0 > 0',
    'connection.reviewers[0] != "" || 1/0 > 0',
    '!has(connection.connection_tags.team) || connection.connection_tags.team == "a"',
    '"team" in connection.connection_tags ? connection.connection_tags.team == "a" : true',
  ])('%s passes, because the result does not depend on the failure', (expression) => {
    expect(checkManifests(manifests, policyText(`    - '${expression}'`)).report.findings).toEqual([]);
  });

  test('a hidden value cannot be evaluated unless the result does not depend on it', () => {
    const live = liveAs(desiredState(manifests));
    const hidden = { ...live, resources: live.resources.map((one) => ({ ...one, unknown: ['/reviewers'] })) };
    const resultOf = (expression: string): string | undefined =>
      checkManifests(manifests, policyText(`    - '${expression}'`), { live: hidden }).report.findings[0]?.result;
    expect(resultOf('size(connection.reviewers) > 0')).toBe('unknown');
    expect(resultOf('!(size(connection.reviewers) > 0)')).toBe('unknown');
    expect(resultOf('has(connection.reviewers)')).toBe('unknown');
    expect(resultOf('[connection].exists(one, size(one.reviewers) > 0)')).toBe('unknown');
    expect(resultOf('size(connection.reviewers) > 0 || connection.type == "database"')).toBeUndefined();
    const { findings } = checkManifests(manifests, policyText('    - size(connection.reviewers) > 0'), { live: hidden }).report;
    expect(findings).toMatchObject([{ message: 'policy "p": could not be evaluated: connection.reviewers cannot be seen' }]);
    expect(findings[0]?.error).toBeUndefined();
  });
});
