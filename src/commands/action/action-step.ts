import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import { AppError } from '../../model/errors.ts';
import { loadTarget } from '../../project/manifests.ts';
import { type ProjectSelection, chooseTarget, isPendingTarget, tokenVariable } from '../../project/resolved-config.ts';
import { argvOf, type ActionInputs, type ActionMode } from './inputs.ts';
import { resolveReviewedConfig } from '../../project/reviewed-config.ts';
import type { Proposal } from './proposal.ts';
import type { CliContext } from '../context/cli-context.ts';

/** A command line, and notes for its report. */
export type ActionStep = {
  readonly mode: ActionMode;
  readonly argv: readonly string[];
  /** Sentences at the top of the report. */
  readonly notes: readonly string[];
};

/** The run of a step, with the commit that is checked out. */
type StepRun = Pick<WorkflowRun, 'temp' | 'page' | 'commit'>;

/** Makes a command line of the inputs; a proposal is planned with the reviewed config and without secrets. Report files link to the checkout. */
export function createStep(inputs: ActionInputs, run: StepRun, proposal: Proposal | undefined): ActionStep {
  const { mode } = inputs;
  const links = inputs.flags['report'] === undefined ? [] : [`--link-base=${run.page}/blob/${run.commit.slice(0, 12)}`];
  if (mode === 'validate') return { mode, argv: argvOf(inputs, mode), notes: [] };
  if (mode === 'apply' || mode === 'drift') {
    const isWritten = mode === 'apply' || inputs.flags['revert'] !== undefined;
    return { mode, argv: argvOf(inputs, mode, [...(isWritten ? ['--yes'] : []), ...links]), notes: [] };
  }
  const proposed = proposal === undefined ? {} : { own: proposal.own, 'config-ref': proposal.configRef, secrets: 'unresolved' };
  const defaults = Object.entries({ out: join(run.temp, `ostiary-plan-${randomUUID()}.json`), ...proposed });
  const more = defaults.flatMap(([name, value]) => (inputs.flags[name] === undefined ? [`--${name}=${value}`] : []));
  return { mode, argv: argvOf(inputs, mode, [...more, ...links]), notes: [] };
}

/**
 * Returns the step, or one that only validates the manifests if the proposal cannot be planned: it has no secrets, or its
 * target is new.
 */
export async function fallbackToValidate(
  step: ActionStep,
  inputs: ActionInputs,
  { run, proposal, context }: StepContext,
): Promise<ActionStep> {
  if (step.mode !== 'plan' || proposal === undefined) return step;
  const reason = withoutSecrets(inputs, run, context) ?? (await withoutTarget(inputs, proposal.configRef, context));
  if (reason === undefined) return step;
  // Not every format of a plan is one of the check.
  const { report: _, ...flags } = inputs.flags;
  return { mode: 'validate', argv: argvOf({ ...inputs, flags }, 'validate'), notes: [reason] };
}

/** Reports every secret that the step of this target can read; leaves errors to the step itself. */
export async function reportSecrets(inputs: ActionInputs, { proposal, context }: Omit<StepContext, 'run'>): Promise<void> {
  const { mode, flags } = inputs;
  if (mode === 'validate') return;
  const secrets = flags['secrets'] ?? (proposal === undefined ? 'resolve' : 'unresolved');
  try {
    const asked = configFlags(inputs, proposal?.configRef);
    const config = await resolveReviewedConfig(asked, context);
    const target = chooseTarget(config, asked);
    context.onEvent?.({ secret: context.env[target.token.env] ?? '' });
    if (secrets === 'resolve') loadTarget(config, target, { selection: asked, context, secrets });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

type StepContext = { readonly run: WorkflowRun; readonly proposal: Proposal | undefined; readonly context: CliContext };

/** Returns the reason why no gateway can be read yet; undefined if one can. */
async function withoutTarget({ flags }: ActionInputs, base: string, context: CliContext): Promise<string | undefined> {
  const config = await resolveReviewedConfig(configFlags({ flags }, base), context);
  if (!isPendingTarget(config, flags)) return undefined;
  return 'The target is new with this change, so Ostiary does not send it a token yet: it checked the manifests without the gateway. The plan follows after the merge.';
}

/** Returns the selection of config and target, with the commit of the reviewed config if there is one. */
function configFlags({ flags: { config, target, 'config-ref': given } }: Pick<ActionInputs, 'flags'>, usual?: string): ProjectSelection {
  const configRef = given ?? usual;
  return {
    only: [],
    paths: [],
    ...(config === undefined ? {} : { config }),
    ...(target === undefined ? {} : { target }),
    ...(configRef === undefined ? {} : { configRef }),
  };
}

/** Returns the reason why the job has no secrets; undefined if it has them. */
function withoutSecrets({ flags }: ActionInputs, { pullRequest }: WorkflowRun, context: CliContext): string | undefined {
  if (pullRequest === undefined || (!pullRequest.fork && pullRequest.author !== 'dependabot[bot]')) return undefined;
  if ((context.env[tokenVariable(flags, context)] ?? '') !== '') return undefined;
  const who = pullRequest.fork
    ? 'comes from a fork and has no access to secrets'
    : 'comes from Dependabot and has no access to Actions secrets';
  return `This pull request ${who}: Ostiary checked the manifests without the gateway. The plan follows after the merge.`;
}
