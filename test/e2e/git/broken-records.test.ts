import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestRepository } from '../../support/repository.ts';
import { connection, guardrail } from '../project.ts';
import { type Project, ref, useAppliedProjects } from './applied-projects.ts';

const { gateway, clone, configWith, appliedProject, run, push } = useAppliedProjects();

/** Makes the text the record of a target on origin. */
function replaceRecord({ ours, origin }: Project, text: string): void {
  const forger = clone(origin);
  forger.write({ 'record.txt': text });
  const tree = forger.git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const id = forger.git('commit-tree', tree, '-p', ours.git('rev-parse', 'HEAD'), '-F', 'record.txt');
  forger.git('push', '--quiet', '--force', 'origin', `${id}:${ref}`);
}

function recordText(record: object): string {
  return `Record\n\n${JSON.stringify({ version: 1, orphans: [], pending: [], ...record })}\n`;
}

/** Returns the record of origin. */
function recordOf({ origin }: Project): unknown {
  const text = origin.git('log', '-1', '--format=%B', ref);
  return JSON.parse(text.slice(text.indexOf('{')));
}

describe('apply --base replaces a record', () => {
  const records = [
    { what: 'that is damaged', name: 'heal-text', text: 'Record\n\n{"version":1,"orph\n' },
    { what: 'that is too long', name: 'heal-long', text: recordText({ approved: 'A'.repeat(17_000_000) }) },
    { what: 'of a newer version', name: 'heal-newer', text: recordText({ version: 3, news: [] }) },
  ];
  test.each(records)('$what', async ({ name, text }) => {
    const project = await appliedProject({ 'access/a.yaml': connection(name), 'access/b.yaml': connection(`${name}-b`) });
    const { ours, origin } = project;
    ours.remove('access/b.yaml');
    ours.save({ 'ostiary.yaml': configWith().replace('prune: true', 'prune: false'), 'access/c.yaml': guardrail(name) });
    push(ours);
    replaceRecord(project, text);
    const job = clone(origin);
    expect(await run('apply --yes', job)).toMatchObject({ code: 3, stderr: expect.stringContaining('--base REF') });
    expect(await run('apply --yes --base HEAD~1', job)).toMatchObject({ code: 0, stderr: expect.stringContaining('git/applied-recorded') });
    expect(recordOf(project)).toMatchObject({ commit: ours.git('rev-parse', 'HEAD'), orphans: [{ id: `Connection/${name}-b` }] });
    const later = await run('plan --prune', clone(origin));
    expect(later).toMatchObject({ code: 0, stdout: expect.stringContaining(`Connection/${name}-b`) });
  });

  test('and an incomplete apply keeps the base', async () => {
    const project = await appliedProject({ 'access/a.yaml': connection('heal-part') });
    const { ours, origin } = project;
    const base = ours.git('rev-parse', 'HEAD');
    ours.save({ 'access/a.yaml': connection('heal-part', { reviewers: ['dba'] }), 'access/c.yaml': connection('heal-part-c') });
    push(ours);
    replaceRecord(project, 'Record\n\n{}\n');
    expect(await run('apply --yes --base HEAD~1 --only Connection/heal-part-c', clone(origin))).toMatchObject({ code: 0 });
    expect(recordOf(project)).toMatchObject({ commit: base, pending: [{ objects: [{ id: 'Connection/heal-part-c', ours: true }] }] });
    expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 0 });
    expect(recordOf(project)).toMatchObject({ commit: ours.git('rev-parse', 'HEAD'), pending: [] });
  });
});

/** Leaves an empty file in a clone, as a git that is killed does, and returns its path. */
function damage({ git, folder, write }: TestRepository, file: string): string {
  git('update-ref', '-d', ref);
  write({ [`.git/${file}`]: '' });
  return join(folder, '.git', file);
}

describe('a damaged ref of the clone is named with its file, and no lease stays on origin:', () => {
  const damages = [
    { what: 'a lock file', file: `${ref}.lock`, plan: 0, apply: 6 },
    { what: 'an empty file', file: ref, plan: 4, apply: 4 },
  ];

  test.each(damages)('$what', async ({ file, plan, apply }) => {
    const name = `damaged-${plan}`;
    const project = await appliedProject({ 'access/a.yaml': connection(name) });
    const { ours, origin } = project;
    ours.save({ 'access/b.yaml': connection(`${name}-b`) });
    push(ours);
    const path = damage(ours, file);
    const before = origin.git('rev-parse', ref);
    expect(await run('plan', ours)).toMatchObject({ code: plan });
    const refused = await run('apply --yes', ours);
    expect(refused).toMatchObject({ code: apply, stderr: expect.stringContaining(`${path} ${plan === 0 ? 'exists' : 'is damaged'}`) });
    expect(refused.stderr).toContain('remove that file');
    expect(refused.stderr).not.toContain('another apply');
    expect(origin.git('rev-parse', ref)).toBe(before);
    expect(await gateway.isLive(`${name}-b`)).toBe(false);
    expect(existsSync(path)).toBe(true);
    ours.remove(`.git/${file}`);
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0, stderr: expect.stringContaining('here and on origin') });
  });

  test('a commit that the clone does not have', async () => {
    const { ours } = await appliedProject({ 'access/a.yaml': connection('damaged-commit') });
    ours.write({ [`.git/${ref}`]: `${'1'.repeat(40)}\n` });
    const refused = await run('apply --yes', ours);
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`git/ref-damaged  ${ref}`) });
    const [, command = ''] = /run git (.*?), then plan again/.exec(refused.stderr.replaceAll(/\s+/g, ' ')) ?? [];
    ours.git(...command.split(' '));
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0, stderr: expect.stringContaining('here and on origin') });
  });
});

test('an apply that origin refuses takes its lease back in this clone', async () => {
  const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('taken-back') });
  const before = ours.git('rev-parse', ref);
  ours.save({ 'access/b.yaml': connection('taken-back-b') });
  push(ours);
  origin.write({ 'hooks/pre-receive': '#!/bin/sh\nexit 1\n' });
  origin.makeExecutable('hooks/pre-receive');
  expect(await run('apply --yes', ours)).toMatchObject({ code: 6, stderr: expect.stringContaining('git/not-recorded') });
  expect(ours.git('rev-parse', ref)).toBe(before);
});

test('an apply whose record would be too long is refused, unless that is allowed', async () => {
  const project = await appliedProject({ 'access/a.yaml': connection('too-long') });
  const { ours, origin } = project;
  const commit = ours.git('rev-parse', 'HEAD');
  const filled = (length: number): string => recordText({ commit, access: { attributes: [{ id: 'x'.repeat(length) }] } });
  replaceRecord(project, filled(16 * 1024 * 1024 - filled(0).length));
  ours.save({ 'access/b.yaml': connection('too-long-b'), 'access/c.yaml': connection('too-long-c') });
  push(ours);
  const refused = await run('apply --yes', clone(origin));
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('git/not-recorded') });
  expect(refused.stderr).toContain('a record has at most 16777216');
  expect(refused.stderr).toContain('override: --allow git/not-recorded=REASON');
  expect(await gateway.isLive('too-long-b')).toBe(false);
  const allowed = await run('apply --yes --allow git/not-recorded=urgent', clone(origin));
  expect(allowed).toMatchObject({ code: 0, stderr: expect.stringContaining('allowed: urgent') });
  expect(await gateway.isLive('too-long-b')).toBe(true);
  expect(await run('plan --detailed-exitcode', clone(origin))).toMatchObject({ code: 0 });
});
