import type { JsonObject } from '../model/json.ts';
import type { LinkOf } from './links.ts';
import type { ReportDocument } from './document.ts';
import { jsonPieces, toJsonText } from './serialize.ts';
import { plainPalette, type Terminal } from './wrap.ts';

/** A subject that a command can report; a workflow reports a `run`. */
export type ReportSubject = 'plan' | 'apply' | 'drift' | 'pull' | 'test' | 'explain' | 'validate' | 'run';

export type FormatName = 'text' | 'json' | 'markdown' | 'html' | 'junit' | 'sarif' | 'codequality' | 'annotations';

/** The colors and the width of text, by default none; the links of Markdown and pages, and the longest Markdown in characters. */
export type RenderOptions = {
  readonly terminal?: Terminal | undefined;
  readonly linkOf?: LinkOf | undefined;
  readonly limit?: number | undefined;
};

type ReportFormat = {
  readonly name: FormatName;
  readonly subjects: readonly ReportSubject[];
  /** The format is written to files with `--report`, and never printed. */
  readonly fileOnly?: true;
} & (
  | { readonly load: () => Promise<(document: ReportDocument, options: RenderOptions) => string> }
  /** The format is a JSON document; those of several targets are merged. */
  | { readonly loadJson: () => Promise<(document: ReportDocument) => JsonObject> }
);

const allSubjects: readonly ReportSubject[] = ['plan', 'apply', 'drift', 'pull', 'test', 'explain', 'validate'];

async function loadText(): Promise<(document: ReportDocument, options: RenderOptions) => string> {
  const { renderReportText } = await import('./text/text.ts');
  return (document, { terminal = { color: plainPalette, full: true } }) => renderReportText(document, terminal);
}

/** Every format. A renderer is loaded when a run asks for it. To add a format, write its renderer, and add its name and a line here. */
const formats: readonly ReportFormat[] = [
  { name: 'text', subjects: allSubjects, load: loadText },
  { name: 'json', subjects: allSubjects, loadJson: () => Promise.resolve(({ json }) => json()) },
  {
    name: 'markdown',
    subjects: ['plan', 'apply', 'drift', 'validate'],
    load: async () => (await import('./markdown/markdown.ts')).renderMarkdown,
  },
  { name: 'html', subjects: ['plan', 'drift'], fileOnly: true, load: async () => (await import('./html/page.ts')).renderHtml },
  { name: 'junit', subjects: ['test', 'validate'], load: async () => (await import('./junit.ts')).renderJunit },
  { name: 'codequality', subjects: ['validate'], load: async () => (await import('./code-quality.ts')).renderCodeQuality },
  { name: 'sarif', subjects: ['validate', 'run'], loadJson: async () => (await import('./sarif.ts')).sarifDocument },
  { name: 'annotations', subjects: ['run'], load: async () => (await import('./annotations.ts')).renderAnnotations },
];

/** Renders a document; text has no colors and all lists whole unless `terminal` says otherwise. Throws for an unknown format. */
export async function renderReport(document: ReportDocument, format: FormatName, options: RenderOptions = {}): Promise<string> {
  const found = formatNamed(format);
  return 'loadJson' in found ? toJsonText((await found.loadJson())(document)) : (await found.load())(document, options);
}

/** Renders a document like `renderReport`, in pieces: a JSON document may be longer than the longest string. */
export async function renderReportPieces(document: ReportDocument, format: FormatName, options: RenderOptions): Promise<Iterable<string>> {
  const found = formatNamed(format);
  return 'loadJson' in found ? jsonPieces((await found.loadJson())(document)) : [await renderReport(document, format, options)];
}

/** Renders a document as a JSON document; undefined if the format is another text. */
export async function renderJsonDocument(document: ReportDocument, format: FormatName): Promise<JsonObject | undefined> {
  const found = formatNamed(format);
  return 'loadJson' in found ? (await found.loadJson())(document) : undefined;
}

/** Loads the renderer of a format, so that a later report does not wait for it. */
export async function preloadFormat(format: FormatName): Promise<void> {
  const found = formatNamed(format);
  await ('loadJson' in found ? found.loadJson() : found.load());
}

/** Returns whether a format is a JSON document. */
export function isJsonFormat(format: string): boolean {
  return formats.some((one) => one.name === format && 'loadJson' in one);
}

function formatNamed(format: FormatName): ReportFormat {
  const found = formats.find(({ name }) => name === format);
  if (found === undefined) throw new Error(`unknown format ${format}`);
  return found;
}

/** Returns the formats of a subject: those that can be printed, or all that can be written to a file. */
export function formatsFor(subject: ReportSubject, use: 'print' | 'file'): readonly FormatName[] {
  return formats
    .filter(({ subjects, fileOnly }) => subjects.includes(subject) && (use === 'file' || fileOnly !== true))
    .map(({ name }) => name);
}
