import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../../src/model/json.ts';
import type { Change } from '../../../src/model/plan/plan.ts';
import { digestOf } from '../../../src/reconcile/saved-plan/plan-digest.ts';
import { sealedPlan } from '../../../src/reconcile/saved-plan/saved-plan.ts';
import { planDocument } from '../../../src/report/subjects/plan.ts';
import { openText } from '../../support/saved-plan.ts';
import { commitAll, git } from '../../support/workflow.ts';
import { createKey } from '../../server/client.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, manyConnections, useProjects, writeFiles, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();

const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } };
const environment = { OSTIARY_SECRET_PASS: 'canary-value' };

function project(files: Files): string {
  return makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
}

/** A live connection whose manifest says more since, and the plan of that in a file. */
async function planned(name: string): Promise<string> {
  const cwd = project({ 'access/db.yaml': connection(name, { reviewers: ['dba'], secret }) });
  expect((await gateway.run('apply --yes', cwd, environment)).code).toBe(0);
  writeFiles(cwd, { 'access/db.yaml': connection(name, { reviewers: ['dba', 'sre'], secret }) });
  expect((await gateway.run('plan --out plan.json', cwd, environment)).code).toBe(0);
  return cwd;
}

/** Runs a command that must not write, and returns its output. */
async function refused(
  cwd: string,
  line = 'apply --yes --plan plan.json',
): Promise<{ readonly code: number | null; readonly printed: string }> {
  const before = gateway.server().log.length;
  const { code, stdout, stderr } = await gateway.run(line, cwd, environment);
  const asked = gateway.server().log.slice(before);
  expect(asked.filter((entry) => !entry.startsWith('GET '))).toEqual([]);
  return { code, printed: stdout + stderr };
}

function documentIn(cwd: string): JsonObject {
  const value: unknown = JSON.parse(readFileSync(join(cwd, 'plan.json'), 'utf8'));
  if (!isObject(value)) throw new Error('no plan');
  return value;
}

describe('a saved plan', () => {
  test('is applied once by the built command; only its owner can read its file, which contains no secret', async () => {
    const cwd = await planned('saved');
    expect(await gateway.process('plan --out plan.json', cwd, environment)).toMatchObject({ code: 0 });
    const text = readFileSync(join(cwd, 'plan.json'), 'utf8');
    expect(text).not.toContain('canary');
    expect(text).not.toContain(btoa('canary-value'));
    expect(statSync(join(cwd, 'plan.json')).mode & 0o777).toBe(0o600);
    const applied = await gateway.process('apply --yes --plan plan.json', cwd, environment);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining(': 1 updated.')]);
    expect(await gateway.reviewersOf('saved')).toEqual(['dba', 'sre']);
    const again = await gateway.process('apply --yes --plan plan.json', cwd);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining(': 1 unchanged.')]);
  });

  test('is for one target, its manifests and its repository', async () => {
    const cwd = await planned('placed');
    const other = makeProject({ 'ostiary.yaml': config({ staging: gateway.url() }) });
    cpSync(join(cwd, 'access'), join(other, 'access'), { recursive: true });
    cpSync(join(cwd, 'plan.json'), join(other, 'plan.json'));
    expect(await refused(other)).toEqual({ code: 6, printed: expect.stringContaining('plan/other-target') });
    writeFiles(cwd, { 'access/more.yaml': guardrail('more') });
    expect(await refused(cwd)).toEqual({ code: 6, printed: expect.stringContaining('plan/other-manifests') });
    const [here, there] = ['One', 'Another'].map((message) => {
      const folder = project({ 'access/rule.yaml': guardrail('here') });
      commitAll(folder, message);
      return folder;
    });
    if (here === undefined || there === undefined) throw new Error('no folders');
    git(there, 'commit --quiet --allow-empty --amend -m other');
    expect((await gateway.run('plan --base none --out plan.json', here)).code).toBe(0);
    cpSync(join(here, 'plan.json'), join(there, 'plan.json'));
    expect(await refused(there)).toEqual({ code: 6, printed: expect.stringContaining('plan/other-repository') });
  });

  test('is read only as it was saved: any other content is one clear error without a request', async () => {
    const cwd = await planned('whole');
    const text = readFileSync(join(cwd, 'plan.json'), 'utf8');
    const document = documentIn(cwd);
    const { saved: _, ...report } = document;
    const { plan: __, ...saved } = openText(text);
    const resealed = (change: object): string => JSON.stringify(sealedPlan(report, { ...saved, ...change }));
    const cases: readonly (readonly [string, number, string])[] = [
      ['', 3, 'it is empty'],
      ['null', 3, 'it is not a JSON object'],
      ['[]', 3, 'it is not a JSON object'],
      [text.slice(0, -20), 3, 'it is not JSON, or is truncated'],
      [text.replace('"sre"', '"evil"'), 3, 'it changed after it was saved'],
      [text.replace('"/reviewers/sre"', '"/reviewers/evil"'), 3, 'it changed after it was saved'],
      [JSON.stringify(report), 3, 'it is a report of a plan'],
      [text.replace('"action": "update"', '"action": "destroy"'), 3, 'it does not match the schema of plans'],
      [text.replace('"action": "update"', '"action": "delete", "\\u0061ction": "update"'), 3, 'duplicate key /plans/0/changes/0/action'],
      ['['.repeat(100_000), 3, 'it nests more than'],
      [text.replace('"version": 1', '"version": 2'), 6, 'the plan has version 2'],
      [resealed({ tool: '9.9.0' }), 6, 'the plan was made by Ostiary 9.9.0'],
      [resealed({ live: [] }), 3, 'the earlier state of Connection/whole is missing'],
      [resealed({ sources: [] }), 3, 'its digest does not match its content'],
      [text.replace('"version": 1', '"version": 1, "__proto__": {}'), 3, 'it does not match the schema of plans'],
    ];
    const before = gateway.server().log.length;
    for (const [content, code, says] of cases) {
      writeFileSync(join(cwd, 'plan.json'), content);
      expect(await refused(cwd)).toEqual({ code, printed: expect.stringContaining(says) });
    }
    expect(gateway.server().log.slice(before)).toEqual([]);
    expect(await refused(cwd, 'apply --yes --plan nowhere.json')).toEqual({
      code: 3,
      printed: expect.stringContaining('plan/unreadable-file'),
    });
  });

  test('writes only what the manifests declare, whatever the file contains', async () => {
    const cwd = await planned('declared');
    const { plan, ...saved } = openText(readFileSync(join(cwd, 'plan.json'), 'utf8'));
    const strange = (changed: Partial<Change>): string => {
      const changes = plan.changes.map((change) => ({ ...change, ...changed }));
      const live = saved.live.map((one) => ({ ...one, id: changed.id ?? one.id }));
      const digest = digestOf(plan.target, changes, plan.edges, saved);
      return JSON.stringify(sealedPlan(planDocument([{ ...plan, changes, seals: { ...plan.seals, digest } }]).json(), { ...saved, live }));
    };
    for (const change of [{ id: 'Connection/foreign' }, { action: 'delete' }] as const) {
      writeFileSync(join(cwd, 'plan.json'), strange(change));
      expect(await refused(cwd)).toEqual({ code: 6, printed: expect.stringContaining('does not follow from the manifests') });
    }
  });

  test('of an auditor, who sees no secret, is applied by an admin; no secret is lost', async () => {
    const cwd = project({ 'access/db.yaml': connection('audited', { secret }) });
    expect((await gateway.run('apply --yes', cwd, environment)).code).toBe(0);
    writeFiles(cwd, { 'access/db.yaml': connection('audited', { reviewers: ['dba'], secret }) });
    const auditor = { OSTIARY_TOKEN: await createKey(gateway.call, 'plan-auditor', ['auditor']) };
    expect((await gateway.run('plan --secrets unresolved --out plan.json', cwd, auditor)).code).toBe(0);
    expect(await gateway.run('apply --yes --plan plan.json', cwd, auditor)).toMatchObject({ code: 4 });
    expect(await gateway.run('apply --yes --plan plan.json', cwd)).toMatchObject({ code: 0 });
    const { body } = await gateway.call('GET', '/connections/audited');
    expect(body).toMatchObject({ reviewers: ['dba'], secret: { 'envvar:PASS': btoa('canary-value') } });

    const given = { 'envvar:PASS': { keep: true }, 'envvar:HOST': { value: '10.0.0.5' } };
    writeFiles(cwd, { 'access/db.yaml': connection('audited-anew', { secret: given }, { replaces: 'audited' }) });
    const seen = await gateway.run('plan --out plan.json', cwd, auditor);
    expect(seen).toMatchObject({ code: 0, stderr: expect.stringMatching(/notice plan\/would-lose-secret .*\/secret\/envvar:PASS/) });
    expect(seen.stderr).not.toContain('envvar:HOST');
    const digest = /Digest (\w+)/.exec(seen.stdout)?.[1];
    expect((await gateway.run('plan', cwd)).stdout).toContain(`Digest ${digest}`);
    expect(await gateway.run(`apply --yes --plan plan.json --digest ${digest}`, cwd)).toMatchObject({ code: 0 });
    const kept = { 'envvar:PASS': btoa('canary-value'), 'envvar:HOST': btoa('10.0.0.5') };
    expect((await gateway.call('GET', '/connections/audited-anew')).body).toMatchObject({ secret: kept });
  });
});

/** Twelve connections, more than a breaker lets pass at once. */
function twelve(reviewers: readonly string[]): Files {
  return manyConnections('digested', 12, { reviewers });
}

test('a digest is the one plan that apply carries out, and lifts no limit', async () => {
  const cwd = project(twelve(['dba']));
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  writeFiles(cwd, twelve(['dba', 'sre']));
  const shown = await gateway.run('plan --out plan.json', cwd);
  expect([shown.code, shown.stdout]).toEqual([6, expect.stringContaining('plan/too-many-updates')]);
  const [, digest = ''] = /Digest ([0-9a-f]{64})$/m.exec(shown.stdout) ?? [];
  const other = 'a'.repeat(64);
  for (const line of [`apply --yes --digest ${other}`, `apply --yes --plan plan.json --digest ${other}`]) {
    const { code, printed } = await refused(cwd, line);
    expect([code, printed]).toEqual([6, expect.stringMatching(new RegExp(`plan/other-digest[^\\n]*${digest}[^\\n]*${other}`))]);
  }
  expect(await refused(cwd, 'apply --yes --digest short')).toMatchObject({ code: 3 });
  const agreed = `apply --yes --digest ${digest.toUpperCase()}`;
  expect(await gateway.run(agreed, cwd)).toMatchObject({ code: 6, stdout: expect.stringContaining('plan/too-many-updates') });
  expect(await gateway.run(`${agreed} --allow plan/too-many-updates=agreed`, cwd)).toMatchObject({ code: 0 });
  expect(await gateway.run(`apply --yes --plan plan.json --digest ${digest}`, cwd)).toMatchObject({ code: 0 });
});
