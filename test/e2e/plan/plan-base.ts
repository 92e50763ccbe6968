import { join } from 'node:path';
import { expect } from 'vitest';
import { readWorkingTree } from '../../../src/project/checkout.ts';
import { filesByPlace, loadTarget } from '../../../src/project/manifests.ts';
import type { TargetFlags } from '../../../src/commands/context/options.ts';
import { readPlanBase, type PlanBase, type PlanBaseInput, type PlanBaseOptions } from '../../../src/project/plan-base.ts';
import { openRecorder, type ApplyRecorder } from '../../../src/project/record/record-applied.ts';
import { openProject } from '../../../src/project/open-project.ts';
import type { RecordedOrphan } from '../../../src/model/applied-record.ts';
import type { Diagnostic } from '../../../src/model/diagnostic.ts';
import { InputError } from '../../../src/model/errors.ts';
import { gitEnv, type TestRepository } from '../../support/repository.ts';
import { createTestContext } from '../../support/cli-context.ts';
import { config, connection, type Files } from '../project.ts';

/** The gateway of the config; it receives no requests. */
export const url = 'https://gateway.example.com';

/** A project of two connections. */
export const files: Readonly<Record<'ostiary.yaml' | 'access/a.yaml' | 'access/b.yaml', string>> = {
  'ostiary.yaml': config(url),
  'access/a.yaml': connection('a'),
  'access/b.yaml': connection('b'),
};

export type Flags = Partial<PlanBaseOptions & TargetFlags>;

async function inputAt(cwd: string, given: Flags): Promise<PlanBaseInput> {
  const flags = { color: false, quiet: false, only: [], paths: [], origin: true, ...given };
  const { context } = createTestContext({ cwd, env: { ...gitEnv }, now: () => new Date(0) });
  const project = await openProject(flags, context);
  const read = await readWorkingTree(project);
  const { value: desired, diagnostics } = loadTarget(project, { secrets: 'leave', read });
  if (desired === undefined) throw new InputError(diagnostics);
  return { ...project, desired, files: filesByPlace(read.sources, project), options: flags };
}

/** Returns the base of a plan in the folder. */
export async function planBase({ folder }: TestRepository, flags: Flags = {}, below = ''): Promise<PlanBase> {
  return readPlanBase(await inputAt(join(folder, below), flags));
}

/** Records a complete apply that leaves these objects live. */
export async function record(
  { folder }: TestRepository,
  flags: Flags = {},
  { below = '', orphans = [] }: { readonly below?: string; readonly orphans?: readonly RecordedOrphan[] } = {},
): Promise<readonly Diagnostic[]> {
  const recorder = openRecorder({
    ...(await inputAt(join(folder, below), flags)),
    allowed: [],
    auditMark: () => Promise.resolve(undefined),
    now: () => new Date(0),
    leaseNow: () => new Date(0),
    run: 'test',
  });
  return recorder.end({ complete: true, orphans, writes: { objects: [], edges: [] }, deleted: new Set() });
}

/** Returns the recorder of an apply. */
export async function recorderAt({ folder }: TestRepository, run: string, now: () => Date): Promise<ApplyRecorder> {
  return openRecorder({
    ...(await inputAt(folder, {})),
    allowed: [],
    auditMark: () => Promise.resolve(undefined),
    now,
    leaseNow: now,
    run,
  });
}

export function codes(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

export function idsOf(state: { readonly resources: readonly { readonly id: string }[] } | undefined): readonly string[] | undefined {
  return state?.resources.map(({ id }) => id);
}

/** Makes a repository whose first commit is recorded as applied. */
export async function applied(
  make: (files: Files) => TestRepository,
  more: Files = {},
): Promise<{ readonly repository: TestRepository; readonly commit: string }> {
  const repository = make({ ...files, ...more });
  expect(codes(await record(repository))).toStrictEqual(['notice git/applied-recorded']);
  return { repository, commit: repository.git('rev-parse', 'HEAD') };
}
