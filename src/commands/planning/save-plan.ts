import { fingerprintsOf } from '../../apply/fingerprint.ts';
import { writePlan } from '../../disk/write.ts';
import { mayBeInRepository, repositoryOf, rootsOf } from '../../git/repository.ts';
import { registry } from '../../kinds/index.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { InputError } from '../../model/errors.ts';
import { compareText } from '../../model/json.ts';
import { sourcesOf } from '../../reconcile/saved-plan/digest.ts';
import { longestPlan, openPlan, sealedPlan } from '../../reconcile/saved-plan/saved-plan.ts';
import { jsonPieces } from '../../report/serialize.ts';
import { planDocument } from '../../report/subjects/plan.ts';
import type { PlanFlags } from '../flags.ts';
import type { PlanResult } from './create-plan.ts';
import { type ResolvedConfig, isPartialSelection, outputPath } from '../../project/resolved-config.ts';
import { version } from '../context/version.ts';
import type { CliContext } from '../context/cli-context.ts';

type SelectionFlags = Pick<PlanFlags, 'only' | 'tag' | 'exclude' | 'paths'>;

/** Saves a plan for `apply --plan`. Throws InputError, and writes nothing, when that command could not read the file. */
export async function savePlan(path: string, result: PlanResult, flags: SelectionFlags, context: CliContext): Promise<void> {
  const text = await textOf(result, flags, context);
  const { diagnostics } = openPlan(text, registry);
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  const file = outputPath(path, context);
  writePlan(file, text);
  context.onEvent?.({ saved: file });
}

/** Returns the text of the file; its document, which is larger, is not kept. */
async function textOf({ plan, desired, live, config }: PlanResult, flags: SelectionFlags, context: CliContext): Promise<string> {
  const resources = desired.resources.toSorted((left, right) => compareText(left.id, right.id));
  const document = sealedPlan(planDocument([plan]).json(), {
    tool: version,
    whole: !isPartialSelection(flags),
    repository: await rootCommitsOf(config, context),
    live: fingerprintsOf(plan, { desired, live, registry }),
    sources: sourcesOf(resources),
  });
  const pieces: string[] = [];
  let length = 0;
  for (const piece of jsonPieces(document)) {
    length += Buffer.byteLength(piece);
    if (length <= longestPlan) pieces.push(piece);
  }
  if (length > longestPlan) throw new InputError([tooLarge(length)]);
  return pieces.join('');
}

/** Returns the root commits of the repository that contains the manifests. */
export async function rootCommitsOf({ root }: ResolvedConfig, context: CliContext): Promise<readonly string[]> {
  if (!mayBeInRepository(root)) return [];
  const repository = await repositoryOf({ folder: root, env: context.env });
  return repository === undefined ? [] : rootsOf(repository);
}

function tooLarge(length: number): InputError['diagnostics'][number] {
  const message = `the saved plan would have ${length} bytes, more than the ${longestPlan} that apply reads`;
  return { code: 'plan/broken-file', severity: 'error', message, hint: 'plan and apply a part of it at a time, with --only' };
}
