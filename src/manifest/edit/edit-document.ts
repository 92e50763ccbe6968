import type { Document } from 'yaml';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { equal, type Json } from '../../model/json.ts';
import type { SourceFile } from '../../model/source.ts';
import type { ManifestDocument } from '../document.ts';
import { parseDocuments } from '../parse.ts';
import { compose } from '../yaml-compose.ts';
import { changed, type DocumentEdit } from './change.ts';
import { valueOf, type Draft, type Sheet } from './draft.ts';
import { nodesOf } from './nodes.ts';
import { splicesOf } from './render.ts';
import { rootSite } from './site.ts';
import { columnOf, newlineOf, spliced } from './splice.ts';
import { styleOf } from './style.ts';

/** A text after edits, and what could not be edited: everything else is in the text. */
export type Edited = {
  readonly text: string;
  readonly refused: readonly { readonly edit: DocumentEdit; readonly diagnostic: Diagnostic }[];
};

/**
 * Edits one document of a file (`index` counts from 0, empty ones too) and returns the file's text with only the lines
 * changed that had to be. Edits are made in order; what is so already changes nothing. Comments, blank lines, order,
 * quotes, indentation, line ends, anchors and all other documents stay; what is new is written like what stands around it.
 * The result is read again: an edit that would not give exactly the wished values is refused with its place, and the
 * others are made. A text that cannot be read gives its diagnostics and no value.
 */
export function editDocument(file: SourceFile, index: number, edits: readonly DocumentEdit[]): Checked<Edited> {
  const { value: documents, diagnostics } = parseDocuments(file);
  if (documents === undefined) return { diagnostics };
  const all = tried(file, documents, index, edits);
  if ('text' in all) return { value: { text: all.text, refused: [] }, diagnostics: [] };
  let text = file.text;
  const refused: Edited['refused'][number][] = [];
  for (const edit of edits) {
    const now = { path: file.path, text };
    const made = tried(now, parseDocuments(now).value ?? [], index, [edit]);
    if ('text' in made) text = made.text;
    else refused.push({ edit, diagnostic: refusal(file, documents, index, { edit, why: made.refused }) });
  }
  return { value: { text, refused }, diagnostics: refused.map(({ diagnostic }) => diagnostic) };
}

type Tried = { readonly text: string } | { readonly refused: string };

/** The text after all of the edits, if they can be made together; in quotes what cannot stand there as a block. */
function tried(file: SourceFile, documents: readonly ManifestDocument[], index: number, edits: readonly DocumentEdit[]): Tried {
  const document = documentAt(file.text, index);
  if (document === undefined) return { refused: `the file has no document ${index + 1}` };
  const page = { text: file.text, newline: newlineOf(file.text) };
  const sheet: Sheet = { nodes: nodesOf(document), columnOf: (offset) => columnOf(file.text, offset) };
  const before: Draft = { is: 'kept', site: rootSite(document) };
  let draft: Draft = before;
  for (const edit of edits) {
    const next = changed(draft, edit, sheet);
    if ('refused' in next) return next;
    draft = next;
  }
  if (draft === before) return { text: file.text };
  const style = styleOf(document, file.text, sheet.columnOf);
  const wished = valueOf(draft, sheet);
  for (const literals of [true, false]) {
    const splices = splicesOf(draft, page, sheet, { ...style, literals });
    if (splices.some(({ loses }) => loses === true)) return { refused: 'a comment between what goes would go along' };
    const text = spliced(file.text, splices);
    if (says({ path: file.path, text }, documents, { index, wished })) return { text };
  }
  return { refused: 'the text around it has a form that is not edited' };
}

function documentAt(text: string, index: number): Document.Parsed | undefined {
  const composed = compose(text, { keepTokens: true });
  return 'stopped' in composed ? undefined : composed.documents[index];
}

/** Tells whether a text has the documents it had, but for the one that has the wished value. */
function says(file: SourceFile, documents: readonly ManifestDocument[], { index, wished }: { index: number; wished: Json }): boolean {
  const { value } = parseDocuments(file);
  if (value === undefined || value.length !== documents.length) return false;
  return documents.every((document, at) => {
    const found = value[at];
    return found?.index === document.index && equal(found.value, document.index === index ? wished : document.value);
  });
}

type Refused = { readonly edit: DocumentEdit; readonly why: string };

function refusal({ path }: SourceFile, documents: readonly ManifestDocument[], index: number, { edit, why }: Refused): Diagnostic {
  const document = documents.find((one) => one.index === index);
  const at = document?.locate(edit.path, 'key') ?? { file: path, line: 1, column: 1 };
  const what = edit.path === '' ? 'the document' : edit.path;
  return {
    code: 'edit/unsafe',
    severity: 'error',
    message: `${what} is not edited: ${why}`,
    hint: 'change the file by hand',
    at,
  };
}
