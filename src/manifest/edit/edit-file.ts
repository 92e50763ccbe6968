import type { Document } from 'yaml';
import { applyEdit, type DocumentEdit, type Origins } from './apply-edit.ts';
import { resolveNodes, type SpliceContext, spliceValue } from './splice-value.ts';
import { type SourceText, applySplices, createRootSite, detectStyle, toSourceText } from './source-text.ts';
import { type ManifestDocument, parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import type { Checked, Diagnostic, DocumentDiagnostic, SourceFile } from '../../model/diagnostic.ts';
import { type Json, equal } from '../../model/json.ts';

/** An edit of one document of a file. `index` counts documents from 0, empty ones included, like `ManifestDocument`. */
type FileEdit = { readonly index: number; readonly edit: DocumentEdit };

/** A text after edits, and the edits that were refused. */
export type EditResult<T extends FileEdit = FileEdit> = {
  readonly text: string;
  readonly refused: readonly { readonly edit: T; readonly diagnostic: Diagnostic }[];
};

/**
 * Edits documents of a file and returns its text; only the necessary lines change. The edits of a document are made in
 * order, and an edit without effect changes nothing. Comments, blank lines, order, quotes, indentation and all other documents
 * stay; new text follows the style around it. The result is read again: an edit that would not give exactly the wanted values,
 * for example because an alias repeats one of them, is refused with its position, and the others are made. A text that cannot be
 * parsed returns its diagnostics and no value.
 */
export function editFile<T extends FileEdit>(file: SourceFile, edits: readonly T[]): Checked<EditResult<T>> {
  const { value: documents, diagnostics } = parseDocuments(file);
  if (documents === undefined) return { diagnostics };
  const all = tryEdits(file, documents, edits);
  if ('text' in all) return { value: { text: all.text, refused: [] }, diagnostics: [] };
  let text = file.text;
  const refused: EditResult<T>['refused'][number][] = [];
  for (const group of [...new Set(edits.map(({ index }) => index))].map((index) => edits.filter((one) => one.index === index))) {
    const together = tryEditsAgain(file.path, text, group);
    if ('text' in together) text = together.text;
    else {
      for (const edit of group) {
        const made = group.length === 1 ? together : tryEditsAgain(file.path, text, [edit]);
        if ('text' in made) text = made.text;
        else refused.push({ edit, diagnostic: addPosition(made, file.path, documents, edit) });
      }
    }
  }
  return { value: { text, refused }, diagnostics: refused.map(({ diagnostic }) => diagnostic) };
}

type EditAttempt = { readonly text: string } | DocumentDiagnostic;

function tryEditsAgain(path: string, text: string, edits: readonly FileEdit[]): EditAttempt {
  return tryEdits({ path, text }, parseDocuments({ path, text }).value ?? [], edits);
}

type DocumentPlan = { readonly document: Document.Parsed; readonly wanted: Json; readonly context: SpliceContext };

/** Returns the text after all edits, or why they cannot be made together. Strings that cannot be block scalars are quoted. */
function tryEdits(file: SourceFile, documents: readonly ManifestDocument[], edits: readonly FileEdit[]): EditAttempt {
  const source = toSourceText(file.text);
  const composed = compose(source.text, { keepTokens: true });
  const plans = new Map<number, DocumentPlan>();
  for (const index of new Set(edits.map((one) => one.index))) {
    const document = 'stopped' in composed ? undefined : composed.documents[index];
    if (document === undefined) return refuse(edits, `the file has no document ${index + 1}`);
    const own = edits.flatMap((one) => (one.index === index ? [one.edit] : []));
    const plan = planDocument(source, document, own);
    if ('code' in plan) return plan;
    if (!equal(plan.wanted, plan.context.values.valueOf(document.contents))) plans.set(index, plan);
  }
  if (plans.size === 0) return { text: file.text };
  if (source.lineEnding === 'mixed') return refuse(edits, 'the file has both CRLF and LF line ends; give all lines the same end');
  for (const literals of [true, false]) {
    const splices = [...plans.values()].flatMap(({ document: one, wanted, context }) =>
      spliceValue(createRootSite(one), wanted, { ...context, style: { ...context.style, literals } }),
    );
    if (splices.some(({ loses }) => loses === true)) return refuse(edits, 'a comment between the removed lines would be lost');
    const text = applySplices(source, splices);
    if (readsAsPlanned({ path: file.path, text }, documents, plans)) return { text };
  }
  return refuse(edits, findReason(source, plans));
}

/** Returns why the edited text does not read as planned; an alias is the usual reason. */
function findReason({ text }: SourceText, plans: ReadonlyMap<number, DocumentPlan>): string {
  const [alias] = [...plans.values()].flatMap(({ context }) => [...context.values.aliases]);
  if (alias === undefined) return 'the text around it has a form that is not edited';
  return `the alias *${alias.source} on line ${text.slice(0, alias.range[0]).split('\n').length} may use it; write the value in place of the alias`;
}

function planDocument(source: SourceText, document: Document.Parsed, edits: readonly DocumentEdit[]): DocumentPlan | DocumentDiagnostic {
  const values = resolveNodes(document);
  const origins: Origins = new Map();
  let wanted = values.valueOf(document.contents);
  for (const edit of edits) {
    const edited = applyEdit(wanted, edit, origins);
    if ('reason' in edited) return unsafeEdit(edit, edited.reason);
    wanted = edited.value;
  }
  return { document, wanted, context: { source, values, origins, style: detectStyle(document, source.text) } };
}

/** Returns whether a text reads as planned: the planned documents have their wanted values, all others are unchanged. */
function readsAsPlanned(file: SourceFile, documents: readonly ManifestDocument[], plans: ReadonlyMap<number, DocumentPlan>): boolean {
  const { value } = parseDocuments(file);
  if (value === undefined || value.length !== documents.length) return false;
  return documents.every((document, at) => {
    const found = value[at];
    const plan = plans.get(document.index);
    return found?.index === document.index && equal(found.value, plan === undefined ? document.value : plan.wanted);
  });
}

/** Creates the diagnostic of edits that cannot be made together; it points to the first one. */
function refuse(edits: readonly FileEdit[], reason: string): DocumentDiagnostic {
  return unsafeEdit(edits[0]?.edit ?? { edit: 'remove', path: '' }, reason);
}

function addPosition(
  diagnostic: DocumentDiagnostic,
  path: string,
  documents: readonly ManifestDocument[],
  { index, edit }: FileEdit,
): Diagnostic {
  const document = documents.find((one) => one.index === index);
  return { ...diagnostic, at: document?.locate(edit.path, 'key') ?? { file: path, line: 1, column: 1 } };
}

/** Creates the diagnostic of an edit that cannot be made; it has no position yet. */
function unsafeEdit({ path }: DocumentEdit, reason: string): DocumentDiagnostic {
  const place = path === '' ? 'the document' : path;
  return {
    code: 'edit/unsafe',
    severity: 'error',
    message: `${place} is not edited: ${reason}`,
    hint: 'edit the file',
    pointer: path,
    part: 'key',
  };
}
