import { sortDiagnostics, type Diagnostic, type Severity } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { escapeTerminal } from './escape.ts';
import { toJsonText } from './serialize.ts';

export type SarifOptions = {
  readonly version: string;
  /** Returns the repository path of a file that diagnostics name; by default the name itself. */
  readonly pathOf?: (file: string) => string | undefined;
  /** The file of findings without a position: code scanning requires one. */
  readonly fallback: string;
};

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = { error: 'error', warning: 'warning', notice: 'note' };

/** The results of one run that code scanning accepts. */
const most = 25_000;

/** Renders diagnostics as SARIF 2.1.0 for code scanning; the same diagnostics give the same bytes. */
export function sarifText(diagnostics: readonly Diagnostic[], options: SarifOptions): string {
  return toJsonText(sarifDocument(diagnostics, options));
}

/** Returns diagnostics as a SARIF 2.1.0 document. */
export function sarifDocument(diagnostics: readonly Diagnostic[], options: SarifOptions): JsonObject {
  const sorted = sortDiagnostics(diagnostics).slice(0, most);
  const codes = [...new Set(sorted.map(({ code }) => code))].toSorted();
  const rules = new Map(codes.map((code, index) => [code, index]));
  const run: Json = {
    tool: {
      driver: {
        name: 'ostiary',
        version: options.version,
        rules: codes.map((code) => ({ id: code, shortDescription: { text: code } })),
      },
    },
    columnKind: 'utf16CodeUnits',
    results: sorted.map((diagnostic) => resultOf(diagnostic, rules.get(diagnostic.code) ?? 0, options)),
  };
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
}

function resultOf({ code, severity, message, hint, at, resource }: Diagnostic, ruleIndex: number, options: SarifOptions): Json {
  const { pathOf = (file) => file, fallback } = options;
  const path = at === undefined ? undefined : pathOf(at.file);
  const region = at === undefined || path === undefined ? { startLine: 1 } : { startLine: at.line, startColumn: at.column };
  const said = [...(resource === undefined || at !== undefined ? [] : [resource]), message, ...(hint === undefined ? [] : [hint])];
  return {
    ruleId: code,
    ruleIndex,
    level: levels[severity],
    message: { text: withoutLinks(said.map(escapeTerminal).join('; ')) },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(path ?? fallback) }, region } }],
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
