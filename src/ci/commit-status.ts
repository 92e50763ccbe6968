import { withForgeErrors } from '../forge/forge-errors.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { affectedText } from '../commands/planning/affected-targets.ts';
import { labeledName } from '../report/document.ts';
import { runEndText } from '../report/subjects/run-end.ts';
import { clip } from '../report/wrap.ts';
import { missingTokenOf } from './pull-requests.ts';
import { openRunForge, stepExitCode, type ActionTask, type TaskResult } from './task.ts';

/** The most characters of a description on GitHub. */
const longestDescription = 140;

/** Sets a status of the commit for the target, with the outcome in one line, if the input asks for it. Requests that the forge refuses are warnings. */
export async function setCommitStatus(result: TaskResult & { readonly task: ActionTask }): Promise<readonly Diagnostic[]> {
  const { task, findings } = result;
  const { inputs, run, step, checkout } = task;
  const { pullRequest } = run;
  // The token of a fork's run is read-only.
  if (!inputs.status || (pullRequest?.fork === true && run.event === 'pull_request')) return [];
  if (inputs.token === '') return missingTokenOf(run);
  const forge = openRunForge(task, result);
  const code = stepExitCode(result);
  const name = labeledName(
    inputs.flags['target'] ?? findings.plan?.target.name ?? findings.drift?.plan.target.name ?? '',
    inputs.label,
  ).trim();
  const status = {
    state: code === 0 ? 'success' : code === 4 ? 'error' : 'failure',
    context: `ostiary/${inputs.mode}${name === '' ? '' : `: ${name}`}`,
    description: clip(descriptionOf(result, step.mode), longestDescription),
    url: run.url,
  } as const;
  // A status of the test merge of an open pull request is not shown.
  const commit = pullRequest?.merged === false ? pullRequest.head : checkout.commit;
  return (await withForgeErrors(() => forge.setStatus(commit, status), 'the status of the commit')).diagnostics;
}

function descriptionOf({ findings, exitCode }: TaskResult, mode: ActionTask['step']['mode']): string {
  const { plan, result, diagnostics } = findings;
  const end = runEndText(findings);
  if (result !== undefined && end !== undefined) return end;
  if (mode === 'apply' && exitCode !== 0) return `Not applied: ${codesOf(plan?.refusals ?? diagnostics)}`;
  if (end !== undefined && exitCode !== 3 && exitCode !== 4) return end;
  if (mode === 'targets' && exitCode === 0) return affectedText(findings.affected);
  return exitCode === 0 ? 'The manifests are valid' : `Failed: ${codesOf(diagnostics.filter(({ severity }) => severity === 'error'))}`;
}

function codesOf(diagnostics: readonly Pick<Diagnostic, 'code'>[]): string {
  return [...new Set(diagnostics.map(({ code }) => code))].slice(0, 3).join(', ');
}
