import { existsSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { registry } from '../../kinds/index.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { SourceFile } from '../../model/diagnostic.ts';
import { InputError, UsageError } from '../../model/errors.ts';
import type { GatewayIdentity } from '../../model/gateway.ts';
import type { JsonObject } from '../../model/json.ts';
import type { LiveState } from '../../model/live.ts';
import { accessTestKind } from '../../model/protection/access-test.ts';
import { declaredSnapshot } from '../../planning/access-tests.ts';
import { isAtOrBelow, loadWhole } from '../../project/manifests.ts';
import { schemaPath } from '../../project/templates/schema-files.ts';
import { proposeExpectations } from '../../protection/permission/propose-access-tests.ts';
import { plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { planWithoutBase } from '../../pull/check-drafts.ts';
import { withDisplayPaths } from '../../pull/make-manifests.ts';
import type { PullProject } from '../../pull/pull-project.ts';
import { accessTestsText } from '../../report/serialize.ts';

type DraftingTests = {
  /** The project with its manifests as they are after the pull, except the new ones. */
  readonly project: PullProject;
  readonly manifests: readonly SourceFile[];
  readonly live: LiveState;
  readonly identity: GatewayIdentity;
};

/** A file with access tests, by its path below the project's root: a new one, or one that changes. */
export type DraftedTests = { readonly file: SourceFile; readonly isNew: boolean };

/** Returns access tests that describe what groups can do after a pull, `none` if no group decides anything, undefined if the file has them. */
export function draftAccessTests({ project, manifests, live, identity }: DraftingTests): DraftedTests | 'none' | undefined {
  const { root, folder, target, sources, context } = project;
  const below = relative(root, folder).split(sep).join('/');
  const path = posix.join(below, 'access-tests.yaml');
  const isIt = (shown: string): boolean => resolve(context.cwd, shown) === join(root, path);
  const desired = loadAfter({ project, manifests });
  if (desired === undefined) return 'none';
  const before = sources.files.find((file) => isIt(file.path));
  requireOwn(desired, isIt, { path, isRead: before !== undefined, exists: existsSync(join(root, path)) });
  const { value: plan, diagnostics } = planWithoutBase({ desired, live, identity, target });
  if (plan === undefined) throw new InputError(diagnostics);
  const states = { declared: declaredSnapshot(desired, project), live: plannedSnapshot(plan, live, registry) };
  const expectations = proposeExpectations(states);
  if (expectations.length === 0) return 'none';
  const names = new Set((desired.accessTests ?? []).filter(({ at }) => !isIt(at.file)).map(({ name }) => name));
  const tests = inDocuments(expectations).map((spec, index) => ({ name: nameFor(index, names), spec, targets: targetsOf(project) }));
  const text = accessTestsText(tests, posix.relative(posix.dirname(path), schemaPath(accessTestKind)));
  return before?.text === text ? undefined : { file: { path, text }, isNew: before === undefined };
}

/** Loads the manifests as they are after the pull; undefined if there are none, as with a gateway without objects. */
function loadAfter({ project, manifests }: Pick<DraftingTests, 'project' | 'manifests'>): DesiredState | undefined {
  const { sources } = project;
  const { value, diagnostics } = loadWhole({ ...sources, files: [...sources.files, ...withDisplayPaths(manifests, project)] }, project);
  if (value === undefined && !diagnostics.every(({ code, severity }) => code === 'manifest/none' || severity !== 'error'))
    throw new InputError(diagnostics);
  return value;
}

type Place = { readonly path: string; readonly isRead: boolean; readonly exists: boolean };

/** Throws UsageError if the file is there for something else. */
function requireOwn({ resources }: DesiredState, isIt: (shown: string) => boolean, { path, isRead, exists }: Place): void {
  const found = resources.find(({ locate }) => isIt(locate('').file));
  if (found !== undefined) throw new UsageError(`${path} declares ${found.id}; --tests would overwrite it`, 'move it to another file');
  if (exists && !isRead)
    throw new UsageError(`${path} exists, but the target does not read it`, 'move it, or change manifests in the config');
}

const mostInDocument = 1000;

function inDocuments(all: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const count = Math.ceil(all.length / mostInDocument);
  return Array.from({ length: count }, (_, index) => all.slice(index * mostInDocument, (index + 1) * mostInDocument));
}

/** Returns the name of a test that no other file has; adds it to the names. */
function nameFor(index: number, taken: Set<string>): string {
  let number = index + 1;
  const named = (): string => (number === 1 ? 'access' : `access-${number}`);
  while (taken.has(named())) number += 1;
  taken.add(named());
  return named();
}

/** Returns the target of tests in a folder that other targets read, too. */
function targetsOf({ config, target, folder }: PullProject): readonly string[] {
  const isShared = config.targets.some(
    ({ name, manifests }) => name !== target.name && manifests.some((path) => isAtOrBelow(folder, path)),
  );
  return isShared ? [target.name] : [];
}
