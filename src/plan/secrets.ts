import type { DesiredResource } from '../model/desired.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { LiveResource } from '../model/live.ts';
import type { FieldChange } from '../model/plan.ts';
import { isWithin, type Pointer } from '../model/pointer.ts';
import { sameSecret } from '../model/secret.ts';

/** What happens to the secrets of one resource, without their values. */
export type SecretComparison = {
  readonly fields: readonly FieldChange[];
  /** Live secrets that stay as they are. */
  readonly kept: readonly Pointer[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Compares the secrets that a manifest gives with the live ones; a hidden live value is unknown, never a difference. */
export function compareSecrets(desired: DesiredResource, live: LiveResource | undefined, skip: readonly Pointer[]): SecretComparison {
  const fields: FieldChange[] = [];
  const kept: Pointer[] = [];
  const diagnostics: Diagnostic[] = [];
  const ignored = (path: Pointer): boolean => live !== undefined && skip.some((prefix) => isWithin(path, prefix));
  for (const path of Object.keys(desired.secrets).toSorted(compareText)) {
    const wished = desired.secrets[path];
    const found = live?.secrets[path];
    if (wished === undefined || ignored(path)) continue;
    if (wished.state === 'keep') {
      if (found === undefined) diagnostics.push(missing(desired, path));
      else kept.push(path);
    } else if (found === undefined) {
      fields.push({ path, before: { absent: true }, after: { secret: wished.source, state: 'set' } });
    } else if (found.state === 'hidden' || wished.state === 'unresolved') {
      kept.push(path);
    } else if (!sameSecret(wished, found)) {
      fields.push({ path, before: { secret: 'live', state: 'differs' }, after: { secret: wished.source, state: 'differs' } });
    }
  }
  for (const path of Object.keys(live?.secrets ?? {}).toSorted(compareText)) {
    if (desired.secrets[path] !== undefined) continue;
    const goes = desired.wholeSecrets.some((prefix) => isWithin(path, prefix)) && !ignored(path);
    if (goes) fields.push({ path, before: { secret: 'live', state: 'removed' }, after: { absent: true } });
    else kept.push(path);
  }
  return { fields, kept, diagnostics };
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
