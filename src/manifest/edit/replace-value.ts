import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { isObject, type Json } from '../../model/json.ts';
import {
  writeBlockText,
  writeScalar,
  type Quoting,
  writeEntry,
  writeFlow,
  writeMapValue,
  type YamlStyle,
  type ValueText,
} from '../yaml/write-yaml.ts';
import {
  type SourceText,
  displayColumn,
  lastOffset,
  lineBreakBefore,
  lineEnd,
  lineStart,
  nextLineStart,
  type Splice,
  withLayout,
  findSiteEnd,
  isFlow,
  isAbsent,
  listSourceItems,
  type ValueSite,
  insertion,
} from './source-text.ts';

/** Replaces the value at a site. */
export function replaceValue(source: SourceText, site: ValueSite, value: Json, style: YamlStyle): readonly Splice[] {
  const untagged = site.tag === undefined ? [] : [cutWord(source.text, site.tag)];
  const { node } = site;
  if (node !== null && isScalar(node) && isBlockScalar(node) && typeof value === 'string' && style.literals) {
    const splices = replaceBlockScalar(source, site, node, value);
    if (splices !== undefined) return [...untagged, ...splices];
  }
  return [...untagged, ...placeText(source, site, writeValue(source, site, value, style))];
}

/** Cuts a word and the blanks around it. */
function cutWord(text: string, { start, end }: { readonly start: number; readonly end: number }): Splice {
  const blanks = /[ \t]*$/.exec(text.slice(lineStart(text, start), start))?.[0].length ?? 0;
  if (blanks > 0) return { start: start - blanks, end, text: '' };
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0), text: '' };
}

/** Writes the new text: scalars with the previous quotes, maps and lists in the previous layout. */
function writeValue(source: SourceText, site: ValueSite, value: Json, style: YamlStyle): ValueText {
  const { node, inFlow } = site;
  const quoting =
    node !== null && isScalar(node) && !isAbsent(site) && typeof node.value === 'string' ? detectQuoting(node) : style.quoting;
  const isCollection = node !== null && (isMap(node) || isSeq(node)) && node.items.length > 0;
  const layout = isCollection ? (isFlow(node) ? 'flow' : 'block') : undefined;
  const fitting = layout === undefined ? style : withLayout(style, layout);
  if (typeof value !== 'object' || value === null) {
    const spelled = { inFlow, quoting, quote: style.quote } as const;
    if (inFlow || !(typeof value === 'string' && value.includes('\n'))) return { inline: writeScalar(value, spelled), lines: [] };
  }
  if (inFlow || layout === 'flow') return { inline: writeFlow(value, fitting), lines: [] };
  if (site.is === 'value') return writeMapValue(value, site.column, fitting);
  const column = isCompact(source, site) ? displayColumn(source.text, contentStart(site)) - 2 : site.column;
  const [first = '', ...lines] = writeEntry(value, column, 2, fitting);
  const isBlock = typeof value === 'object' && lines.length > 0 && (isObject(value) || Array.isArray(value));
  return isBlock && !isCompact(source, site)
    ? { inline: '', lines: [' '.repeat(column + 2) + first.slice(column + 2), ...lines] }
    : { inline: first.slice(column + 2), lines };
}

/** Returns the quotes of a scalar; other values are plain. */
export function detectQuoting(node: ParsedNode): Quoting {
  const type = isScalar(node) ? node.type : undefined;
  if (type === 'QUOTE_SINGLE') return 'single';
  return type === 'QUOTE_DOUBLE' ? 'double' : 'plain';
}

function isBlockScalar(node: ParsedNode): boolean {
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
}

/** Places the text after the indicator, or instead of the present content. */
function placeText(source: SourceText, site: ValueSite, written: ValueText): readonly Splice[] {
  const { text } = source;
  const after = Math.max(site.after, site.anchor?.end ?? 0);
  const lines = written.lines.map((line) => `\n${line}`).join('');
  const inline = written.inline === '' ? '' : ` ${written.inline}`;
  if (isAbsent(site)) {
    const put = site.lacksColon === true ? `:${inline}` : inline;
    const end = lineEnd(text, after);
    return lines === '' ? [insertion(after, put)] : [insertion(after, put), insertion(end, lines)];
  }
  const start = contentStart(site);
  const end = contentEnd(source, site);
  if (lineStart(text, start) > after) return replaceBelow(source, site, { start, end, after }, { ...written, inline });
  if (isCompact(source, site)) return [{ start, end, text: written.inline + lines }];
  const head = isBlockScalarSite(site) ? start + headerOf(text.slice(start, end)).length : end;
  const line = lineEnd(text, head);
  const own: Splice = { start: written.inline === '' ? after : start, end: head, text: written.inline };
  return lines === '' && line >= end ? [own] : [own, { start: line, end: Math.max(line, end), text: lines }];
}

type Content = { readonly start: number; readonly end: number; readonly after: number };

/** Replaces content on its own lines: the lines of a map or list are cut, a scalar is replaced in place. */
function replaceBelow(
  { text }: SourceText,
  site: ValueSite,
  { start, end, after }: Content,
  { inline, lines }: ValueText,
): readonly Splice[] {
  if (lines.length === 0 && !isBlockCollection(site)) return [{ start, end, text: inline.trimStart() }];
  return [
    insertion(after, inline),
    {
      start: lineBreakBefore(text, lineStart(text, start)),
      end: lineEnd(text, lastOffset(text, end)),
      text: lines.map((line) => `\n${line}`).join(''),
    },
  ];
}

function isBlockScalarSite({ node }: ValueSite): boolean {
  return node !== null && isBlockScalar(node);
}

function isBlockCollection({ node }: ValueSite): boolean {
  return node !== null && (isMap(node) || isSeq(node)) && !isFlow(node);
}

/** Returns whether a map or list begins on the line of the dash before it. */
function isCompact({ text }: SourceText, site: ValueSite): boolean {
  return isBlockCollection(site) && lineStart(text, contentStart(site)) <= site.after;
}

function contentStart(site: ValueSite): number {
  const { node } = site;
  if (node === null) return site.after;
  const first = (isMap(node) || isSeq(node)) && !isFlow(node) ? listSourceItems(node, () => 0)[0]?.start : undefined;
  return first ?? node.range[0];
}

/** Returns the end of the content on its last line. */
function contentEnd({ text }: SourceText, site: ValueSite): number {
  return lastOffset(text, findSiteEnd(site));
}

/** Replaces the text of a block scalar; its header keeps the comment, its lines keep their indentation. */
function replaceBlockScalar({ text }: SourceText, site: ValueSite, node: ParsedNode, value: string): readonly Splice[] | undefined {
  const block = writeBlockText(value);
  if (block === undefined || isAlias(node)) return undefined;
  const [start, end] = node.range;
  const header = headerOf(text.slice(start, end));
  const body = nextLineStart(text, start);
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
