import type { ReportDocument } from './document.ts';
import type { Terminal } from './text/wrap.ts';

/** What a command can report. */
export type ReportSubject = 'plan' | 'apply' | 'drift' | 'pull' | 'test' | 'explain';

export type FormatName = 'text' | 'json' | 'markdown' | 'html' | 'junit';

type ReportFormat = {
  readonly name: FormatName;
  readonly subjects: readonly ReportSubject[];
  /** The format is written to files with `--report`, and never printed. */
  readonly fileOnly?: true;
  readonly load: () => Promise<(document: ReportDocument, terminal: Terminal) => string>;
};

const allSubjects: readonly ReportSubject[] = ['plan', 'apply', 'drift', 'pull', 'test', 'explain'];

/** Every format. A renderer is loaded when a run asks for it. To add a format, write its renderer, and add its name and a line here. */
const formats: readonly ReportFormat[] = [
  { name: 'text', subjects: allSubjects, load: async () => (await import('./text/text.ts')).renderReportText },
  { name: 'json', subjects: allSubjects, load: async () => (await import('./serialize.ts')).renderJson },
  { name: 'markdown', subjects: ['plan', 'apply', 'drift'], load: async () => (await import('./markdown/markdown.ts')).renderFullMarkdown },
  { name: 'html', subjects: ['plan', 'apply'], fileOnly: true, load: async () => (await import('./html/page.ts')).renderHtmlPage },
  { name: 'junit', subjects: ['test'], load: async () => (await import('./junit.ts')).renderJunit },
];

/** Renders a document; `terminal` has the colors and the width of text. */
export async function renderReport(document: ReportDocument, format: FormatName, terminal: Terminal): Promise<string> {
  const render = await formats.find(({ name }) => name === format)?.load();
  if (render === undefined) throw new Error(`unknown format ${format}`);
  return render(document, terminal);
}

/** Returns the formats of a subject: those that can be printed, or all that can be written to a file. */
export function formatsFor(subject: ReportSubject, use: 'print' | 'file'): readonly FormatName[] {
  return formats
    .filter(({ subjects, fileOnly }) => subjects.includes(subject) && (use === 'file' || fileOnly !== true))
    .map(({ name }) => name);
}
