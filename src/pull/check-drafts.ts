import { registry } from '../kinds/index.ts';
import { findIgnorablePath } from '../manifest/validate/check-manifest.ts';
import type { DraftManifest } from '../manifest/pull/draft-manifests.ts';
import type { DesiredState } from '../model/desired.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { LiveState } from '../model/live.ts';
import { defaultLimits, type Target } from '../model/config.ts';
import type { Plan } from '../model/plan/plan.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import type { DifferingManifest } from '../model/result/pull-result.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { forDialect } from '../reconcile/prepare/dialect.ts';
import { plan } from '../reconcile/diff/plan.ts';

/** What a plan of the project would say once the drafts are written. */
export type DraftCheck = {
  /** Paths, by live id, at which a draft does not say what is live. */
  readonly ignored: ReadonlyMap<ResourceId, readonly Pointer[]>;
  /** Drafts, by live id, that are wrong, and why. */
  readonly invalid: ReadonlyMap<ResourceId, string>;
  readonly differing: readonly DifferingManifest[];
  readonly gone: readonly DifferingManifest[];
};

export type DraftCase = {
  readonly drafts: readonly DraftManifest[];
  /** All manifests of the project, the drafts among them. */
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly identity: GatewayIdentity;
  readonly target: Target;
};

/** What the manifests would change, had they never been applied. */
export function planWithoutBase({ desired, live, identity, target: { name } }: Omit<DraftCase, 'drafts'>): Checked<Plan> {
  const { url, dialect } = identity;
  const known = forDialect(desired, identity, registry).desired;
  return plan(
    { target: { name, url, dialect }, desired: known, live, base: undefined, limits: defaultLimits, allowed: [], looking: true },
    registry,
  );
}

/** Plans with the drafts: whatever would be a change is found before anything is written. Mistakes elsewhere are thrown. */
export function checkDrafts({ drafts, ...compared }: DraftCase): DraftCheck {
  const keys = new Map(drafts.map(({ id, key }) => [id, key]));
  const { value, diagnostics } = planWithoutBase(compared);
  if (value !== undefined) return { ...changesOf(value, keys), invalid: new Map() };
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const wrong = new Map(errors.flatMap((one) => draftOf(one, keys)));
  if (wrong.size === 0) throw new InputError(errors);
  return { ignored: new Map(), invalid: wrong, differing: [], gone: [] };
}

function draftOf({ resource, message }: Diagnostic, keys: ReadonlyMap<ResourceId, ResourceId>): readonly (readonly [ResourceId, string])[] {
  const key = resource === undefined ? undefined : keys.get(resource);
  return key === undefined ? [] : [[key, message]];
}

function changesOf({ changes, edges }: Plan, keys: ReadonlyMap<ResourceId, ResourceId>): Omit<DraftCheck, 'invalid'> {
  const ignored = new Map<ResourceId, readonly Pointer[]>();
  const differing = new Map<ResourceId, DifferingManifest>();
  const gone: DifferingManifest[] = [];
  for (const { id, action, fields, at } of changes) {
    const key = keys.get(id);
    const paths = fields.map(({ path }) => path);
    const known = { id, ...(at === undefined ? {} : { at }) };
    const rules = registry.get(kindOf(id))?.fields ?? [];
    if (key !== undefined) ignored.set(key, [...new Set(paths.flatMap((path) => findIgnorablePath(rules, path) ?? []))]);
    else if (action === 'create') gone.push({ ...known, fields: [] });
    else if (action !== 'blocked') differing.set(id, { ...known, fields: paths });
  }
  for (const { rule, connection, action } of edges) {
    if (action === 'foreign' || action === 'blocked') continue;
    const path = pointer('connection_ids', nameOf(connection));
    if (gone.some(({ id }) => id === rule || id === connection)) continue;
    differing.set(rule, { ...(differing.get(rule) ?? { id: rule }), fields: [...(differing.get(rule)?.fields ?? []), path] });
  }
  return { ignored, differing: [...differing.values()], gone };
}
