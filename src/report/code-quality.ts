import { createHash } from 'node:crypto';
import type { Diagnostic, Severity } from '../model/diagnostic.ts';
import type { JsonObject } from '../model/json.ts';
import type { FindingsBlock } from './blocks.ts';
import { fileOfFinding, findingBlocks, findingText, type ReportDocument } from './document.ts';
import { toJsonText } from './serialize.ts';

const severities: Readonly<Record<Severity, string>> = { error: 'major', warning: 'minor', notice: 'info' };

/** Renders what a run found as a Code Quality report of GitLab; a finding that only moves keeps its fingerprint. */
export function renderCodeQuality(document: ReportDocument): string {
  const known = new Map<string, number>();
  return toJsonText(findingBlocks(document).flatMap((run) => run.diagnostics.map((one) => issueOf(one, run, known))));
}

/** Returns a finding as GitLab reads it; `known` counts equal findings, because each fingerprint has to be unique. */
function issueOf(finding: Diagnostic, run: FindingsBlock, known: Map<string, number>): JsonObject {
  const { code, severity, message, at, resource } = finding;
  const path = fileOfFinding(finding, run);
  const name = JSON.stringify([code, path, resource ?? '', message]);
  const count = known.get(name) ?? 0;
  known.set(name, count + 1);
  return {
    description: findingText(finding),
    check_name: code,
    fingerprint: createHash('sha256').update(`${name} ${count}`).digest('hex'),
    severity: severities[severity],
    location: { path, lines: { begin: at?.line ?? 1 } },
  };
}
