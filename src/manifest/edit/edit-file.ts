import type { Document } from 'yaml';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { equal, type Json } from '../../model/json.ts';
import type { SourceFile } from '../../model/source.ts';
import { type ManifestDocument, parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import { changed, type DocumentEdit, type Refusal } from './apply-edit.ts';
import { valueOf, type Draft, type Sheet, nodesOf } from './wanted-node.ts';
import { pageOf, spliced, type Page, columnOf, type Splice } from './source-text.ts';
import { splicesOf } from './render-splices.ts';
import { rootSite } from './value-site.ts';
import { styleOf } from './document-style.ts';

/** An edit of one document of a file; `index` counts documents from 0, empty ones too, as `ManifestDocument` does. */
export type FileEdit = { readonly index: number; readonly edit: DocumentEdit };

/** A text after edits, and what could not be edited: everything else is in the text. */
export type Edited<T extends FileEdit = FileEdit> = {
  readonly text: string;
  readonly refused: readonly { readonly edit: T; readonly diagnostic: Diagnostic }[];
};

/**
 * Edits documents of a file and returns its text with only the lines changed that had to be. The edits of a document are
 * made in order; what is so already changes nothing. Comments, blank lines, order, quotes, indentation, line ends, anchors
 * and all other documents stay; what is new is written like what stands around it. The result is read again: an edit
 * that would not give exactly the wished values is refused with its place, and the others are made. A text that cannot be
 * read gives its diagnostics and no value.
 */
export function editFile<T extends FileEdit>(file: SourceFile, edits: readonly T[]): Checked<Edited<T>> {
  const { value: documents, diagnostics } = parseDocuments(file);
  if (documents === undefined) return { diagnostics };
  const all = tried(file, documents, edits);
  if ('text' in all) return { value: { text: all.text, refused: [] }, diagnostics: [] };
  let text = file.text;
  const refused: Edited<T>['refused'][number][] = [];
  for (const group of [...new Set(edits.map(({ index }) => index))].map((index) => edits.filter((one) => one.index === index))) {
    const together = again(file.path, text, group);
    if ('text' in together) text = together.text;
    else {
      for (const edit of group) {
        const made = group.length === 1 ? together : again(file.path, text, [edit]);
        if ('text' in made) text = made.text;
        else refused.push({ edit, diagnostic: refusal(file.path, documents, edit, made.refused) });
      }
    }
  }
  return { value: { text, refused }, diagnostics: refused.map(({ diagnostic }) => diagnostic) };
}

type Tried = { readonly text: string } | Refusal;

function again(path: string, text: string, edits: readonly FileEdit[]): Tried {
  return tried({ path, text }, parseDocuments({ path, text }).value ?? [], edits);
}

/** What one document is to become. */
type Plan = { readonly document: Document.Parsed; readonly draft: Draft; readonly sheet: Sheet; readonly wished: Json };

/** The text after all of the edits, if they can be made together; in quotes what cannot stand there as a block. */
function tried(file: SourceFile, documents: readonly ManifestDocument[], edits: readonly FileEdit[]): Tried {
  const page = pageOf(file.text);
  const composed = compose(page.text, { keepTokens: true });
  const plans = new Map<number, Plan>();
  for (const index of new Set(edits.map((one) => one.index))) {
    const document = 'stopped' in composed ? undefined : composed.documents[index];
    if (document === undefined) return { refused: `the file has no document ${index + 1}` };
    const own = edits.flatMap((one) => (one.index === index ? [one.edit] : []));
    const plan = planned(page, document, own);
    if ('refused' in plan) return plan;
    if (plan.draft.is !== 'kept') plans.set(index, plan);
  }
  if (plans.size === 0) return { text: file.text };
  for (const literals of [true, false]) {
    const splices = [...plans.values()].flatMap((plan) => splicesFor(page, plan, literals));
    if (splices.some(({ loses }) => loses === true)) return { refused: 'a comment between what goes would go along' };
    const text = spliced(page, splices);
    if (says({ path: file.path, text }, documents, plans)) return { text };
  }
  return { refused: 'the text around it has a form that is not edited' };
}

function planned({ text }: Page, document: Document.Parsed, edits: readonly DocumentEdit[]): Plan | Refusal {
  const sheet: Sheet = { nodes: nodesOf(document), columnOf: (offset) => columnOf(text, offset) };
  let draft: Draft = { is: 'kept', site: rootSite(document) };
  for (const edit of edits) {
    const next = changed(draft, edit, sheet);
    if ('refused' in next) return next;
    draft = next;
  }
  return { document, draft, sheet, wished: valueOf(draft, sheet) };
}

function splicesFor(page: Page, { document, draft, sheet }: Plan, literals: boolean): readonly Splice[] {
  const style = { ...styleOf(document, page.text, sheet.columnOf), literals };
  return splicesOf(draft, page, sheet, style);
}

/** Tells whether a text has the documents it had, but for those that have their wished values. */
function says(file: SourceFile, documents: readonly ManifestDocument[], plans: ReadonlyMap<number, Plan>): boolean {
  const { value } = parseDocuments(file);
  if (value === undefined || value.length !== documents.length) return false;
  return documents.every((document, at) => {
    const found = value[at];
    const plan = plans.get(document.index);
    return found?.index === document.index && equal(found.value, plan === undefined ? document.value : plan.wished);
  });
}

function refusal(path: string, documents: readonly ManifestDocument[], { index, edit }: FileEdit, why: string): Diagnostic {
  const document = documents.find((one) => one.index === index);
  const at = document?.locate(edit.path, 'key') ?? { file: path, line: 1, column: 1 };
  const what = edit.path === '' ? 'the document' : edit.path;
  return { code: 'edit/unsafe', severity: 'error', message: `${what} is not edited: ${why}`, hint: 'change the file by hand', at };
}
