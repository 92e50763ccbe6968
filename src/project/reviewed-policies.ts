import { openRepository, resolveCommit } from '../git/repository.ts';
import type { Target } from '../model/gateway.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { Policy } from '../model/protection/policy.ts';
import { readCommittedPolicies, readCommittedTree } from './committed-manifests.ts';
import type { ResolvedConfig } from './resolved-config.ts';

type ReviewedPoliciesInput = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  /** The commit of `--config-ref`. */
  readonly configRef: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * Reads the policies and waivers that the commit of `--config-ref` has for the target. Returns undefined without such a
 * commit, a config file or a repository: then the proposed policies apply. Throws InputError when they cannot be read.
 */
export async function readReviewedPolicies(input: ReviewedPoliciesInput): Promise<readonly Policy[] | undefined> {
  const { config, target, configRef, env } = input;
  if (configRef === undefined || config.file === undefined) return undefined;
  const repository = await openRepository({ folder: config.root, env });
  if (repository === undefined) return undefined;
  const tree = await readCommittedTree({ repository, config, target }, await resolveCommit(repository, configRef));
  if (tree.value === undefined) {
    const errors = tree.diagnostics.filter(({ code, severity }) => severity === 'error' && !absences.has(code));
    if (errors.length > 0) throw new InputError(errors);
    return [];
  }
  const { value = [], diagnostics } = readCommittedPolicies(tree.value);
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  return value;
}

/** A commit without the target has no policies for it. */
const absences: ReadonlySet<string> = new Set(['git/no-config', 'git/no-target', 'manifest/none']);

/** Warns about each policy that a proposal adds, changes or removes: authors do not choose the policies that check their own change. */
export function warnChangedPolicies(reviewed: readonly Policy[], proposed: readonly Policy[]): readonly Diagnostic[] {
  const then = new Map(reviewed.map((policy) => [policy.name, policy]));
  const now = new Map(proposed.map((policy) => [policy.name, policy]));
  return [...new Set([...then.keys(), ...now.keys()])].toSorted().flatMap((name): readonly Diagnostic[] => {
    const [before, after] = [then.get(name), now.get(name)];
    if (before?.text === after?.text) return [];
    const what = after === undefined ? 'is taken away' : before === undefined ? 'is new' : 'is changed';
    return [
      {
        code: 'policy/after-merge',
        severity: 'warning',
        message: `the policy "${name}" ${what}`,
        hint: 'until the merge the policies and waivers of the target branch count',
        ...(after === undefined ? {} : { at: after.at }),
      },
    ];
  });
}
