import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { cacheFolder, readCache, writeCache } from '../../disk/cache.ts';
import { registry } from '../../kinds/index.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Target } from '../../model/gateway.ts';
import { canonical, isObject, type JsonObject, parseJson, textsIn } from '../../model/json.ts';
import { readWorkingTree } from '../../project/checkout.ts';
import type { ReadRecord } from '../../project/applied-record.ts';
import { readRecordForBase } from '../../project/plan-base.ts';
import { outputPath, chooseTarget, resolveConfig, type ResolvedConfig } from '../../project/resolved-config.ts';
import { decryptText, encryptText } from '../../reconcile/prepare/verified-secrets.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { planObject } from '../../report/subjects/plan.ts';
import type { CliContext } from '../context/cli-context.ts';
import { connect, readUnlessKnown } from '../connect.ts';
import { build } from '../context/version.ts';
import type { PlanFlags } from '../options.ts';
import { printerFor } from '../output/printer.ts';
import { cacheWarning, createPlan, type GatheredInput, type PlanResult } from './create-plan.ts';
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
  const unwritten = record === undefined ? undefined : recordPlan(record, made, answers, context);
  return { ...made, warnings: [...made.warnings, ...cacheWarning(flags.cache, unwritten)] };
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
  const folder = flags.cache === undefined ? join(config.root, cacheFolder) : outputPath(flags.cache, context);
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
  const read = await readWorkingTree(config, target, { selection: flags, context });
  if (read.sources.diagnostics.length > 0 || read.deleted.length > 0 || read.tree !== recorded.tree) return { config, read };
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
  printerFor(context, flags).hint(
    `${escapeTerminal(target.name)}: manifests and gateway are the same as at the last plan, which had no changes.\n`,
  );
  return { plan, config, warnings: [] };
}

/** Records a plan without changes; returns the reason if the record cannot be written. */
function recordPlan({ folder, name, key, run }: PlanRecord, made: PlanResult, answers: string, context: CliContext): string | undefined {
  const { plan, desired, planBase } = made;
  if (!isRecordable(made)) return undefined;
  const variables = secretVariables(desired);
  if (variables === undefined) return undefined;
  const inputs = {
    run,
    tree: desired.tree,
    variables,
    secrets: secretsHash(variables, key, context),
    applied: appliedHash(planBase.read, key),
    answers,
  };
  return writeCache(folder, name, printRecorded(inputs, { version: 1, plans: [planObject(plan)] }, key));
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

/**
 * Hashes of everything that a plan without changes follows from. Two runs with equal inputs have the same plan, if the working tree has all
 * files of HEAD, because planning reads nothing else: `run` covers the build, the command line and the config, `tree` the manifests, `secrets` the values of the variables,
 * `applied` the record of applies, and `answers` all answers of the gateway.
 */
type PlanInputs = {
  readonly run: string;
  readonly tree: string;
  /** The names of the environment variables with values of secrets. */
  readonly variables: readonly string[];
  readonly secrets: string;
  readonly applied: string;
  readonly answers: string;
};

/** Returns the key that encrypts recorded plans; it differs by token and gateway: without the token, a record can be neither read nor made. */
function recallKey(token: string, url: string): Buffer {
  return createHmac('sha256', token)
    .update(canonical(['ostiary/recalled/v1', url]))
    .digest();
}

function keyedHash(key: Buffer, texts: readonly (string | null)[]): string {
  return createHmac('sha256', key).update(canonical(texts)).digest('hex');
}

/** Below this number of manifests, a plan takes hardly longer than the reads that prove it unchanged. */
const fewestManifests = 500;

/** Returns whether a plan may be recorded: it is large, has nothing to report but that all manifests are in sync, and does not depend on the history of the repository. */
function isRecordable({ plan, warnings, desired, planBase, isIndependentOfHistory }: PlanResult): boolean {
  const found = [
    plan.changes,
    plan.edges,
    plan.orphans,
    plan.refusals,
    plan.allowed,
    plan.unwritten,
    plan.accepted,
    plan.singleWrites,
    plan.references,
  ];
  return (
    desired.resources.length >= fewestManifests &&
    desired.unselected.length === 0 &&
    [...found, warnings].every(({ length }) => length === 0) &&
    planBase.remembered === undefined &&
    isIndependentOfHistory
  );
}

/** Lists the environment variables that secrets come from, each once; undefined if some come from files, which may change during a run. */
function secretVariables({ resources }: DesiredState): readonly string[] | undefined {
  const names = new Set<string>();
  for (const { secrets } of resources) {
    for (const path in secrets) {
      const source = secrets[path]?.source ?? '';
      if (source.startsWith('file:')) return undefined;
      if (source.startsWith('env:')) names.add(source.slice('env:'.length));
    }
  }
  return [...names];
}

function printRecorded(inputs: PlanInputs, document: JsonObject, key: Buffer): string {
  return encryptText(canonical({ ...inputs, document }), key);
}

/** The inputs of a recorded plan, and its document as `planObject` makes it. */
type RecordedPlan = PlanInputs & { readonly document: unknown };

/** Reads the text of `printRecorded`; undefined for any other text. */
function readRecorded(text: string, key: Buffer): RecordedPlan | undefined {
  const value = parseJson(decryptText(text, key) ?? '');
  if (!isObject(value)) return undefined;
  const { run, tree, variables, secrets, applied, answers, document } = value;
  if (typeof run !== 'string' || typeof tree !== 'string' || typeof secrets !== 'string') return undefined;
  if (typeof applied !== 'string' || typeof answers !== 'string') return undefined;
  return { run, tree, variables: textsIn(variables), secrets, applied, answers, document };
}
