import type { DesiredResource } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { secretDeletedOutside } from '../../model/plan/plan.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';

/** What is said of an object or a secret that was deleted outside Ostiary. */
export const deletion = 'deleted outside Ostiary';

type MissingContext = {
  readonly isLive: boolean;
  /** The manifest at the base; undefined if that is not known. */
  readonly applied: DesiredResource | undefined;
};

/**
 * Says of secrets that a manifest keeps and the gateway does not have what that means. Those of a live object were deleted there, which is
 * one warning; one that only the manifest adds since the base was never there, which is an error, as is a secret of a missing object.
 */
export function explainMissingSecrets(
  desired: DesiredResource,
  missing: readonly FieldChange[],
  { isLive, applied }: MissingContext,
): readonly Diagnostic[] {
  const isLost = ({ path }: FieldChange): boolean => isLive && (applied === undefined || applied.secrets[path] !== undefined);
  const lost = missing.filter(isLost);
  const never = missing.filter((one) => !isLost(one)).map(({ path }) => missingSecret(desired, path));
  const [first] = lost;
  if (first === undefined) return never;
  const names = lost.map(({ path }) => tokensOf(path).at(-1) ?? path).join(', ');
  const [were, them, value] = lost.length === 1 ? ['was', 'it', 'a value'] : ['were', 'them', 'values'];
  return [
    ...never,
    {
      code: secretDeletedOutside,
      severity: 'warning',
      message: `${names} of ${desired.id} ${applied === undefined ? `${were} ${deletion}, or never set` : `${were} ${deletion}`}; the manifest keeps ${them}`,
      hint: `remove ${them} from the manifest to accept that, or set ${value} ({ value: … } or { valueFrom: … })`,
      at: desired.locate(first.path),
      resource: desired.id,
    },
  ];
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
