import { type Diagnostic, sortDiagnostics } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { ReportDocument, ReportSection } from '../document.ts';
import { diagnosticsDocument } from '../wording/diagnostics.ts';
import { runAnnotations } from './annotations.ts';
import { findingDiagnostics, type RunFindings } from './found.ts';

/** Returns the document of what a run found, with a sentence about its result if one is given. */
export function findingsDocument(run: RunFindings, sentence?: string): ReportDocument {
  return { json: () => diagnosticsDocument(findingDiagnostics(run)), sections: () => [findingsSection(run, sentence)] };
}

/** Returns the findings of a run as a section, with a sentence about its result if one is given. */
export function findingsSection(run: RunFindings, sentence?: string): ReportSection {
  const { targets, ...place } = run;
  const diagnostics = sortDiagnostics(findingDiagnostics(run));
  const block = { type: 'findings', diagnostics, annotations: () => runAnnotations(targets), ...place } as const;
  return { ...(sentence === undefined ? {} : { verdict: { before: sentence, name: '', after: '' } }), blocks: [block] };
}

/** Gives diagnostics without a position that of the manifest of their object. */
export function withManifestPositions(diagnostics: readonly Diagnostic[], { changes }: Plan): readonly Diagnostic[] {
  const places = new Map(changes.map(({ id, at }) => [id, at]));
  return diagnostics.map((one) => {
    const at = one.at ?? (one.resource === undefined ? undefined : places.get(one.resource));
    return at === undefined ? one : { ...one, at };
  });
}
