import type { DesiredResource } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { compareText } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret } from '../../model/secret.ts';

/** What happens to the secrets of one resource, without their values. */
export type SecretComparison = {
  readonly fields: readonly FieldChange[];
  /** Live secrets that stay as they are. */
  readonly kept: readonly Pointer[];
  /** Those of them that come from where they came from when they were applied, as far as is known, and were not read. */
  readonly unverified: readonly Pointer[];
  /** What the manifest keeps and the gateway has not, as changes that nobody could carry out. */
  readonly lost: readonly FieldChange[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Compares the secrets that a manifest gives with the live ones; what the caller may not see is unknown, never a
 * difference. Of a secret that was not read its source is compared with that of the base.
 */
export function compareSecrets(desired: DesiredResource, live: LiveResource | undefined, base?: DesiredResource): SecretComparison {
  const fields: FieldChange[] = [];
  const kept: Pointer[] = [];
  const unverified: Pointer[] = [];
  const lost: FieldChange[] = [];
  const diagnostics: Diagnostic[] = [];
  const ignored = (path: Pointer): boolean => live !== undefined && desired.ignore.some((prefix) => isPointerWithin(path, prefix));
  const unseen = (path: Pointer): boolean => live?.unknown.some((prefix) => isPointerWithin(path, prefix)) ?? false;
  for (const [path, wished] of Object.entries(desired.secrets).toSorted(([left], [right]) => compareText(left, right))) {
    const found = live?.secrets[path];
    if (ignored(path)) continue;
    if (wished.state === 'unresolved' && (found !== undefined || unseen(path))) {
      const moved = changeOfSource(path, wished, base);
      if (moved === undefined) unverified.push(path);
      if (moved === undefined) kept.push(path);
      else fields.push(moved);
    } else if (unseen(path)) {
      kept.push(path);
    } else if (wished.state === 'keep') {
      if (found !== undefined) kept.push(path);
      else {
        lost.push({ path, before: { absent: true }, after: { secret: wished.source, state: 'set' } });
        diagnostics.push(missing(desired, path));
      }
    } else if (found === undefined) {
      fields.push({ path, before: { absent: true }, after: { secret: wished.source, state: 'set' } });
    } else if (found.state === 'hidden' || wished.state !== 'value') {
      kept.push(path);
    } else if (!wished.equals(found)) {
      fields.push({ path, before: { secret: 'live', state: 'differs' }, after: { secret: wished.source, state: 'differs' } });
    }
  }
  for (const path of Object.keys(live?.secrets ?? {}).toSorted(compareText)) {
    if (Object.hasOwn(desired.secrets, path)) continue;
    const goes = desired.wholeSecrets.some((prefix) => isPointerWithin(path, prefix)) && !ignored(path);
    if (goes) fields.push({ path, before: { secret: 'live', state: 'removed' }, after: { absent: true } });
    else kept.push(path);
  }
  return { fields, kept, unverified, lost, diagnostics };
}

/** A secret that comes from elsewhere than what was applied last, whatever its value is. */
function changeOfSource(path: Pointer, { source }: DesiredSecret, base: DesiredResource | undefined): FieldChange | undefined {
  const stood = base?.secrets[path];
  if (base === undefined || stood?.source === source) return undefined;
  return { path, before: { secret: stood?.source ?? 'live', state: 'unknown' }, after: { secret: source, state: 'unknown' } };
}

function missing(desired: DesiredResource, path: Pointer): Diagnostic {
  return {
    code: 'plan/keep-missing',
    severity: 'error',
    message: `${desired.id} keeps ${path}, but the gateway has no such value`,
    hint: 'give a value ({ value: … } or { valueFrom: … }), or set it on the gateway first',
    at: desired.locate(path),
    resource: desired.id,
  };
}
