import { registry } from '../kinds/index.ts';
import { findIgnorablePath } from '../manifest/validate/check-manifest.ts';
import type { DraftManifest } from '../manifest/draft/draft-manifests.ts';
import type { DesiredState } from '../model/desired.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import { defaultLimits, type Target } from '../model/config.ts';
import type { LiveState } from '../model/live.ts';
import type { Diff } from '../model/plan/plan.ts';
import { type Pointer, pointer } from '../model/pointer.ts';
import type { DifferingManifest } from '../model/result/outcome.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { draftPlan } from '../reconcile/reconcile.ts';

/** The result of planning a project with the drafts added. */
export type DraftCheck = {
  /** Paths of each draft (by live id) that would change the live object; the draft must ignore them. */
  readonly ignored: ReadonlyMap<ResourceId, readonly Pointer[]>;
  /** The error of each invalid draft, by live id. */
  readonly invalid: ReadonlyMap<ResourceId, string>;
  readonly differing: readonly DifferingManifest[];
  readonly gone: readonly DifferingManifest[];
};

type DraftCase = {
  readonly drafts: readonly DraftManifest[];
  /** All manifests of the project, including the drafts. */
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly identity: GatewayIdentity;
  readonly target: Target;
};

/** Plans the manifests as if they had never been applied, so every difference from the live state is a change. */
export function planWithoutBase({ desired, live, identity, target: { name } }: Omit<DraftCase, 'drafts'>): Checked<Diff> {
  const { url, dialect, borrowed } = identity;
  const { value, diagnostics } = draftPlan({
    registry,
    target: { name, url, dialect },
    borrowed,
    desired,
    live,
    base: undefined,
    limits: defaultLimits,
    allowed: [],
    previewOnly: true,
    readOnly: true,
  });
  return value === undefined ? { diagnostics } : { value: value.diff, diagnostics };
}

/** Plans the project with the drafts added, before any file is written. Throws InputError for errors outside the drafts. */
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

function changesOf({ changes, edges }: Diff, keys: ReadonlyMap<ResourceId, ResourceId>): Omit<DraftCheck, 'invalid'> {
  const ignored = new Map<ResourceId, readonly Pointer[]>();
  const differing = new Map<ResourceId, DifferingManifest>();
  const gone: DifferingManifest[] = [];
  for (const { id, action, fields, at } of changes) {
    const key = keys.get(id);
    const paths = fields.map(({ path }) => path);
    const known = { id, at };
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
