import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { restRefusals } from '../../apply/rest-refusals.ts';
import { decryptBytes, encryptBytes } from '../../disk/sealed-cache.ts';
import { registry } from '../../kinds/index.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { InputError } from '../../model/errors.ts';
import { isWritten, type Refusal, type SavedPlan } from '../../model/plan/plan.ts';
import { digestOf, digestWithUnwritten, secretFactsOf } from '../../reconcile/saved-plan/plan-digest.ts';
import { openPlan } from '../../reconcile/saved-plan/saved-plan.ts';
import { otherManifests } from '../../reconcile/saved-plan/saved-plan-checks.ts';
import { secretCacheOf } from './read-secrets.ts';
import { savedPlanText } from './saved-plan.ts';
import type { CreatedRun } from './planned-run.ts';

/** The longest text of a plan that the record keeps. */
const longestText = 64 * 1024 * 1024;
/** The longest form of it: the record is the message of a commit. */
const longestForm = 8 * 1024 * 1024;

/** Returns an approved plan for the record: compressed, and encrypted with the token of the gateway; undefined for one that is too long. */
export async function encryptPlan(run: CreatedRun): Promise<string | undefined> {
  try {
    const text = await savedPlanText(run, longestText);
    const form = encryptBytes(deflateRawSync(text), keyOf(run));
    return form.length > longestForm ? undefined : form;
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** The approved plan to resume, with a notice; or the reasons why it is not resumed. */
export type Continuation = { readonly saved: SavedPlan; readonly notice: Diagnostic } | { readonly refusals: readonly Refusal[] };

/**
 * Compares the plan of what is live now with the approved one that an interrupted apply recorded. Whether the objects of the approved one are
 * still as it found or leaves them is checked when it is resumed, as for every saved plan. Undefined if there is none with this digest, or it cannot be
 * decrypted. The digest is computed from what is recorded and from the target and the secrets of now, so that no record makes another plan
 * pass for the approved one.
 */
export function continueApprovedPlan(run: CreatedRun, digest: string): Continuation | undefined {
  const saved = decryptPlan(run);
  if (saved === undefined || saved.plan.seals.digest !== digest) return undefined;
  const { plan: approved } = saved;
  const { plan: rest, desired, base } = run;
  const now = digestOf(rest.target, approved.changes, approved.edges, secretFactsOf(desired, base?.desired));
  if (digestWithUnwritten(now, approved) !== digest) return undefined;
  const other = otherManifests(approved.seals.tree, rest.seals.tree);
  const refusals = other === undefined ? restRefusals(approved, rest) : [other];
  if (refusals.length > 0) return { refusals };
  const [all, left] = [approved, rest].map(({ changes }) => changes.filter(isWritten).length);
  const message = `an earlier run began the approved plan ${digest.slice(0, 12)}: ${left} of ${all} changes are left`;
  return { saved, notice: { code: 'plan/continued', severity: 'notice', message } };
}

function decryptPlan(run: CreatedRun): SavedPlan | undefined {
  const { approved } = run.planBase.read?.record ?? {};
  const packed = approved === undefined ? undefined : decryptBytes(approved, keyOf(run));
  if (packed === undefined) return undefined;
  const { value } = openPlan(inflateRawSync(packed, { maxOutputLength: longestText }).toString('utf8'), registry);
  return value === undefined || 'version' in value ? undefined : value;
}

function keyOf({ project, identity }: CreatedRun): Buffer {
  return secretCacheOf(project, identity, {}).key;
}
