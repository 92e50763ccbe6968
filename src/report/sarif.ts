import { sortDiagnostics, type Diagnostic, type Severity } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { escapeJson, escapeTerminal } from './escape.ts';

export type SarifOptions = {
  readonly version: string;
  /** The path in the repository of a file as diagnostics name it; without one the name itself. */
  readonly pathOf?: (file: string) => string | undefined;
  /** Where a finding without a place is shown: code scanning takes none without. */
  readonly fallback: string;
};

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = { error: 'error', warning: 'warning', notice: 'note' };

/** Code scanning takes no more results of one run. */
const most = 25_000;

/** Diagnostics as SARIF 2.1.0, for code scanning; the same bytes for the same diagnostics. */
export function sarifText(diagnostics: readonly Diagnostic[], options: SarifOptions): string {
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
  const document = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${escapeJson(JSON.stringify(document, null, 2))}\n`;
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

/** In a message `[text](1)` would be a link to a place of the document. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[(?=[^\]]*\]\()/g, String.raw`\[`);
}
