import { addToGroup } from '../../model/collections.ts';
import type { DesiredResource } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { deletedOutside } from '../../model/plan/plan.ts';
import { isPointerWithin, tokensOf } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { deletion } from '../cells/missing-secrets.ts';
import type { Prepared } from '../prepare/prepare.ts';

/**
 * Says once, for each object with kept secrets that is not on the gateway, what that means: it was deleted outside Ostiary, it has another
 * name there, or its values were never set. If the gateway has none of the objects with kept secrets, it is another gateway, and one
 * diagnostic says that. `diagnostics` are those of comparing each object.
 */
export function explainMissing(prepared: Prepared, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const { named } = prepared;
  const manifests = new Map(named.desired.resources.map((resource) => [resource.id, resource]));
  const missing = new Map<DesiredResource, Diagnostic[]>();
  const rest = diagnostics.filter((one) => {
    const resource = one.code === 'plan/keep-missing' && one.resource !== undefined ? manifests.get(one.resource) : undefined;
    if (resource === undefined || named.liveById.has(resource.key)) return true;
    addToGroup(missing, resource, one);
    return false;
  });
  const [first] = [...missing].toSorted(([left], [right]) => (left.id < right.id ? -1 : 1));
  if (first === undefined) return diagnostics;
  const isThere = named.desired.resources.some((one) => named.liveById.has(one.key) && keptKeys(one).length > 0);
  const isElsewhere = !isThere && (missing.size > 1 || prepared.base === undefined);
  if (!isElsewhere || missing.size === 1)
    return [
      ...rest,
      ...[...missing].map(([resource, [one]]) => explainOne(prepared, resource, { severity: one?.severity ?? 'error', isThere })),
    ];
  const [{ id, locate }, [one]] = first;
  return [
    ...rest,
    {
      code: 'plan/keep-missing',
      severity: one?.severity ?? 'error',
      message: `${missing.size} objects keep secrets that this gateway does not have, such as ${id}: an import keeps the values of the gateway that it was pulled from`,
      hint: 'check the URL of the target; for a second gateway, limit the manifests with metadata.targets, or set values ({ valueFrom: … })',
      at: locate(''),
    },
  ];
}

type MissingContext = Pick<Diagnostic, 'severity'> & {
  /** The gateway has other objects with kept secrets. */
  readonly isThere: boolean;
};

function explainOne(prepared: Prepared, resource: DesiredResource, { severity, isThere }: MissingContext): Diagnostic {
  const { id, key, locate } = resource;
  const kept = keptKeys(resource);
  const keys = `${kept.length === 1 ? 'the secret' : `${kept.length} secrets:`} ${kept.join(', ')}`;
  const { base } = prepared;
  const wasApplied = prepared.own.has(key) || base?.desired.resources.some((one) => one.key === key) === true;
  const former = wasApplied ? [] : formerNames(prepared, resource);
  const at = locate('');
  if (wasApplied || (base === undefined && isThere && former.length === 0))
    return {
      code: deletedOutside,
      severity: severity === 'error' ? 'error' : 'warning',
      message: `${id} ${wasApplied ? `was ${deletion}` : `is not on the gateway: it was ${deletion}, or never created`}; its manifest keeps ${keys}`,
      hint: 'remove the manifest to accept that; to recreate it, set these secrets ({ value: … } or { valueFrom: … })',
      at,
      resource: id,
    };
  const values = 'set the secrets ({ value: … } or { valueFrom: … })';
  const rename = `if it is the new name of ${former.join(' or ')}, write metadata.replaces: ${nameOf(former[0] ?? id)}`;
  return {
    code: 'plan/keep-missing',
    severity,
    message: `${id} is not on the gateway, and its manifest keeps ${keys}`,
    hint: former.length === 0 ? `${values}, or create it on the gateway first` : `${rename}; otherwise ${values}`,
    at,
    resource: id,
  };
}

/** Returns the live objects without a manifest that have the kept secrets of a new one: it may be their new name. */
function formerNames({ base, input, named }: Prepared, { id, secrets }: DesiredResource): readonly ResourceId[] {
  const kind = kindOf(id);
  if (input.registry.get(kind)?.named !== true) return [];
  const declared = new Set([...named.desired.resources, ...named.desired.unselected].map(({ key }) => key));
  const applied = base === undefined ? undefined : new Set(base.desired.resources.map(({ key }) => key));
  const paths = Object.keys(secrets).filter((path) => secrets[path]?.state === 'keep');
  return [...named.liveById.values()]
    .filter((one) => kindOf(one.id) === kind && one.managedBy === undefined && !declared.has(one.id) && applied?.has(one.id) !== false)
    .filter(({ secrets: found, unknown }) =>
      paths.every((path) => found[path] !== undefined || unknown.some((hidden) => isPointerWithin(path, hidden))),
    )
    .map((one) => one.id)
    .toSorted()
    .slice(0, 3);
}

function keptKeys({ secrets }: DesiredResource): readonly string[] {
  return Object.keys(secrets)
    .flatMap((path) => (secrets[path]?.state === 'keep' ? [tokensOf(path).at(-1) ?? path] : []))
    .toSorted();
}
