import {
  insertion,
  lineBreakBefore,
  type SourceItem,
  type SourceText,
  type Splice,
  aboveComments,
  displayColumn,
  endWithComments,
  isAloneOnLine,
  lineStart,
  splicePart,
} from './source-text.ts';

/** An item of the wanted map or list: one of the text with the splices inside it, or a new one with its text. */
export type WantedItem = { readonly part: SourceItem; readonly splices: readonly Splice[] } | { readonly text: string };

/** An item of the text that stays or is removed, or the text of a new item. */
type Row = WantedItem | { readonly removed: SourceItem };

/** Lists the items of the text and the new ones; a new item follows the removed items before the next one that stays. */
function listRows(parts: readonly SourceItem[], wanted: readonly WantedItem[]): readonly Row[] {
  const rows: Row[] = [];
  const kept = new Set(wanted.flatMap((item) => ('part' in item ? item.part : [])));
  let at = 0;
  for (const item of [...wanted, undefined]) {
    for (let part = parts[at]; part !== undefined && !kept.has(part); part = parts[at]) {
      rows.push({ removed: part });
      at += 1;
    }
    if (item !== undefined) rows.push(item);
    if (item !== undefined && 'part' in item) at += 1;
  }
  return rows;
}

/**
 * Writes the items of a block map or list again, each with the lines above it and the deeper comments below it. What is above a
 * removed item stays. The texts of new items are lines with their indentation.
 */
export function writeBlockItems({ text }: SourceText, parts: readonly SourceItem[], wanted: readonly WantedItem[]): Splice {
  const [first] = parts;
  if (first === undefined) return insertion(0, '');
  const isCompact = !isAloneOnLine(text, first);
  const start = isCompact ? first.start : aboveComments(text, lineStart(text, first.start));
  const places = new Map<SourceItem, { readonly above: string; readonly from: number; readonly to: number }>();
  let end = start;
  for (const part of parts) {
    const after = text[end] === '\n' && end > start && text[end - 1] !== '\n' ? end + 1 : end;
    const from = Math.max(after, lineStart(text, part.start));
    end = endWithComments(text, part);
    places.set(part, { above: text.slice(after, from), from, to: end });
  }
  const indent = isCompact ? ' '.repeat(displayColumn(text, first.start)) : '';
  const rows = listRows(parts, wanted).map((row) => {
    if ('text' in row) return `${row.text}\n`;
    const part = 'part' in row ? row.part : row.removed;
    const { above, from, to } = places.get(part) ?? { above: '', from: part.start, to: part.end };
    if ('removed' in row) return above;
    return `${above}${part === first ? indent : ''}${splicePart(text, [from, to], row.splices).replace(/\n$/, '')}\n`;
  });
  const all = isCompact ? rows.join('').trimStart() : rows.join('');
  const isClosed = text[end - 1] === '\n';
  return { start: all === '' && !isClosed ? lineBreakBefore(text, start) : start, end, text: isClosed ? all : all.replace(/\n$/, '') };
}

/** An item in braces or brackets with the text before it, before its comma, and after that on its line; without a body only comments. */
type FlowItem = { lead: string; readonly body?: string; readonly behind: string; tail: string };

/**
 * Writes the items of a map in braces or a list in brackets again. A removed item on its own line takes the comment there along;
 * comments above it stay. `padding` is the space inside brackets that show none.
 */
export function writeFlowItems(
  { text }: SourceText,
  [open, close]: readonly [number, number],
  { parts, wanted, padding }: { readonly parts: readonly SourceItem[]; readonly wanted: readonly WantedItem[]; readonly padding: string },
): Splice {
  const shown = text.slice(open, parts[0]?.start ?? close);
  const places = new Map<SourceItem, FlowItem>();
  let lead = shown;
  let hasComma = false;
  for (const [index, part] of parts.entries()) {
    const between = text.slice(part.end, parts[index + 1]?.start ?? close);
    const comma = /^(?:\s|#.*\n)*,/.exec(between)?.[0];
    const rest = between.slice(comma?.length ?? 0);
    const tail = /^.*(?=\n)/.exec(rest)?.[0] ?? '';
    places.set(part, { lead, behind: comma?.slice(0, -1) ?? '', tail });
    lead = rest.slice(tail.length);
    hasComma = comma !== undefined;
  }
  const pad = parts.length === 0 ? padding : lastLine(shown);
  const [, second] = [...places.values()];
  const gap = second === undefined ? (pad.includes('\n') ? pad : ' ') : lastLine(second.lead);
  let loses = parts.length === 0 && shown.includes('#');
  const items: FlowItem[] = [];
  for (const row of listRows(parts, wanted)) {
    const before = items.at(-1);
    const place = 'text' in row ? undefined : places.get('part' in row ? row.part : row.removed);
    const { lead: above, behind, tail } = place ?? { lead: gap, behind: '', tail: '' };
    if ('removed' in row) {
      loses ||= !above.includes('\n') && (behind + tail).includes('#');
      if (above.includes('#')) items.push({ lead: above.slice(0, above.lastIndexOf('\n')), behind: '', tail: '' });
    } else {
      const body = 'text' in row ? row.text : splicePart(text, [row.part.start, row.part.end], row.splices);
      const isRow = above.includes('\n') && (before !== undefined || pad.includes('\n') || above.includes('#'));
      // A comment on the line of the item before ends that line.
      const isInside = before !== undefined && !isRow && before.tail !== '';
      items.push({ lead: isRow ? above : before === undefined ? pad : gap, body, behind, tail: isInside ? before.tail : tail });
      if (isInside) before.tail = '';
    }
  }
  const last = items.findLast(({ body }) => body !== undefined);
  const written = items.map((item) => {
    const end = item === last && !hasComma ? item.behind.trimEnd() : `${item.behind},`;
    return item.body === undefined ? item.lead : `${item.lead}${item.body}${end}${item.tail}`;
  });
  const rest = parts.length === 0 ? padding : lead;
  return { start: open, end: close, text: items.length === 0 ? '' : written.join('') + rest, ...(loses ? { loses } : {}) };
}

/** Returns the text from its last line break on. */
function lastLine(text: string): string {
  return text.slice(Math.max(0, text.lastIndexOf('\n')));
}
