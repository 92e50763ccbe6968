import { createHmac } from 'node:crypto';
import { canonical, isObject, type JsonObject, parseJson, textsIn } from '../../model/json.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { decryptText, encryptText } from '../prepare/verified-secrets.ts';

/**
 * Hashes of everything that a plan without changes follows from. Two runs with equal inputs have the same plan, because planning reads
 * nothing else: `run` covers the build, the command line and the config, `tree` the manifests, `secrets` the values of the variables,
 * `applied` the record of applies, and `answers` all answers of the gateway.
 */
export type PlanInputs = {
  readonly run: string;
  readonly tree: string;
  /** The names of the environment variables with values of secrets. */
  readonly variables: readonly string[];
  readonly secrets: string;
  readonly applied: string;
  readonly answers: string;
};

/** Returns the key that encrypts recorded plans; it differs by token and gateway: without the token, a record can be neither read nor made. */
export function recallKey(token: string, url: string): Buffer {
  return createHmac('sha256', token)
    .update(canonical(['ostiary/recalled/v1', url]))
    .digest();
}

/** Returns a keyed hash of texts. */
export function keyedHash(key: Buffer, texts: readonly (string | null)[]): string {
  return createHmac('sha256', key).update(canonical(texts)).digest('hex');
}

/** Below this number of manifests, a plan takes hardly longer than the reads that prove it unchanged. */
const fewestManifests = 500;

/** A plan, and the states that it follows from. */
type RecordablePlan = {
  readonly plan: Plan;
  readonly warnings: readonly Diagnostic[];
  readonly desired: DesiredState;
  /** The tree of the base; undefined without a base. */
  readonly baseTree: string | undefined;
};

/**
 * Returns whether a plan may be recorded: it is large, has nothing to report but that all manifests are in sync, and does not depend on
 * the history of the repository, as it does when the base has other manifests.
 */
export function isRecordable({ plan, warnings, desired, baseTree }: RecordablePlan): boolean {
  const found = [plan.changes, plan.edges, plan.orphans, plan.refusals, plan.allowed, plan.unwritten, plan.singleWrites, plan.references];
  return (
    desired.resources.length >= fewestManifests &&
    desired.unselected.length === 0 &&
    [...found, warnings].every(({ length }) => length === 0) &&
    (baseTree === undefined || baseTree === desired.tree)
  );
}

/** Lists the environment variables that secrets come from, each once; undefined if some come from files, which may change during a run. */
export function secretVariables({ resources }: DesiredState): readonly string[] | undefined {
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

/** Returns the encrypted record of a plan document and its inputs. */
export function printRecorded(inputs: PlanInputs, document: JsonObject, key: Buffer): string {
  return encryptText(canonical({ ...inputs, document }), key);
}

/** The inputs of a recorded plan, and its document as `planObject` makes it. */
type RecordedPlan = PlanInputs & { readonly document: unknown };

/** Reads the text of `printRecorded`; undefined for any other text. */
export function readRecorded(text: string, key: Buffer): RecordedPlan | undefined {
  const value = parseJson(decryptText(text, key) ?? '');
  if (!isObject(value)) return undefined;
  const { run, tree, variables, secrets, applied, answers, document } = value;
  if (typeof run !== 'string' || typeof tree !== 'string' || typeof secrets !== 'string') return undefined;
  if (typeof applied !== 'string' || typeof answers !== 'string') return undefined;
  return { run, tree, variables: textsIn(variables), secrets, applied, answers, document };
}
