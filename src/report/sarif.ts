import { findCatalogEntry } from '../model/catalog/diagnostic-catalog.ts';
import type { Diagnostic, Severity } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { FindingsBlock } from './blocks.ts';
import { fileOfFinding, findingBlocks, findingText, type ReportDocument } from './document.ts';

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = { error: 'error', warning: 'warning', notice: 'note' };

/** The results of one run that code scanning accepts. */
const most = 25_000;

/** Renders what a run found as a SARIF 2.1.0 document for code scanning; the same findings give the same bytes. */
export function sarifDocument(document: ReportDocument): JsonObject {
  const runs = findingBlocks(document).map(sarifRun);
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs };
}

function sarifRun(run: FindingsBlock): Json {
  const sorted = run.diagnostics.slice(0, most);
  const codes = [...new Set(sorted.map(({ code }) => code))].toSorted();
  const rules = new Map(codes.map((code, index) => [code, index]));
  return {
    tool: {
      driver: {
        name: 'ostiary',
        version: run.version,
        rules: codes.map(ruleOf),
      },
    },
    columnKind: 'utf16CodeUnits',
    results: sorted.map((diagnostic) => resultOf(diagnostic, rules.get(diagnostic.code) ?? 0, run)),
  };
}

/** Describes a code with the texts of the catalog. */
function ruleOf(code: Diagnostic['code']): Json {
  const entry = findCatalogEntry(code);
  if (entry === undefined) return { id: code, shortDescription: { text: code } };
  const { meaning, cause, fix } = entry;
  return {
    id: code,
    shortDescription: { text: meaning },
    fullDescription: { text: `${meaning}. ${cause}.` },
    help: {
      text: `Cause: ${cause}. Fix: ${fix}.`,
      markdown: `**Cause**: ${cause}.\n\n**Fix**: ${fix}.`,
    },
  };
}

function resultOf(finding: Diagnostic, ruleIndex: number, run: FindingsBlock): Json {
  const { code, severity, at } = finding;
  const isKnown = at !== undefined && run.pathOf(at.file) !== undefined;
  const region = isKnown ? { startLine: at.line, startColumn: at.column } : { startLine: 1 };
  return {
    ruleId: code,
    ruleIndex,
    level: levels[severity],
    message: { text: withoutLinks(findingText(finding)) },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(fileOfFinding(finding, run)) }, region } }],
  };
}

function uriOf(path: string): string {
  return path
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .split('/')
    .map(encodeURIComponent)
    .join('/');
}

/** Escapes `[text](1)`, which SARIF viewers show as a link. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[(?=[^\]]*\]\()/g, String.raw`\[`);
}
