import { type Diagnostic, parsePosition, type Position } from '../../model/diagnostic.ts';
import { type AssessedChange, type FieldChange, fieldPosition, highestRisk, isRiskierThan, type Plan } from '../../model/plan/plan.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Replay } from '../../model/result/replay.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { FindingsBlock } from '../blocks.ts';
import { risksText } from '../wording/summary.ts';
import { shortList } from '../wording/phrases.ts';
import { acceptedNote } from '../rows/change-rows.ts';

/** What a run found on each target. */
export type RunFindings = Pick<FindingsBlock, 'version' | 'pathOf' | 'fallback'> & {
  readonly targets: readonly TargetFindings[];
};

/** What a run found on one target; `target` is absent if the run selects none by name. */
export type TargetFindings = {
  readonly target?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan;
  readonly replay?: Replay | undefined;
  readonly result?: ApplyResult;
  readonly drift?: Drift;
};

/** Returns the diagnostics and refusals of all targets, each once; in a run over several, each names its targets. */
export function findingDiagnostics({ targets }: Pick<RunFindings, 'targets'>): readonly Diagnostic[] {
  const all = new Map<string, { readonly one: Diagnostic; readonly names: Set<string> }>();
  for (const { target, diagnostics, plan } of targets) {
    const ofPlan = plan === undefined ? [] : [...refusalDiagnostics(plan), ...acceptedDiagnostics(plan)];
    for (const one of [...diagnostics, ...ofPlan]) {
      const key = JSON.stringify(one);
      const found = all.get(key) ?? { one, names: new Set() };
      if (target !== undefined) found.names.add(target);
      all.set(key, found);
    }
  }
  return [...all.values()].map(({ one, names }) =>
    targets.length > 1 && names.size > 0 ? namingTargets(one, [...names], targets.length) : one,
  );
}

const mostTargets = 3;

function namingTargets(one: Diagnostic, names: readonly string[], total: number): Diagnostic {
  const isAll = names.length === total && total > mostTargets;
  const text = isAll ? `all ${total} targets` : shortList(names, mostTargets).join(', ');
  return { ...one, message: `${one.message} (${text})`, targets: names };
}

/** Returns a plan's refusals as diagnostics, each at the changed line of its object. */
export function refusalDiagnostics(plan: Plan): readonly Diagnostic[] {
  const places = new Map(plan.changes.map((change) => [change.id, changedPosition(change)]));
  return plan.refusals.map(({ code, message, hint, resource, at = resource === undefined ? undefined : places.get(resource) }) => ({
    code,
    severity: 'error' as const,
    message,
    hint,
    resource,
    at,
  }));
}

/** Returns the drift that a plan accepts as warnings, each at the changed line; only drift that is not safe. */
export function acceptedDiagnostics(plan: Pick<Plan, 'accepted' | 'request'>): readonly Diagnostic[] {
  return plan.accepted.flatMap((drift): readonly Diagnostic[] => {
    const highest = highestRisk(drift.risks);
    if (highest === undefined || !isRiskierThan(highest, 'neutral')) return [];
    const at = changedPosition(drift);
    const message = `${drift.id}: the manifests accept drift: ${risksText(drift.risks)}; ${acceptedNote(drift, plan)}`;
    const hint = 'check that the change is intended; to undo it, restore the manifest and apply';
    return [{ code: 'plan/accepted-drift', severity: 'warning', message, hint, resource: drift.id, ...(at === undefined ? {} : { at }) }];
  });
}

/** Returns the line that a change is about: that of its highest risk, else of its first field, else its manifest. */
export function changedPosition(change: Pick<AssessedChange, 'risks' | 'fields' | 'at' | 'positions'>): Position | undefined {
  const { risks, fields, at } = change;
  const placeOf = (field: FieldChange): Position | undefined => fieldPosition(change, field);
  const highest = highestRisk(risks);
  for (const { class: one, path, place } of risks) {
    if (one !== highest) continue;
    const field =
      path === undefined ? undefined : fields.find((other) => placeOf(other) !== undefined && isPointerWithin(other.path, path));
    const position = (place === undefined ? undefined : parsePosition(place)) ?? (field && placeOf(field));
    if (position !== undefined) return position;
  }
  const written = fields.find((field) => placeOf(field) !== undefined && field.held !== true && field.origin !== 'drift');
  return (written && placeOf(written)) ?? at;
}
