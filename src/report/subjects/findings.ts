import { type Diagnostic, parsePosition, type Position } from '../../model/diagnostic.ts';
import { type AssessedChange, type FieldChange, fieldPosition, highestRisk, isRiskierThan, type Plan } from '../../model/plan/plan.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import type { ReportDocument, ReportSection, RunFindings } from '../document.ts';
import { diagnosticsDocument } from '../wording/diagnostics.ts';
import { risksText, shortList } from '../wording/summary.ts';
import { acceptedNote } from '../rows/change-rows.ts';

/** Returns the document of what a run found, with a sentence about its result if one is given. */
export function findingsDocument(run: RunFindings, sentence?: string): ReportDocument {
  return { json: () => diagnosticsDocument(findingDiagnostics(run)), sections: () => [findingsSection(run, sentence)] };
}

/** Returns the findings of a run as a section, with a sentence about its result if one is given. */
export function findingsSection(run: RunFindings, sentence?: string): ReportSection {
  return { ...(sentence === undefined ? {} : { verdict: { before: sentence, name: '', after: '' } }), blocks: [{ type: 'findings', run }] };
}

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

/** Gives diagnostics without a position that of the manifest of their object. */
export function withManifestPositions(diagnostics: readonly Diagnostic[], { changes }: Plan): readonly Diagnostic[] {
  const places = new Map(changes.map(({ id, at }) => [id, at]));
  return diagnostics.map((one) => {
    const at = one.at ?? (one.resource === undefined ? undefined : places.get(one.resource));
    return at === undefined ? one : { ...one, at };
  });
}
