import { appliedRefName, appliedRef, setAppliedRef, pushAppliedRef } from '../git/applied-refs.ts';
import { hasOrigin } from '../git/origin.ts';
import { headOf, openRepository } from '../git/repository.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import { isSameTree, readCommittedTree, type CommittedTarget } from './committed-manifests.ts';
import { isTracked, type PlanBaseInput } from './plan-base.ts';

/** The input of a complete apply, and the warnings about objects that count as unmanaged once it is recorded. */
type RecordingInput = PlanBaseInput & { readonly removalWarnings: readonly Diagnostic[] };

/**
 * Records HEAD as the last applied commit of the target, in this clone and on origin, if the applied manifests are those of
 * HEAD. Returns a warning instead of an error when it cannot: the apply is done. Removed objects are warned about only after
 * recording, because the next plan no longer compares with a base that declares them.
 */
export async function recordApplied(input: RecordingInput): Promise<readonly Diagnostic[]> {
  if (!isTracked(input)) return [];
  const { config, target, context } = input;
  try {
    const repository = await openRepository({ folder: config.root, env: context.env });
    return repository === undefined ? [] : await record({ repository, config, target }, input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [notRecorded(error.message, error.hint)];
  }
}

async function record(site: CommittedTarget, { desired, options, removalWarnings }: RecordingInput): Promise<readonly Diagnostic[]> {
  const { repository, target } = site;
  const commit = await headOf(repository);
  if (commit === undefined) return [notRecorded('nothing is committed yet', 'commit the manifests, then apply again')];
  const { value: tree } = await readCommittedTree(site, commit);
  const short = commit.slice(0, 10);
  if (tree === undefined || tree.target.url !== target.url || !(await isSameTree(tree, site, { commit, desired })))
    return [notRecorded(`the manifests that were applied are not those of HEAD (${short})`, 'commit them, then apply again')];
  const name = appliedRefName(repository.prefix, target.name);
  await setAppliedRef(repository, name, commit);
  const message = `${short} is recorded as wholly applied to "${target.name}" (${appliedRef(name)})`;
  const recorded: Diagnostic = { code: 'git/applied-recorded', severity: 'notice', message };
  if (!options.origin || !hasOrigin(repository)) return [recorded, ...removalWarnings];
  const failure = await pushAppliedRef(repository, name, commit);
  if (failure === undefined) return [{ ...recorded, message: `${message}, here and on origin` }, ...removalWarnings];
  return [notRecorded(`${short} is recorded in this clone, but not on origin: ${failure.message}`, pushHint(failure)), ...removalWarnings];
}

function pushHint({ message }: AppError): string {
  if (/stale info|rejected/.test(message)) return 'somebody else applied meanwhile, or origin refuses the ref; plan again to see';
  return 'the token needs to write (contents: write on GitHub); apply again, or --no-origin keeps to this clone';
}

function notRecorded(why: string, hint: string | undefined): Diagnostic {
  const message = `not recorded as wholly applied, so the next plan compares with an earlier commit: ${why}`;
  return { code: 'git/applied-not-recorded', severity: 'warning', message, ...(hint === undefined ? {} : { hint }) };
}
