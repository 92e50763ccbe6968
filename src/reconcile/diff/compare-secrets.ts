import { appendAll } from '../../model/append-all.ts';
import type { DesiredResource } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { compareText } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret } from '../../model/secret.ts';

/** The changes of the secrets of one resource, without their values. */
type SecretComparison = {
  readonly fields: readonly FieldChange[];
  /** Live secrets that stay as they are. */
  readonly kept: readonly Pointer[];
  /** The kept secrets that were not read: their source is the applied one, as far as is known. */
  readonly unverified: readonly Pointer[];
  /** Secrets that the manifest keeps and the gateway does not have, as changes that cannot be applied. */
  readonly missing: readonly FieldChange[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Compares the secrets of a manifest with the live ones. A secret that the token may not read is unknown, never a difference. For
 * a secret that was not read, its source is compared with the source in the base.
 */
export function compareSecrets(desired: DesiredResource, live: LiveResource | undefined, base?: DesiredResource): SecretComparison {
  const fields: FieldChange[] = [];
  const kept: Pointer[] = [];
  const unverified: Pointer[] = [];
  const missing: FieldChange[] = [];
  const diagnostics: Diagnostic[] = [];
  const isIgnored = (path: Pointer): boolean => live !== undefined && desired.ignore.some((prefix) => isPointerWithin(path, prefix));
  const isUnknown = (path: Pointer): boolean => live?.unknown.some((prefix) => isPointerWithin(path, prefix)) ?? false;
  for (const [path, wanted] of Object.entries(desired.secrets).toSorted(([left], [right]) => compareText(left, right))) {
    const found = live?.secrets[path];
    if (isIgnored(path)) continue;
    if (wanted.state === 'unresolved' && (found !== undefined || isUnknown(path))) {
      const sourceChange = changeOfSource(path, wanted, base);
      appendAll(fields, sourceChange);
      if (sourceChange.length === 0) {
        unverified.push(path);
        kept.push(path);
      }
    } else if (isUnknown(path) || found?.state === 'hidden') {
      // The value is not readable; a committed file of another content is a change whatever it is.
      if (hasOtherContent(wanted, base?.secrets[path])) appendAll(fields, changeOfSource(path, wanted, base));
      else kept.push(path);
    } else if (wanted.state === 'keep') {
      if (found !== undefined) kept.push(path);
      else {
        missing.push({ path, before: { absent: true }, after: { secret: wanted.source, state: 'set' } });
        diagnostics.push(missingSecret(desired, path));
      }
    } else if (found === undefined) {
      fields.push({ path, before: { absent: true }, after: { secret: wanted.source, state: 'set' } });
    } else if (wanted.state !== 'value') {
      kept.push(path);
    } else if (!wanted.equals(found)) {
      fields.push({ path, before: { secret: 'live', state: 'differs' }, after: { secret: wanted.source, state: 'differs' } });
    }
  }
  for (const path of Object.keys(live?.secrets ?? {}).toSorted(compareText)) {
    if (Object.hasOwn(desired.secrets, path)) continue;
    const isRemoved = desired.wholeSecrets.some((prefix) => isPointerWithin(path, prefix)) && !isIgnored(path);
    if (isRemoved) fields.push({ path, before: { secret: 'live', state: 'removed' }, after: { absent: true } });
    else kept.push(path);
  }
  return { fields, kept, unverified, missing, diagnostics };
}

/** Returns a change if a secret has another source than the last applied one, or its committed file another content; values are not compared. */
function changeOfSource(path: Pointer, wanted: DesiredSecret, base: DesiredResource | undefined): readonly FieldChange[] {
  const { source } = wanted;
  const applied = base?.secrets[path];
  if (base === undefined || (applied?.source === source && !hasOtherContent(wanted, applied))) return [];
  return [{ path, before: { secret: applied?.source ?? 'live', state: 'unknown' }, after: { secret: source, state: 'unknown' } }];
}

/** Returns whether a secret comes from the same file as before, and the content of the file is another one in the manifests. */
export function hasOtherContent(wanted: DesiredSecret, applied: DesiredSecret | undefined): boolean {
  return applied !== undefined && applied.source === wanted.source && applied.content !== wanted.content;
}

function missingSecret(desired: DesiredResource, path: Pointer): Diagnostic {
  return {
    code: 'plan/keep-missing',
    severity: 'error',
    message: `${desired.id} declares keep for ${path}, but the gateway has no value`,
    hint: 'set a value ({ value: … } or { valueFrom: … }), or set it on the gateway first',
    at: desired.locate(path),
    resource: desired.id,
  };
}
