import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection, manifest } from '../e2e/project.ts';
import { switchOn } from '../support/access-project.ts';
import { type CommandResult, hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { scenarioWorld } from '../support/hoop-scenario.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { applyAndExpectInSync, expectRefused, refuse, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const many = ['--allow', 'plan/too-many-updates=agreed'];
const windows = ['--allow', 'plan/window=agreed'];
const ends = { connection_ids: ['orders-db'] };

function guards(word: string, more: JsonObject = ends, name = 'no-drop'): string {
  return manifest('GuardrailRule', name, { input: { rules: [{ name: word, type: 'deny_words_list', words: [word] }] }, ...more });
}

function masks(type: string, score = 0.5): string {
  return manifest('DataMaskingRule', 'pii', {
    score_threshold: score,
    supported_entity_types: [{ name: 'CONTACT', entity_types: [type] }],
    ...ends,
  });
}

function approval(name: string, spec: JsonObject): string {
  return manifest('AccessRequestRule', name, { access_type: 'jit', min_approvals: 1, ...spec });
}

function granting(name: string, groups: readonly string[]): string {
  return manifest('Attribute', name, { access_groups: [...groups] });
}

async function prepared(): Promise<HoopProject> {
  const project = await hoopProject({ licence: 'oss' });
  project.write({
    'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }),
    'access/b.yaml': guards('xp_drop'),
    'access/c.yaml': masks('EMAIL_ADDRESS'),
  });
  await applyAndExpectInSync(project);
  return project;
}

/** Returns what an apply changed, in the words of its paths, in this order. */
function changedBy(applied: CommandResult): readonly (string | undefined)[] {
  return writes(applied).map((request) => request.split('/')[2]);
}

/** Applies, and returns the connections that were less protected than both ends at any request, and what was changed. */
async function watched(
  project: HoopProject,
  args: readonly string[] = [],
): Promise<{ readonly exposed: readonly string[]; readonly put: ReturnType<typeof changedBy> }> {
  const before = scenarioWorld(project.model);
  const states: ResourceStates[] = [];
  project.model.setFault(() => void states.push(scenarioWorld(project.model)));
  const applied = await project.ostiary(['apply', '--yes', ...args]);
  project.model.setFault(undefined);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const after = scenarioWorld(project.model);
  return { exposed: [...new Set(states.flatMap((state) => exposedConnections(state, before, after)))], put: changedBy(applied) };
}

test.each([
  [
    'another rule that only loses is written after it',
    { 'access/c.yaml': masks('EMAIL_ADDRESS', 0.7) },
    ['guardrails', 'datamasking-rules'],
  ],
  [
    'another rule that only gains is written before it',
    { 'access/c.yaml': masks('EMAIL_ADDRESS', 0.3) },
    ['datamasking-rules', 'guardrails'],
  ],
  [
    'a connection that only loses is written after it',
    { 'access/a.yaml': connection('orders-db'), 'access/c.yaml': masks('EMAIL_ADDRESS', 0.7) },
    ['guardrails', 'connections', 'datamasking-rules'],
  ],
  [
    'a connection that only gains is written before it',
    { 'access/a.yaml': connection('orders-db', { reviewers: ['dba', 'sre'] }), 'access/c.yaml': masks('EMAIL_ADDRESS', 0.7) },
    ['connections', 'guardrails', 'datamasking-rules'],
  ],
])('a rule that the free license does not allow merged is written once: %s, and nothing is open', async (_, files, order) => {
  const project = await prepared();
  project.write({ 'access/b.yaml': guards('xp_delete'), ...files });
  const { exposed, put } = await watched(project);
  expect([exposed, put]).toEqual([[], order]);
  expect((await project.ostiary(['plan'])).stdout).toContain('No changes');
});

test('if no order avoids an exposure window, the plan names it, and apply requires a reason', async () => {
  const project = await prepared();
  project.write({ 'access/b.yaml': guards('xp_delete'), 'access/c.yaml': masks('PERSON') });
  const { stdout } = await expectRefused(project, 'plan/window', 6);
  const words = stdout.replaceAll(/\s+/g, ' ');
  expect(words).toContain('plan/window access/b.yaml:1:1 GuardrailRule/no-drop:');
  expect(words).toContain('it cannot be written in two steps, because the free license allows one entry of input rules, but there are 2');
  expect(words).toContain(
    'Connection/orders-db is less protected after GuardrailRule/no-drop removes input.rules.xp_drop, and before DataMaskingRule/pii adds supported_entity_types.CONTACT.entity_types.PERSON',
  );
  expect(words).toContain('--allow plan/window=REASON');
  const allow = ['--allow', 'plan/window=agreed with the dba team'];
  const planned = await project.ostiary(['plan', ...allow]);
  expect([planned.code, planned.stderr]).toEqual([0, '']);
  expect(planned.stdout.replaceAll(/\s+/g, ' ')).toContain('Overridden: plan/window: agreed with the dba team');
  expect(planned.stdout).toContain('2 exposure windows: during apply, less protection');
  expect((await watched(project, allow)).exposed).not.toEqual([]);
  expect((await project.ostiary(['plan'])).stdout).toContain('No changes');
});

test('two rules are written once each, at the same time: no window is shorter', async () => {
  const project = await prepared();
  project.write({ 'access/b.yaml': guards('xp_delete'), 'access/c.yaml': masks('PERSON') });
  const applied = await project.ostiary(['apply', '--yes', '--allow', 'plan/window=x', '--format', 'json']);
  expect([applied.code, writes(applied).length]).toEqual([0, 2]);
  const puts = applied.requests.flatMap((request, index) => (request.startsWith('PUT') ? [index] : []));
  const between = applied.requests.slice(puts[0], puts[1]).filter((request) => request === 'GET /api/connections');
  expect(between).toEqual([]);
});

test.each([1, 2, 3, 5, 14])('a review is asked for before %i attributes grant other groups', async (count) => {
  const project = await hoopProject({});
  await switchOn({ project });
  const names = Array.from({ length: count }, (_, index) => `at-${index}`);
  const files = (groups: readonly string[]): Readonly<Record<string, string>> => ({
    'access/db.yaml': connection('orders-db', { attributes: ['asked', ...names] }),
    'access/at.yaml': [
      manifest('Attribute', 'asked', {}),
      ...names.map((name, index) => manifest('Attribute', name, { access_groups: ['old', ...groups.slice(index, index + 1)] })),
    ].join('---\n'),
    ...Object.fromEntries(
      ['jit', 'command'].map((type) => [
        `access/${type}.yaml`,
        manifest('AccessRequestRule', `by-${type}`, {
          access_type: type,
          attributes: ['asked'],
          approval_required_groups: ['old', ...groups],
          reviewers_groups: ['dba'],
          min_approvals: 1,
        }),
      ]),
    ),
  });
  project.write(files([]));
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write(files(names.map((name) => `of-${name}`)));
  const applied = await project.ostiary(['apply', '--yes', ...windows, ...many]);
  expect(applied.code).toBe(0);
  expect(changedBy(applied)).toEqual(['access-requests', 'access-requests', ...names.map(() => 'attributes')]);
});

test.each([2, 5, 14])(
  '%i attributes of which half grant a group and half take one away need no window: nothing is granted first',
  async (count) => {
    const project = await hoopProject();
    await switchOn({ project });
    const names = Array.from({ length: count }, (_, index) => `at-${index}`);
    const files = (grants: (index: number) => boolean): Readonly<Record<string, string>> => ({
      'access/db.yaml': connection('orders-db', { attributes: names, access_groups: ['dba'] }),
      'access/at.yaml': names
        .map((name, index) => manifest('Attribute', name, { access_groups: grants(index) ? [`of-${name}`] : [] }))
        .join('---\n'),
    });
    project.write(files((index) => index % 2 === 1));
    expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
    project.write(files((index) => index % 2 === 0));
    const applied = await project.ostiary(['apply', '--yes', ...many]);
    expect(applied.code).toBe(0);
    const put = writes(applied).map((request) => Number(request.split('-').at(-1)) % 2);
    expect(put).toEqual(put.toSorted((left, right) => right - left));
  },
);

test('a connection gets an attribute after all rounds that write attributes', async () => {
  const project = await hoopProject({});
  await switchOn({ project });
  const names = Array.from({ length: 9 }, (_, index) => `at-${index}`);
  const files = (group: string, attributes: readonly string[], exec: string): Readonly<Record<string, string>> => ({
    'access/db.yaml': connection('orders-db', { attributes: [...attributes], access_mode_exec: exec }),
    'access/at.yaml': names.map((name) => manifest('Attribute', name, { access_groups: [group] })).join('---\n'),
  });
  project.write(files('dba', names.slice(0, -1), 'disabled'));
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  const { store } = project.model;
  const seen = new Set<string>();
  project.model.setFault(() => {
    if (store.connectionAttributes.leftsOf('orders-db').includes('at-8'))
      for (const group of store.groupAttributes.rightsOf('at-8')) seen.add(group);
    return undefined;
  });
  project.write(files('dev', names, 'enabled'));
  expect((await project.ostiary(['apply', '--yes', ...windows, ...many])).code).toBe(0);
  expect([...seen]).toEqual(['dev']);
});

test('where attributes swap a group, no moment grants both: each grants neither first', async () => {
  const project = await hoopProject();
  await switchOn({ project });
  const names = Array.from({ length: 9 }, (_, index) => `at-${index}`);
  const files = (group: string): Readonly<Record<string, string>> => ({
    'access/db.yaml': connection('orders-db', { attributes: names }),
    'access/at.yaml': names.map((name) => manifest('Attribute', name, { access_groups: [group] })).join('---\n'),
  });
  project.write(files('old'));
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write(files('new'));
  const { store } = project.model;
  const seen = new Set<string>();
  project.model.setFault(
    () => void seen.add([...new Set(names.flatMap((name) => store.groupAttributes.rightsOf(name)))].toSorted().join(' ')),
  );
  const { code, stdout } = await project.ostiary(['apply', '--yes', ...many]);
  expect([code, stdout.includes('exposure window'), [...seen].toSorted()]).toEqual([0, false, ['', 'new', 'old']]);
});

test('a rule loses a word after the connection has gained the attribute of another rule with it', async () => {
  const project = await hoopProject({});
  project.write({
    'access/a.yaml': connection('orders-db', { attributes: [] }),
    'access/b.yaml': guards('xp_drop'),
    'access/c.yaml': guards('xp_drop', { attributes: ['tag'] }, 'tagged'),
  });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['tag'] }), 'access/b.yaml': guards('xp_delete') });
  const put = writes(await applyAndExpectInSync(project)).map((request) => request.split('/')[2]);
  expect(put).toEqual(['connections', 'guardrails']);
});

test.each([
  [
    'a rule while the rule that governs it next',
    'PUT /api/access-requests',
    approval('tagged', { attributes: ['tag'], reviewers_groups: ['dba'] }),
    ['dev', 'sre'].map((group) => approval('named', { connection_names: ['orders-db'], reviewers_groups: [group] })),
    windows,
  ],
  [
    'a guardrail while the guardrail that makes up for it',
    'PUT /api/guardrails',
    guards('DROP', { attributes: ['tag'] }, 'tagged'),
    [[], ['orders-db']].map((connections) => guards('DROP', { connection_ids: connections }, 'named')),
    [],
  ],
])('a connection keeps the attribute of %s cannot be written', async (_, refused, tagged, [before = '', after = ''], overrides) => {
  const project = await hoopProject({});
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['tag'] }), 'access/b.yaml': before, 'access/c.yaml': tagged });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: [] }), 'access/b.yaml': after });
  refuse(project, refused);
  const failed = await project.ostiary(['apply', '--yes', ...overrides]);
  expect([failed.code, project.model.store.connectionAttributes.leftsOf('orders-db')]).toEqual([5, ['tag']]);
});

test('a group gets access only after the rule that may govern instead of a new one has let go', async () => {
  const project = await hoopProject({});
  await switchOn({ project });
  const old = { reviewers_groups: ['dba'], approval_required_groups: ['sre'] };
  project.write({
    'access/a.yaml': connection('orders-db', { attributes: ['new-tag', 'old-tag'], access_groups: ['sre'] }),
    'access/b.yaml': manifest('Attribute', 'new-tag', {}),
    'access/c.yaml': approval('old', { ...old, attributes: ['old-tag'] }),
  });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write({
    'access/b.yaml': manifest('Attribute', 'new-tag', { access_groups: ['dev'] }),
    'access/c.yaml': approval('old', { ...old, attributes: ['other-tag'] }),
    'access/d.yaml': approval('new', { reviewers_groups: ['dba'], attributes: ['new-tag'] }),
  });
  // The new rule may get the higher id: then the old one would govern, and ask the new group for nothing.
  refuse(project, 'PUT /api/access-requests');
  const failed = await project.ostiary(['apply', '--yes']);
  expect([failed.code, writes(failed)]).toEqual([5, ['POST /api/access-requests/rules', 'PUT /api/access-requests/rules/old']]);
  project.model.setFault(undefined);
  expect(writes(await applyAndExpectInSync(project))).toEqual(['PUT /api/access-requests/rules/old', 'PUT /api/attributes/new-tag']);
});

test('a group gets no access while the rule before cannot be deleted; what takes access away, or is about another connection, is written', async () => {
  const project = await hoopProject({});
  await switchOn({ project });
  const { run, commit } = await repositories.apply(project, {
    'access/a.yaml': connection('orders-db', { attributes: ['tag', 'idle'], reviewers: ['dba'], access_groups: [] }),
    'access/b.yaml': connection('other-db', { attributes: ['other'], access_groups: [] }),
    'access/tag.yaml': granting('tag', []),
    'access/idle.yaml': granting('idle', ['dev']),
    'access/other.yaml': granting('other', []),
    'access/old.yaml': approval('old', { connection_names: ['orders-db'], reviewers_groups: ['sec'] }),
  });
  const granted = { 'access/tag.yaml': granting('tag', ['sre']), 'access/other.yaml': granting('other', ['sre']) };
  commit({ ...granted, 'access/idle.yaml': granting('idle', []) }, ['access/old.yaml']);
  refuse(project, 'DELETE');
  const failed = await run('apply --yes --prune');
  expect([failed.code, writes(failed).toSorted()]).toEqual([
    5,
    ['DELETE /api/access-requests/rules/old', 'PUT /api/attributes/idle', 'PUT /api/attributes/other'],
  ]);
  project.model.setFault(undefined);
  const ended = await run('apply --yes --prune');
  expect([ended.code, writes(ended)]).toEqual([0, ['DELETE /api/access-requests/rules/old', 'PUT /api/attributes/tag']]);
});

test('a rule that governs after another one stays while the connection that needs neither cannot be written', async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject({}), {
    'access/a.yaml': connection('orders-db', { attributes: ['tag'] }),
    'access/named.yaml': approval('named', { connection_names: ['orders-db', 'other-db'], reviewers_groups: ['dba'] }),
    'access/other.yaml': connection('other-db', {}),
    'access/tagged.yaml': approval('tagged', { attributes: ['tag'], reviewers_groups: ['dba'] }),
  });
  commit(
    {
      'access/a.yaml': connection('orders-db', { attributes: [], access_mode_connect: 'disabled', access_mode_exec: 'disabled' }),
      'access/named.yaml': approval('named', { connection_names: ['other-db'], reviewers_groups: ['dba'] }),
    },
    ['access/tagged.yaml'],
  );
  refuse(project, 'PUT /api/connections');
  const failed = await run('apply --yes --prune');
  expect([failed.code, writes(failed)]).toEqual([
    5,
    ['PUT /api/access-requests/rules/named', expect.stringContaining('PUT /api/connections/')],
  ]);
  project.model.setFault(undefined);
  const ended = await run('apply --yes --prune');
  expect([ended.code, writes(ended).at(-1)]).toEqual([0, 'DELETE /api/access-requests/rules/tagged']);
});

test('a connection that one rule takes before it has the attribute of another one has the attribute first', async () => {
  const skipping = { reviewers_groups: ['sec'], force_approval_groups: ['sre'], skip_review_groups: ['dev'] };
  const forced = { reviewers_groups: ['sec'], force_approval_groups: ['dev', 'sec'] };
  const { run, commit } = await repositories.apply(await hoopProject({}), {
    'access/a.yaml': connection('orders-db', { reviewers: ['sec'] }),
    'access/b.yaml': connection('other-db', {}),
    'access/one.yaml': approval('one', { ...skipping, connection_names: ['orders-db'] }),
    'access/other.yaml': approval('other', { ...forced, connection_names: ['other-db'] }),
  });
  commit({
    'access/a.yaml': connection('orders-db', { reviewers: ['sec'], attributes: ['tag'] }),
    'access/tag.yaml': granting('tag', []),
    'access/one.yaml': approval('one', { ...skipping, attributes: ['tag'], connection_names: [] }),
    'access/other.yaml': approval('other', { ...forced, connection_names: ['orders-db', 'other-db'] }),
  });
  // With the name of the connection first, the other rule would govern alone, and let other groups force an approval than before and after.
  const ended = await run('apply --yes');
  expect([ended.code, writes(ended).map((request) => request.replace(/\/[^/]*$/, ''))]).toEqual([
    0,
    ['POST /api', 'PUT /api/access-requests/rules', 'PUT /api/connections', 'PUT /api/access-requests/rules'],
  ]);
});

test('many attributes that grant groups wait for the connection that asks these groups for more', async () => {
  const project = await hoopProject();
  await switchOn({ project });
  const names = Array.from({ length: 14 }, (_, index) => `at-${index}`);
  const files = (isAfter: boolean): Readonly<Record<string, string>> => ({
    'access/db.yaml': connection('orders-db', { attributes: names, access_groups: ['dba'], ...(isAfter ? { reviewers: ['dba'] } : {}) }),
    'access/at.yaml': names.map((name) => manifest('Attribute', name, { access_groups: isAfter ? [`of-${name}`] : [] })).join('---\n'),
  });
  project.write(files(false));
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write(files(true));
  const applied = await project.ostiary(['apply', '--yes', ...many]);
  expect(applied.code).toBe(0);
  expect(changedBy(applied)).toEqual(['connections', ...names.map(() => 'attributes')]);
});

function asking(name: string, type: string, attributes: readonly string[], needed: number): string {
  const groups = { attributes: [...attributes], reviewers_groups: ['dba', 'sre'] };
  return approval(name, { ...groups, access_type: type, min_approvals: needed });
}

/** Two connections with an attribute each, and a rule of each step on some attributes. */
function askedBy(first: readonly string[], last: readonly string[], needed: number): Readonly<Record<string, string>> {
  return {
    'access/a.yaml': connection('orders-db', { attributes: ['cards'] }),
    'access/b.yaml': connection('people-db', { attributes: ['names'] }),
    'access/rules.yaml': [asking('native', 'jit', first, needed), asking('scripts', 'command', last, needed)].join('---\n'),
  };
}

test('rules that gain an attribute and lower their approvals, each on what the other one begins to govern, are as strict as both in between', async () => {
  const project = await hoopProject({});
  project.write(askedBy(['cards'], ['names'], 2));
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  project.write(askedBy(['cards', 'names'], ['cards', 'names'], 1));
  const put = writes(await applyAndExpectInSync(project)).map((request) => request.split('/').at(-1));
  expect(new Set(put.slice(0, 2))).toEqual(new Set(['native', 'scripts']));
  expect(new Set(put.slice(2))).toEqual(new Set(['native', 'scripts']));
});
