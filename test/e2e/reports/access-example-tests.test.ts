import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asObject, asText, objectsIn } from '../../../src/model/json.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { filesBelow, useProjects } from '../project.ts';

const example = join('examples', 'access');
const make = useProjects();
const files: Readonly<Record<string, string>> = Object.fromEntries(
  filesBelow(example).map((path) => [path, readFileSync(join(example, path), 'utf8')]),
);

type Target = 'serve' | 'hoop';

/** One edit of a file; on the other gateway, another file decides the same. */
type Edit = readonly [path: string, from: string, to: string];

const orders = 'access/orders.yaml';
const data = 'access/data.yaml';
const rule = 'rules/approval.yaml';
const reviewers = 'overlays/serve/approval.yaml';

/** The edit that breaks each expectation of a target, in their order. */
const edits: Readonly<Record<Target, readonly Edit[]>> = {
  serve: [
    ['access/payments.yaml', '[payments]', '[payments, contractors]'],
    [data, '[data, orders]', '[data, orders, contractors]'],
    [orders, '[orders, contractors]', '[orders, contractors, payments]'],
    ['access/payments.yaml', '[payments]', '[payments, data]'],
    [orders, '[orders, contractors]', '[contractors]'],
    [reviewers, 'min_review_approvals: 2', 'min_review_approvals: 1'],
    [reviewers, 'access_max_duration: 3600', 'access_max_duration: 7200'],
    [reviewers, '[oncall-leads]', '[oncall-leads, data]'],
    [reviewers, '[dba, security]', '[dba, sre]'],
    [reviewers, '[dba, security]', '[sre, security]'],
    [orders, 'runbooks: enabled', 'runbooks: disabled'],
    ['access/payments.yaml', '[payments]', '[payments, orders]'],
  ],
  hoop: [
    ['access/payments.yaml', '[payments]', '[payments, contractors]'],
    [data, '[data, orders]', '[data, orders, contractors]'],
    [orders, '[orders, contractors]', '[orders, contractors, payments]'],
    ['access/payments.yaml', '[payments]', '[payments, data]'],
    [orders, '[orders, contractors]', '[contractors]'],
    [rule, 'min_approvals: 2', 'min_approvals: 1'],
    [rule, 'access_max_duration: 3600', 'access_max_duration: 7200'],
    [rule, '[oncall-leads]', '[oncall-leads, data]'],
    [rule, '[dba, security]', '[dba, sre]'],
    [rule, 'approval_required_groups: [contractors]', 'approval_required_groups: [trainees]'],
    ['rules/runbooks.yaml', 'user_groups: [orders]', 'user_groups: [orders, contractors]'],
    ['rules/attributes.yaml', 'access_groups: [pci-auditors]', 'access_groups: []'],
  ],
};

/** Returns the errors of a validate: the line of the expectation, what is wrong, and the lines that decide it. */
async function validate(target: Target, given: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { stdout } = await ostiaryInProcess(['validate', '--target', target, '--today', '2030-01-01', '--format', 'json'], {
    cwd: make(given),
  });
  const { diagnostics } = JSON.parse(stdout);
  return objectsIn(diagnostics).flatMap(({ severity, at, message, hint }) => {
    const { file, line } = asObject(at);
    return severity === 'error' ? [[`${asText(file)}:${JSON.stringify(line)}`, asText(message), asText(hint)].join('\n')] : [];
  });
}

/** Lists the lines of the expectations of a target, in their order. */
function expectationLines(target: Target): readonly string[] {
  const paths = ['access/tests.yaml', ...(target === 'hoop' ? ['rules/tests.yaml'] : [])];
  const lines = paths.flatMap((path) =>
    (files[path] ?? '').split('\n').flatMap((text, index) => (text.startsWith('  - ') ? [`${path}:${index + 1}`] : [])),
  );
  // The last document of the shared file counts for ostiary serve alone.
  return target === 'serve' ? lines : lines.filter((_, index) => index < 9 || index >= 12);
}

test.each(['serve', 'hoop'] as const)('the twelve access tests of the example pass on %s', async (target) => {
  expect(expectationLines(target)).toHaveLength(12);
  expect(await validate(target, files)).toEqual([]);
});

test('what others get is refused by validate and by test, beside the expectation of the group', async () => {
  const [path, from, to] = edits.serve[1] ?? ['', '', ''];
  const given = { ...files, [path]: (files[path] ?? '').replaceAll(from, to) };
  const others = (files['access/others.yaml'] ?? '').split('\n').findIndex((line) => line.includes('others') && line.includes('data')) + 1;
  for (const command of ['validate', 'test']) {
    const { code, stdout, stderr } = await ostiaryInProcess([command, '--target', 'serve'], { cwd: make(given) });
    const printed = `${stdout}${stderr}`;
    const found = [`access/others.yaml:${others}`, expectationLines('serve')[1] ?? 'none'].map((one) => printed.includes(one));
    expect([command, code, ...found]).toEqual([command, 3, true, true]);
  }
});
