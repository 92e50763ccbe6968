import { randomUUID } from 'node:crypto';
import { readRunnerFile } from '../../disk/runner-file.ts';
import { openJobLog, type JobLog } from '../../github/job-log.ts';
import { withCredentials } from '../../github/credentials.ts';
import { maskCommands } from '../../github/masks.ts';
import { readRun } from '../../github/workflow-run.ts';
import { readInputs } from './inputs.ts';
import { checkoutOf, saidCheckout } from './checkout.ts';
import { courseOf, possibleCourse } from './course.ts';
import { withFact, type Findings } from './findings.ts';
import { guarded } from '../guard.ts';
import { run as runCommand } from '../run.ts';
import type { Step, Telling } from './step.ts';
import { tellGitHub } from './tell.ts';
import type { Fact, World } from '../world.ts';

/** Runs one step of a workflow: inputs become a command line, and what it finds is told where GitHub shows it; never throws. */
export async function action(world: World, sleep: Telling['sleep']): Promise<number> {
  const log = openJobLog(world.stdout.write, randomUUID());
  const inner = worldOf(world, log);
  let findings: Findings = { diagnostics: [] };
  const hears = (fact: Fact): void => {
    if ('secret' in fact) log.command(maskCommands(fact.secret));
    findings = withFact(findings, fact);
  };
  const listening: World = { ...inner, hears };
  let step: Step | undefined;
  const exitCode = await guarded(
    async () => {
      const said = stepOf(world);
      step = said;
      const { inputs, run } = said;
      if (inputs.token !== '') hears({ secret: inputs.token });
      const inGit: World = { ...listening, env: withCredentials(world.env, inputs.token, run.page) };
      const seen = { ...said, checkout: await checkoutOf(run, inGit) };
      step = seen;
      const course = await possibleCourse(seen.course, inputs, { run, world: inGit });
      step = { ...seen, course };
      return runCommand(course.argv, inGit);
    },
    { world: listening, color: false },
  );
  const told = await guarded(async () => tellGitHub({ step, findings, exitCode, log, world, sleep }), { world: inner, color: false });
  log.close();
  const ended = isFine(step, exitCode) ? 0 : exitCode;
  return ended === 0 ? told : ended;
}

/** A drift is what was asked for: it fails the step only where somebody wants that. */
function isFine(step: Step | undefined, exitCode: number): boolean {
  return exitCode === 0 || (exitCode === 2 && step?.course.mode === 'drift' && !step.inputs.detailed);
}

function stepOf(world: World): Step {
  const { env } = world;
  const inputs = readInputs(env);
  const event = env['GITHUB_EVENT_PATH'] ?? '';
  const run = readRun(env, event === '' ? '' : readRunnerFile(event));
  return { inputs, run, course: courseOf(inputs, run), checkout: saidCheckout(run, world) };
}

/** Everything goes to one stream, so that no text overtakes the command that lets it pass. */
function worldOf(world: World, log: JobLog): World {
  const output = { write: log.text, isTTY: false, columns: undefined };
  return { ...world, interactive: false, stdout: output, stderr: output };
}
