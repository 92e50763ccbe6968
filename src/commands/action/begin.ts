import { readRunnerFile } from '../../disk/runner-file.ts';
import { withCredentials } from '../../github/credentials.ts';
import { readRun } from '../../github/workflow-run.ts';
import { inputsByTarget } from './by-target.ts';
import { checkoutOf, saidCheckout } from './checkout.ts';
import { courseOf, hearSecrets } from './course.ts';
import { readInputs, type Inputs } from './inputs.ts';
import type { Step } from './step.ts';
import type { Fact, World } from '../world.ts';

/** What the step of a workflow is to do for each target, and the environment to do it in. */
export type Begun = { readonly steps: readonly Step[]; readonly env: World['env'] };

/** A world, and who hears the facts of it. */
export type Listening = { readonly world: World; readonly hears: (fact: Fact) => void };

/** Reads what the workflow asks for; `said` hears what is known of it where the rest throws. */
export async function begin(world: World, { world: inner, hears }: Listening, said: (step: Step) => void): Promise<Begun> {
  const first = stepOf(world);
  const { inputs, run } = first;
  said(first);
  if (inputs.token !== '') hears({ secret: inputs.token });
  const env = withCredentials(world.env, inputs.token, run.page);
  const inGit: World = { ...inner, env };
  const checkout = await checkoutOf(run, inGit);
  said({ ...first, checkout, ...(inputs.several ? { inputs: toNobody(inputs) } : {}) });
  const steps = inputsByTarget(inputs, inGit).map((own) => ({ inputs: own, run, checkout, course: courseOf(own, run) }));
  // What is printed for one target may hold a secret of another.
  if (steps.length > 1) for (const step of steps) await hearSecrets(step.inputs, { run, world: inGit });
  return { steps, env };
}

/** Where targets are not known yet, no comment is made: it would stand beside those of the targets for ever. */
function toNobody(inputs: Inputs): Inputs {
  const { target: _, ...flags } = inputs.flags;
  return { ...inputs, comment: false, flags };
}

function stepOf(world: World): Step {
  const { env } = world;
  const inputs = readInputs(env);
  const event = env['GITHUB_EVENT_PATH'] ?? '';
  const run = readRun(env, event === '' ? '' : readRunnerFile(event));
  return { inputs, run, course: courseOf(inputs, run), checkout: saidCheckout(run, world) };
}
