import { randomUUID } from 'node:crypto';
import { openJobLog, type JobLog } from '../../github/job-log.ts';
import { maskCommands } from '../../github/masks.ts';
import { withAgreement } from './agreement.ts';
import { begin, type Begun, type Listening } from './begin.ts';
import { courseOf, possibleCourse } from './course.ts';
import { withFact, type Findings } from './findings.ts';
import { tellEnds, worstOf } from '../fleet.ts';
import { guarded } from '../guard.ts';
import { run as runCommand } from '../run.ts';
import { targetOf, type Step, type Telling } from './step.ts';
import { tellGitHub } from './tell.ts';
import type { Fact, World } from '../world.ts';

/** Runs one step of a workflow: inputs become a command line for each target, and what that finds is told where GitHub shows it; never throws. */
export async function action(world: World, sleep: Telling['sleep']): Promise<number> {
  const log = openJobLog(world.stdout.write, randomUUID());
  const inner = worldOf(world, log);
  const tellings = await tellingsOf({ log, world, inner, sleep });
  const told = await guarded(async () => tellGitHub(tellings), { world: inner, color: false });
  log.close();
  const ended = worstOf(tellings.map(endOf));
  return ended === 0 ? told : ended;
}

type Job = Pick<Telling, 'log' | 'world' | 'sleep'> & { readonly inner: World };

/** Does everything for each target, one after another: what fails for one does not stop the others. */
async function tellingsOf(job: Job): Promise<readonly Telling[]> {
  const { log, world, sleep, inner } = job;
  const listener = listenerOf(job);
  let begun: Begun | undefined;
  let step: Step | undefined;
  const exitCode = await guarded(
    async () => {
      begun = await begin(world, listener, (said) => {
        step = said;
      });
      return 0;
    },
    { world: listener.world, color: false },
  );
  if (begun === undefined) return [{ step, findings: listener.findings(), exitCode, log, world, sleep }];
  const tellings: Telling[] = [];
  for (const one of begun.steps) {
    if (tellings.length > 0) inner.stdout.write('\n\n');
    tellings.push(await carriedOut(one, { env: begun.env, oneOfSeveral: begun.steps.length > 1 }, job));
  }
  const codes = new Map(tellings.map((telling) => [targetOf(telling.step) ?? '', telling.exitCode]));
  if (tellings.length > 1) tellEnds(codes, { color: false, quiet: false }, inner);
  return tellings;
}

type Listener = Listening & { readonly findings: () => Findings };

/** Keeps what is found; secrets are masked at once. */
function listenerOf({ log, inner }: Pick<Job, 'log' | 'inner'>): Listener {
  let findings: Findings = { diagnostics: [] };
  const hears = (fact: Fact): void => {
    if ('secret' in fact) log.command(maskCommands(fact.secret));
    findings = withFact(findings, fact);
  };
  return { world: { ...inner, hears }, hears, findings: () => findings };
}

/** Runs the command line of one target. */
async function carriedOut(said: Step, place: Pick<World, 'env' | 'oneOfSeveral'>, job: Job): Promise<Telling> {
  const { log, world, sleep } = job;
  const { world: heard, findings } = listenerOf(job);
  const listening: World = { ...heard, ...place };
  let step = said;
  const exitCode = await guarded(
    async () => {
      const { run, inputs } = said;
      const agreed = await withAgreement(inputs, { run, world: listening, sleep });
      const course = await possibleCourse(agreed === inputs ? said.course : courseOf(agreed, run), agreed, { run, world: listening });
      step = { ...said, course };
      return runCommand(course.argv, listening);
    },
    { world: listening, color: false },
  );
  return { step, findings: findings(), exitCode, log, world, sleep };
}

/** How the step ends for a target. A drift is what was asked for: it fails the step only where somebody wants that. */
function endOf({ step, exitCode }: Telling): number {
  return exitCode === 2 && step?.course.mode === 'drift' && !step.inputs.detailed ? 0 : exitCode;
}

/** Everything goes to one stream, so that no text overtakes the command that lets it pass. */
function worldOf(world: World, log: JobLog): World {
  const output = { write: log.text, isTTY: false, columns: undefined };
  return { ...world, interactive: false, stdout: output, stderr: output };
}
