import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { isObject, type Json } from '../../model/json.ts';
import {
  blockText,
  scalarText,
  type Quoting,
  entryLines,
  flowText,
  mapValueText,
  type TextStyle,
  type ValueText,
} from '../yaml/write-yaml.ts';
import { type Page, columnOf, lastOf, lineBreakBefore, lineEnd, lineStart, nextLine, type Splice } from './source-text.ts';
import { endOfSite, isFlow, isVoid, partsOf, type Site } from './value-site.ts';
import { laidOut } from './document-style.ts';

/** Writes a value in the place of what stands there. */
export function replaced(page: Page, site: Site, value: Json, style: TextStyle, anchor?: string): readonly Splice[] {
  const name = anchor === undefined ? '' : `&${anchor} `;
  const untagged = site.tag === undefined ? [] : [cutWord(page.text, site.tag)];
  const { node } = site;
  if (node !== null && isScalar(node) && isBlockScalar(node) && typeof value === 'string' && name === '' && style.literals) {
    const splices = blockReplaced(page, site, node, value);
    if (splices !== undefined) return [...untagged, ...splices];
  }
  const written = valueText(page, site, value, style);
  return [...untagged, ...placedText(page, site, { ...written, inline: (name + written.inline).trimEnd() })];
}

/** Cuts a word and the blanks that set it off. */
export function cutWord(text: string, { start, end }: { readonly start: number; readonly end: number }): Splice {
  const blanks = /[ \t]*$/.exec(text.slice(lineStart(text, start), start))?.[0].length ?? 0;
  if (blanks > 0) return { start: start - blanks, end, text: '' };
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0), text: '' };
}

/** The new text: scalars as the one before was spelled, maps and lists laid out as that was. */
function valueText(page: Page, site: Site, value: Json, style: TextStyle): ValueText {
  const { node, inFlow } = site;
  const quoting = node !== null && isScalar(node) && !isVoid(site) && typeof node.value === 'string' ? quotingOf(node) : style.quoting;
  const isCollection = node !== null && (isMap(node) || isSeq(node)) && node.items.length > 0;
  const layout = isCollection ? (isFlow(node) ? 'flow' : 'block') : undefined;
  const fitting = layout === undefined ? style : laidOut(style, layout);
  if (typeof value !== 'object' || value === null) {
    const spelled = { inFlow, quoting, quote: style.quote } as const;
    if (inFlow || !(typeof value === 'string' && value.includes('\n'))) return { inline: scalarText(value, spelled), lines: [] };
  }
  if (inFlow || layout === 'flow') return { inline: flowText(value, fitting), lines: [] };
  if (site.is === 'value') return mapValueText(value, site.column, fitting);
  const column = isCompact(page, site) ? columnOf(page.text, contentStart(site)) - 2 : site.column;
  const [first = '', ...lines] = entryLines(value, column, 2, fitting);
  const isBlock = typeof value === 'object' && lines.length > 0 && (isObject(value) || Array.isArray(value));
  return isBlock && !isCompact(page, site)
    ? { inline: '', lines: [' '.repeat(column + 2) + first.slice(column + 2), ...lines] }
    : { inline: first.slice(column + 2), lines };
}

/** How a scalar is spelled; other values are plain. */
export function quotingOf(node: ParsedNode): Quoting {
  const type = isScalar(node) ? node.type : undefined;
  if (type === 'QUOTE_SINGLE') return 'single';
  return type === 'QUOTE_DOUBLE' ? 'double' : 'plain';
}

function isBlockScalar(node: ParsedNode): boolean {
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
}

/** Puts the text behind the indicator, or where the content is, whose lines go. */
function placedText(page: Page, site: Site, written: ValueText): readonly Splice[] {
  const { text } = page;
  const after = Math.max(site.after, site.anchor?.end ?? 0);
  const lines = written.lines.map((line) => `\n${line}`).join('');
  const inline = written.inline === '' ? '' : ` ${written.inline}`;
  if (isVoid(site)) {
    const put = site.lacksColon === true ? `:${inline}` : inline;
    const end = lineEnd(text, after);
    return lines === '' ? [at(after, put)] : [at(after, put), at(end, lines)];
  }
  const start = contentStart(site);
  const end = contentEnd(page, site);
  if (lineStart(text, start) > after) return belowReplaced(page, site, { start, end, after }, { ...written, inline });
  if (isCompact(page, site)) return [{ start, end, text: written.inline + lines }];
  const head = isBlockScalarSite(site) ? start + headerOf(text.slice(start, end)).length : end;
  const line = lineEnd(text, head);
  return [
    { start: written.inline === '' ? after : start, end: head, text: written.inline },
    { start: line, end: Math.max(line, end), text: lines },
  ];
}

type Content = { readonly start: number; readonly end: number; readonly after: number };

/** The content stands on lines of its own: those of a map or a list go, a scalar stays where it is. */
function belowReplaced({ text }: Page, site: Site, { start, end, after }: Content, { inline, lines }: ValueText): readonly Splice[] {
  if (lines.length === 0 && !isBlockCollection(site)) return [{ start, end, text: inline.trimStart() }];
  return [
    at(after, inline),
    {
      start: lineBreakBefore(text, lineStart(text, start)),
      end: lineEnd(text, lastOf(text, end)),
      text: lines.map((line) => `\n${line}`).join(''),
    },
  ];
}

function isBlockScalarSite({ node }: Site): boolean {
  return node !== null && isBlockScalar(node);
}

function isBlockCollection({ node }: Site): boolean {
  return node !== null && (isMap(node) || isSeq(node)) && !isFlow(node);
}

/** A map or list that begins on the line of the dash that it follows. */
function isCompact({ text }: Page, site: Site): boolean {
  return isBlockCollection(site) && lineStart(text, contentStart(site)) <= site.after;
}

function contentStart(site: Site): number {
  const { node } = site;
  if (node === null) return site.after;
  const first = (isMap(node) || isSeq(node)) && !isFlow(node) ? partsOf(node, () => 0)[0]?.start : undefined;
  return first ?? node.range[0];
}

/** The end of the content, on its last line. */
function contentEnd({ text }: Page, site: Site): number {
  return lastOf(text, endOfSite(site));
}

/** Another text in blocks: the header keeps its comment, the lines their indentation. */
function blockReplaced({ text }: Page, site: Site, node: ParsedNode, value: string): readonly Splice[] | undefined {
  const block = blockText(value);
  if (block === undefined || isAlias(node)) return undefined;
  const [start, end] = node.range;
  const header = headerOf(text.slice(start, end));
  const body = nextLine(text, start);
  const column = /^[ ]*(?=[^ \n])/m.exec(text.slice(body, end))?.[0].length ?? site.column + 2;
  const isFolded = header.startsWith('>') && block.lines.length === 1;
  const lines = block.lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line)).join('\n');
  const isOpen = text[end - 1] !== '\n';
  return [
    { start, end: start + header.length, text: isFolded ? block.header.replace('|', '>') : block.header },
    { start: Math.min(body, end), end, text: isOpen ? lines : `${lines}\n` },
  ];
}

function headerOf(text: string): string {
  return /^[|>][-+\d]*/.exec(text)?.[0] ?? '';
}

function at(offset: number, text: string): Splice {
  return { start: offset, end: offset, text };
}
