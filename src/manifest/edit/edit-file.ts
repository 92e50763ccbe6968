import type { Document } from 'yaml';
import type { Checked, Diagnostic, DocumentDiagnostic, SourceFile } from '../../model/diagnostic.ts';
import { equal, type Json } from '../../model/json.ts';
import { type ManifestDocument, parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import { applyEdit, type DocumentEdit, unsafeEdit } from './apply-edit.ts';
import { wantedValue, type WantedNode, type EditContext, resolveNodes } from './wanted-node.ts';
import { toSourceText, applySplices, type SourceText, displayColumn, type Splice, detectStyle } from './source-text.ts';
import { renderSplices } from './render-splices.ts';
import { createRootSite } from './value-site.ts';

/** An edit of one document of a file. `index` counts documents from 0, empty ones included, like `ManifestDocument`. */
type FileEdit = { readonly index: number; readonly edit: DocumentEdit };

/** A text after edits, and the edits that were refused. */
export type EditResult<T extends FileEdit = FileEdit> = {
  readonly text: string;
  readonly refused: readonly { readonly edit: T; readonly diagnostic: Diagnostic }[];
};

/**
 * Edits documents of a file and returns its text; only the necessary lines change. The edits of a document are made in
 * order, and an edit without effect changes nothing. Comments, blank lines, order, quotes, indentation, line endings,
 * anchors and all other documents stay; new text follows the style around it. The result is read again: an edit that would
 * not give exactly the wanted values is refused with its position, and the others are made. A text that cannot be parsed
 * returns its diagnostics and no value.
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

/** The wanted state of one document. */
type DocumentPlan = {
  readonly document: Document.Parsed;
  readonly wanted: WantedNode;
  readonly context: EditContext;
  readonly value: Json;
};

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
    if (plan.wanted.is !== 'kept') plans.set(index, plan);
  }
  if (plans.size === 0) return { text: file.text };
  for (const literals of [true, false]) {
    const splices = [...plans.values()].flatMap((plan) => createSplices(source, plan, literals));
    if (splices.some(({ loses }) => loses === true)) return refuse(edits, 'a comment between the removed lines would be lost');
    const text = applySplices(source, splices);
    if (readsAsPlanned({ path: file.path, text }, documents, plans)) return { text };
  }
  return refuse(edits, 'the text around it has a form that is not edited');
}

function planDocument({ text }: SourceText, document: Document.Parsed, edits: readonly DocumentEdit[]): DocumentPlan | DocumentDiagnostic {
  const context: EditContext = { nodes: resolveNodes(document), columnOf: (offset) => displayColumn(text, offset) };
  let wanted: WantedNode = { is: 'kept', site: createRootSite(document) };
  for (const edit of edits) {
    const next = applyEdit(wanted, edit, context);
    if ('code' in next) return next;
    wanted = next;
  }
  return { document, wanted, context, value: wantedValue(wanted, context) };
}

function createSplices(source: SourceText, { document, wanted, context }: DocumentPlan, literals: boolean): readonly Splice[] {
  const style = { ...detectStyle(document, source.text, context.columnOf), literals };
  return renderSplices(wanted, source, context, style);
}

/** Returns whether a text reads as planned: the planned documents have their wanted values, all others are unchanged. */
function readsAsPlanned(file: SourceFile, documents: readonly ManifestDocument[], plans: ReadonlyMap<number, DocumentPlan>): boolean {
  const { value } = parseDocuments(file);
  if (value === undefined || value.length !== documents.length) return false;
  return documents.every((document, at) => {
    const found = value[at];
    const plan = plans.get(document.index);
    return found?.index === document.index && equal(found.value, plan === undefined ? document.value : plan.value);
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
