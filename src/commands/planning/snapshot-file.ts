import { createHmac } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { readBounded } from '../../disk/cache.ts';
import { decryptBytes, encryptBytes } from '../../disk/sealed-cache.ts';
import { writeReport } from '../../disk/write.ts';
import { apiRoot } from '../../gateway/session.ts';
import { AppError, UsageError } from '../../model/errors.ts';
import type { GatewaySnapshot } from '../../model/gateway.ts';
import type { Plan, SnapshotAge } from '../../model/plan/plan.ts';
import type { PlanBase } from '../../project/plan-base.ts';
import type { OpenProject } from '../../project/project.ts';
import { absolutePath, outputPath } from '../../project/resolved-config.ts';
import { sealsOfSnapshot } from '../../reconcile/saved-plan/plan-digest.ts';
import { otherTool } from '../../reconcile/saved-plan/saved-plan-checks.ts';
import type { CliContext } from '../context/cli-context.ts';
import { version } from '../context/version.ts';
import type { CreatedRun } from './planned-run.ts';

/** What a file has: a snapshot of the gateway of a target, when it was taken, and the record of applies that was the last one then. */
export type SavedSnapshot = {
  readonly tool: string;
  readonly target: string;
  readonly taken: string;
  /** When that record was written; empty if there was none. */
  readonly record: string;
  readonly gateway: GatewaySnapshot;
};

/** A snapshot that may be planned from, and how old it is. */
export type OpenedSnapshot = SavedSnapshot & SnapshotAge;

/** The environment variable with the key that seals snapshots; not the token, because who plans from one has none. */
const variable = 'OSTIARY_SNAPSHOT_KEY';

const header = 'ostiary snapshot\n';
const longestFile = 64 * 1024 * 1024;
const longestText = 512 * 1024 * 1024;
const shortestKey = 32;
const oldestDays = 7;
/** Clocks differ. */
const mostAheadMs = 5 * 60_000;
const again = 'take another one: ostiary drift --snapshot FILE';

/** Returns whether the environment has a key. */
export function hasSnapshotKey(env: CliContext['env']): boolean {
  return textOf(env) !== '';
}

function textOf(env: CliContext['env']): string {
  return (env['OSTIARY_SNAPSHOT_KEY'] ?? '').trim();
}

/** Returns the key of the environment. Throws UsageError if it is missing, or short enough to be guessed. */
export function snapshotKey({ env, onEvent }: Pick<CliContext, 'env' | 'onEvent'>): Buffer {
  const text = textOf(env);
  const hint = `set ${variable} to a random text that drift and plan share, such as the output of: openssl rand -base64 32`;
  if (text === '') throw new UsageError('missing key: snapshots are encrypted', hint);
  onEvent?.({ secret: text });
  if (text.length < shortestKey) throw new UsageError(`the key in ${variable} has fewer than ${shortestKey} characters`, hint);
  return createHmac('sha256', text).update('ostiary/snapshot/v1').digest();
}

/** Writes what a run has read of its gateway, without a value of a secret, compressed and encrypted. Throws AppError if it is too large, or cannot be written. */
export async function saveSnapshot(path: string, run: CreatedRun, taken: Date, context: CliContext): Promise<void> {
  const { project, gateway, live, planBase } = run;
  const saved: SavedSnapshot = {
    tool: version,
    target: project.target.name,
    taken: taken.toISOString(),
    record: recordIn(planBase),
    gateway: await gateway.snapshot(live),
  };
  const text = header + encryptBytes(deflateRawSync(JSON.stringify(saved)), snapshotKey(context));
  if (text.length > longestFile)
    throw refused(
      'snapshot/unreadable',
      `the snapshot would have ${text.length} bytes, more than the ${longestFile} that plan reads`,
      'plan with a token of the gateway instead',
    );
  writeReport(outputPath(path, context), text, { what: 'snapshot', mode: 0o600 });
}

/** Reads a snapshot of the target of a project. Throws AppError unless it is whole, of this target and gateway, of this version of Ostiary, and recent. */
export function readSnapshot(path: string, { target }: OpenProject, context: CliContext): OpenedSnapshot {
  const saved = openFile(path, snapshotKey(context), context);
  const here = `${target.name} (${apiRoot(target.url)})`;
  const there = `${saved.target} (${saved.gateway.url})`;
  if (here !== there)
    throw refused('snapshot/other-target', `the snapshot is of ${there}, but this is ${here}`, 'pass the snapshot of this target');
  const { dialect } = saved.gateway;
  if (target.dialect !== 'auto' && target.dialect !== dialect)
    throw refused(
      'snapshot/other-target',
      `the snapshot is of a gateway with the dialect ${dialect}, but the target has ${target.dialect}`,
      again,
    );
  const seconds = Math.floor((context.now().getTime() - Date.parse(saved.taken)) / 1000);
  if (seconds > oldestDays * 86_400)
    throw refused('snapshot/outdated', `the snapshot is from ${saved.taken}, more than ${oldestDays} days ago`, again);
  if (seconds * 1000 < -mostAheadMs)
    throw refused('snapshot/outdated', `the snapshot is from ${saved.taken}, which is in the future`, `check the clock, or ${again}`);
  return { ...saved, seconds };
}

/** Returns a plan that was made from a snapshot. Its digest is that of no apply, and no token is why secrets are not compared. */
export function planOfSnapshot(plan: Plan, { taken, seconds }: OpenedSnapshot): Plan {
  const notCompared = plan.notCompared.map((one) => (one.reason === 'hidden' ? { ...one, reason: 'unresolved' as const } : one));
  return { ...plan, seals: sealsOfSnapshot(plan.seals), notCompared, snapshot: { taken, seconds } };
}

/** Throws AppError if an apply was recorded since a snapshot was taken: what it wrote would be drift. */
export function requireLastApply({ record, taken }: SavedSnapshot, planBase: PlanBase): void {
  if (planBase.read === undefined || recordIn(planBase) === record) return;
  throw refused(
    'snapshot/outdated',
    `an apply was recorded since the snapshot was taken, at ${taken}: what it wrote would be drift`,
    again,
  );
}

/** A record is dated after the one that it continues, whichever name its target has. */
function recordIn({ read }: Pick<PlanBase, 'read'>): string {
  return read?.at?.toISOString() ?? '';
}

function openFile(path: string, key: Buffer, context: CliContext): SavedSnapshot {
  const bytes = readBounded(absolutePath(path, context));
  const name = JSON.stringify(path);
  if (!Buffer.isBuffer(bytes))
    throw refused('snapshot/unreadable', `the snapshot ${name} cannot be read: ${bytes.reason}`, 'pass the file of drift --snapshot');
  const text = bytes.toString('latin1');
  if (!text.startsWith(header)) throw refused('snapshot/unreadable', `${name} is not a snapshot`, 'pass the file of drift --snapshot');
  const packed = decryptBytes(text.slice(header.length), key);
  if (packed === undefined)
    throw refused(
      'snapshot/unreadable',
      `the snapshot ${name} was sealed with another key, or is not whole, or was changed`,
      `check ${variable}, or ${again}`,
    );
  const saved: SavedSnapshot = JSON.parse(inflateRawSync(packed, { maxOutputLength: longestText }).toString('utf8'));
  if (otherTool(saved.tool, version) === undefined) return saved;
  throw refused(
    'snapshot/unreadable',
    `the snapshot ${name} was taken by Ostiary ${saved.tool}, but this is ${version}`,
    `${again}, with this version`,
  );
}

function refused(code: AppError['code'], message: string, hint: string): AppError {
  return new AppError(code, 3, message, { hint });
}
