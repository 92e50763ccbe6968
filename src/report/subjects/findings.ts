import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { ReportDocument, RunFindings } from '../document.ts';
import { diagnosticsDocument } from '../text/diagnostics.ts';

/** Returns the document of what a run found. */
export function findingsDocument(run: RunFindings): ReportDocument {
  return {
    json: () => diagnosticsDocument(findingDiagnostics(run)),
    sections: () => [{ blocks: [{ type: 'findings', run }] }],
  };
}

/** Returns the diagnostics and refusals of all targets, each once. */
export function findingDiagnostics({ targets }: RunFindings): readonly Diagnostic[] {
  const all = new Map<string, Diagnostic>();
  for (const { diagnostics, plan } of targets)
    for (const one of [...diagnostics, ...(plan === undefined ? [] : refusalDiagnostics(plan))]) all.set(JSON.stringify(one), one);
  return [...all.values()];
}

/** Returns a plan's refusals as diagnostics, each at the manifest of its object. */
export function refusalDiagnostics(plan: Plan): readonly Diagnostic[] {
  const refused = plan.refusals.map(({ code, message, hint, resource, at }) => ({
    code,
    severity: 'error' as const,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(resource === undefined ? {} : { resource }),
    ...(at === undefined ? {} : { at }),
  }));
  return withManifestPositions(refused, plan);
}

/** Gives diagnostics without a position that of the manifest of their object. */
export function withManifestPositions(diagnostics: readonly Diagnostic[], { changes }: Plan): readonly Diagnostic[] {
  const places = new Map(changes.map(({ id, at }) => [id, at]));
  return diagnostics.map((one) => {
    const at = one.at ?? (one.resource === undefined ? undefined : places.get(one.resource));
    return at === undefined ? one : { ...one, at };
  });
}
