import type { Document } from 'yaml';
import { renderSplices } from './render-splices.ts';
import { type SourceText, type Splice, applySplices, createRootSite, detectStyle, displayColumn, toSourceText } from './source-text.ts';
import {
  type EditContext,
  type WantedEntry,
  type WantedNode,
  type WantedPair,
  insertPair,
  openNode,
  replaceNodeValue,
  resolveNodes,
  wantedValue,
  writeNode,
} from './wanted-node.ts';
import { type ManifestDocument, parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import type { Checked, Diagnostic, DocumentDiagnostic, SourceFile } from '../../model/diagnostic.ts';
import { type Json, equal } from '../../model/json.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';

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
  if (source.lineEnding === 'mixed') return refuse(edits, 'the file has both CRLF and LF line ends; give all lines the same end');
  for (const literals of [true, false]) {
    const splices = [...plans.values()].flatMap((plan) => createSplices(source, plan, literals));
    if (splices.some(({ loses }) => loses === true)) return refuse(edits, 'a comment between the removed lines would be lost');
    const text = applySplices(source, splices);
    if (readsAsPlanned({ path: file.path, text }, documents, plans)) return { text };
  }
  return refuse(edits, findReason(source, plans));
}

/** Returns why the edited text does not read as planned; an alias is the usual reason. */
function findReason({ text }: SourceText, plans: ReadonlyMap<number, DocumentPlan>): string {
  const [alias] = [...plans.values()].flatMap(({ context }) => [...context.nodes.aliases]);
  if (alias === undefined) return 'the text around it has a form that is not edited';
  return `the alias *${alias.source} on line ${text.slice(0, alias.range[0]).split('\n').length} may use it; write the value in place of the alias`;
}

function planDocument({ text }: SourceText, document: Document.Parsed, edits: readonly DocumentEdit[]): DocumentPlan | DocumentDiagnostic {
  const context: EditContext = { nodes: resolveNodes(document), columnOf: (offset) => displayColumn(text, offset) };
  let wanted: WantedNode = { is: 'kept', site: createRootSite(document) };
  for (const edit of edits) {
    const next = applyEditAt(wanted, tokensOf(edit.path), edit, context);
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

/** One edit of a document at a JSON Pointer from its root; list entries by index. */
export type DocumentEdit =
  /** Sets a value and creates the maps above it. */
  | ({ readonly edit: 'set'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Removes a key or an entry. */
  | { readonly edit: 'remove'; readonly path: Pointer }
  /** Adds an entry to a list that has no equal entry. */
  | ({ readonly edit: 'add'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Removes the entries that equal the value from a list. */
  | { readonly edit: 'drop'; readonly path: Pointer; readonly value: Json };

/** A new key is inserted after the keys that precede it in `order`. `level` counts the tokens of the path up to that key; the default is all. */
type Ordered = { readonly order?: readonly string[]; readonly level?: number };

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

/** Applies an edit at the tokens below a node; returns the same node if it changes nothing. */
function applyEditAt(
  wanted: WantedNode,
  tokens: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  const [token, ...rest] = tokens;
  if (token === undefined) return applyEditHere(wanted, edit, context);
  const open = openNode(wanted, context);
  if (open.is === 'map' || open.is === 'list') {
    const result =
      open.is === 'map' ? applyEditToPair(open, [token, ...rest], edit, context) : applyEditToEntry(open, [token, ...rest], edit, context);
    return result === open ? wanted : result;
  }
  if (edit.edit !== 'set' && edit.edit !== 'add') return wanted;
  if (wantedValue(open, context) !== null) return unsafeEdit(edit, `the value before "${token}" is neither a map nor a list`);
  return applyEditAt(openNode(writeNode({}, open), context), tokens, edit, context);
}

function applyEditHere(wanted: WantedNode, edit: DocumentEdit, context: EditContext): WantedNode | DocumentDiagnostic {
  if (edit.edit === 'set') return replaceNodeValue(wanted, edit.value, context);
  if (edit.edit === 'remove') return unsafeEdit(edit, 'the root of a document cannot be taken away');
  const open = openNode(wanted, context);
  if (open.is === 'list') {
    const isIt = ({ value }: WantedEntry): boolean => equal(wantedValue(value, context), edit.value);
    const has = open.entries.some(isIt);
    if (edit.edit === 'add') return has ? wanted : { ...open, entries: [...open.entries, { value: writeNode(edit.value) }] };
    return has ? { ...open, entries: open.entries.filter((entry) => !isIt(entry)) } : wanted;
  }
  if (open.is === 'map' || wantedValue(open, context) !== null) return unsafeEdit(edit, 'the value there is no list');
  return edit.edit === 'add' ? writeNode([edit.value], wanted) : wanted;
}

type OpenMap = Extract<WantedNode, { readonly is: 'map' }>;
type OpenList = Extract<WantedNode, { readonly is: 'list' }>;

function removePair(map: OpenMap, key: string): WantedNode {
  const pairs = map.pairs.filter((pair) => pair.key !== key);
  return pairs.length === map.pairs.length ? map : { ...map, pairs };
}

function applyEditToPair(
  map: OpenMap,
  [key = '', ...rest]: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  if (rest.length === 0 && edit.edit === 'remove') return removePair(map, key);
  const pair = map.pairs.find((one) => one.key === key);
  if (pair === undefined) {
    if (edit.edit !== 'set' && edit.edit !== 'add') return map;
    const value = applyEditAt(writeNode(null), rest, edit, context);
    if ('code' in value) return value;
    const depth = tokensOf(edit.path).length;
    const isOrdered = (edit.level ?? depth) === depth - rest.length;
    const before = isOrdered ? findPredecessor(map.pairs, key, edit.order) : map.pairs.at(-1)?.key;
    return { ...map, pairs: insertPair(map.pairs, { key, value }, before) };
  }
  const value = applyEditAt(pair.value, rest, edit, context);
  if ('code' in value || value === pair.value) return 'code' in value ? value : map;
  return { ...map, pairs: map.pairs.map((one) => (one === pair ? { ...pair, value } : one)) };
}

/** Returns the last existing key that precedes a new one in `order`; without an order, the last key. */
function findPredecessor(pairs: readonly WantedPair[], key: string, order: readonly string[] = []): string | undefined {
  const place = order.indexOf(key);
  if (place === -1) return pairs.at(-1)?.key;
  return pairs.findLast((pair) => order.includes(pair.key) && order.indexOf(pair.key) < place)?.key;
}

function applyEditToEntry(
  list: OpenList,
  [token = '', ...rest]: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  const entry = list.entries[Number(token)];
  if (entry === undefined) {
    return edit.edit === 'remove' || edit.edit === 'drop' ? list : unsafeEdit(edit, `the list has no entry "${token}"`);
  }
  if (rest.length === 0 && edit.edit === 'remove') return { ...list, entries: list.entries.filter((one) => one !== entry) };
  const value = applyEditAt(entry.value, rest, edit, context);
  if ('code' in value || value === entry.value) return 'code' in value ? value : list;
  return { ...list, entries: list.entries.map((one) => (one === entry ? { ...entry, value } : one)) };
}
