import { join } from 'node:path';
import { cacheFolder, readCache, writeCache } from '../../disk/cache.ts';
import { registry } from '../../kinds/index.ts';
import type { Target } from '../../model/gateway.ts';
import { readHashed } from '../../project/manifests.ts';
import type { ReadRecord } from '../../project/applied-record.ts';
import { readRecordForBase } from '../../project/plan-base.ts';
import { absolutePath, chooseTarget, resolveConfig, type ResolvedConfig } from '../../project/resolved-config.ts';
import {
  isRecordable,
  keyedHash,
  printRecorded,
  readRecorded,
  recallKey,
  secretVariables,
} from '../../reconcile/saved-plan/recalled-plan.ts';
import { planObject } from '../../report/subjects/plan.ts';
import type { CliContext } from '../context/cli-context.ts';
import { connect, readUnlessKnown } from '../context/connect.ts';
import { build } from '../context/version.ts';
import type { PlanFlags } from '../options.ts';
import { printerFor } from '../output/printer.ts';
import { createPlan, type GatheredInput, type PlanResult } from './create-plan.ts';
import { todayOf } from './target-policies.ts';

type RecallFlags = PlanFlags & { readonly out?: string };

/** A plan that was recorded by an earlier run; nothing else of that run is known. */
type RecalledPlan = Pick<PlanResult, 'plan' | 'warnings' | 'config'>;

/** Where a plan is recorded, and the hash of its command line, config and build. */
type PlanRecord = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly folder: string;
  /** The name of its file. */
  readonly name: string;
  readonly key: Buffer;
  readonly run: string;
};

/**
 * Creates a plan and closes its gateway. If an earlier run recorded a plan without changes and nothing has changed since, neither the
 * files nor what the gateway answers, it returns that plan. The manifests are then not parsed again, and the objects not compared.
 */
export async function createOrRecallPlan(flags: RecallFlags, context: CliContext): Promise<PlanResult | RecalledPlan> {
  const record = mayRecall(flags) ? openRecord(flags, context) : undefined;
  const found = record === undefined ? {} : await recallPlan(record, flags, context);
  if ('plan' in found) return found;
  const made = await createPlan(flags, context, { gathered: found });
  const answers = made.gateway.answers();
  await made.gateway.close();
  if (record !== undefined) recordPlan(record, made, answers, context);
  return made;
}

/** Returns false for options that need more than the plan, or that read more of the repository than the record of applies. */
function mayRecall({ out, base, own, configRef, keepGoing, prune, format, report }: RecallFlags): boolean {
  const isPage = [format, ...report.map((one) => one.format)].includes('html');
  return [out, base, own, configRef, keepGoing, prune].every((option) => option === undefined) && !isPage;
}

function openRecord(flags: RecallFlags, context: CliContext): PlanRecord | undefined {
  const config = resolveConfig(flags, context);
  const target = chooseTarget(config, flags);
  const token = context.env[target.token.env] ?? '';
  if (build === undefined || token === '') return undefined;
  const key = recallKey(token, target.url);
  const folder = flags.cache === undefined ? join(config.root, cacheFolder) : absolutePath(flags.cache, context);
  const run = keyedHash(key, [
    build,
    process.version,
    context.cwd,
    todayOf({ flags, context }),
    JSON.stringify(flags),
    JSON.stringify(config),
    JSON.stringify(target),
  ]);
  return { config, target, folder, name: `unchanged-${keyedHash(key, [target.name]).slice(0, 16)}`, key, run };
}

/** Returns the recorded plan if its inputs are still the same; otherwise what was read to find that out. */
async function recallPlan(
  { config, target, folder, name, key, run }: PlanRecord,
  flags: RecallFlags,
  context: CliContext,
): Promise<RecalledPlan | GatheredInput> {
  const text = readCache(folder, name);
  const recorded = text === undefined ? undefined : readRecorded(text, key);
  if (recorded?.run !== run || secretsHash(recorded.variables, key, context) !== recorded.secrets) return { config };
  const read = readHashed(config, target, { selection: flags, context });
  if (read.sources.diagnostics.length > 0 || read.tree !== recorded.tree) return { config, read };
  const applied = await readRecordForBase({ config, target, options: flags, context });
  if (appliedHash(applied?.read, key) !== recorded.applied || (applied?.diagnostics ?? []).length > 0) return { config, read, applied };
  const { gateway, identity } = await connect(target, { flags, context });
  try {
    const live = await readUnlessKnown(gateway, [...registry.keys()], { answers: recorded.answers, flags, context });
    if (live !== undefined) return { config, read, applied, connection: { gateway, identity, live } };
  } catch (error) {
    await gateway.close();
    throw error;
  }
  await gateway.close();
  const { planInDocument } = await import('../../reconcile/saved-plan/saved-plan.ts');
  const plan = planInDocument(recorded.document);
  if (plan === undefined) return { config, read, applied };
  printerFor(context, flags).hint('Manifests and gateway are the same as at the last plan, which had no changes.\n');
  return { plan, config, warnings: [] };
}

/** Records a plan without changes. The next plan does without if the record cannot be written. */
function recordPlan({ folder, name, key, run }: PlanRecord, made: PlanResult, answers: string, context: CliContext): void {
  const { plan, warnings, desired, planBase } = made;
  if (planBase.remembered !== undefined || !isRecordable({ plan, warnings, desired, baseTree: planBase.base?.desired.tree })) return;
  const variables = secretVariables(desired);
  if (variables === undefined) return;
  const inputs = {
    run,
    tree: desired.tree,
    variables,
    secrets: secretsHash(variables, key, context),
    applied: appliedHash(planBase.read, key),
    answers,
  };
  writeCache(folder, name, printRecorded(inputs, { version: 1, plans: [planObject(plan)] }, key));
}

function secretsHash(variables: readonly string[], key: Buffer, { env }: CliContext): string {
  return keyedHash(
    key,
    variables.map((name) => env[name] ?? null),
  );
}

function appliedHash(read: ReadRecord | undefined, key: Buffer): string {
  return keyedHash(key, [JSON.stringify(read ?? null)]);
}
