import { hasOrigin, appliedName, appliedRef, keepApplied, pushApplied } from '../git/applied.ts';
import { headOf, openRepository } from '../git/repository.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import type { Plan } from '../model/plan/plan.ts';
import { removalWarnings } from '../reconcile/diff/removed-objects.ts';
import { isSameTree, readCommittedTree, type CommittedTarget } from '../project/committed-manifests.ts';
import { isTracked, type PlanBaseInput } from '../project/plan-base.ts';

/** What a whole apply was made from, and the plan that it carried out. */
type RecordingInput = PlanBaseInput & { readonly plan: Pick<Plan, 'orphans' | 'changes' | 'base'> };

/**
 * Records HEAD as wholly applied to the target, here and on origin, if the manifests that were applied are those of HEAD.
 * What stands in the way is a warning: the apply is done. So is what was left behind and counts as not ours from then on.
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

async function record(site: CommittedTarget, { desired, options: flags, plan }: RecordingInput): Promise<readonly Diagnostic[]> {
  const { repository, target } = site;
  const commit = await headOf(repository);
  if (commit === undefined) return [notRecorded('nothing is committed yet', 'commit the manifests, then apply again')];
  const { value: tree } = await readCommittedTree(site, commit);
  const short = commit.slice(0, 10);
  if (tree === undefined || tree.target.url !== target.url || !isSameTree(tree, site, desired))
    return [notRecorded(`the manifests that were applied are not those of HEAD (${short})`, 'commit them, then apply again')];
  const name = appliedName(repository.prefix, target.name);
  await keepApplied(repository, name, commit);
  const left = removalWarnings(plan);
  const message = `${short} is recorded as wholly applied to "${target.name}" (${appliedRef(name)})`;
  const recorded: Diagnostic = { code: 'git/applied-recorded', severity: 'notice', message };
  if (!flags.origin || !hasOrigin(repository)) return [recorded, ...left];
  const failure = await pushApplied(repository, name, commit);
  if (failure === undefined) return [{ ...recorded, message: `${message}, here and on origin` }, ...left];
  return [notRecorded(`${short} is recorded in this clone, but not on origin: ${failure.message}`, pushHint(failure)), ...left];
}

function pushHint({ message }: AppError): string {
  if (/stale info|rejected/.test(message)) return 'somebody else applied meanwhile, or origin refuses the ref; plan again to see';
  return 'the token needs to write (contents: write on GitHub); apply again, or --no-origin keeps to this clone';
}

function notRecorded(why: string, hint: string | undefined): Diagnostic {
  const message = `not recorded as wholly applied, so the next plan compares with an earlier commit: ${why}`;
  return { code: 'git/applied-not-recorded', severity: 'warning', message, ...(hint === undefined ? {} : { hint }) };
}
