import type { Entry, FieldRow } from '../blocks.ts';
import { distinctParts } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';

const longestLine = 100;
const longestValue = 1000;

/** Returns what differs in an entry as lines of a diff: `+`, `-`, `!` for what changes, `=` for what stays, and a space before the rest. */
export function diffLines(entry: Entry): readonly string[] {
  const { fields, lines } = entry;
  return [...fields.flatMap((row) => fieldLines(row, entry)), ...lines.map(({ sign, text }) => `${sign} ${text}`)];
}

function fieldLines({ label: field, parts, note }: FieldRow, { sign }: Entry): readonly string[] {
  const texts = parts.map((part) => clip(part.sign === '~' ? part.before : part.text, longestValue));
  if (sign === '=') return [`= ${field}: ${clip(texts.join(', '), longestValue)} (${note})`];
  const label = note === '' ? field : `${field} (${note})`;
  const alone = sign === '+' || sign === '-' ? sign : '!';
  return parts.flatMap((part, index) => {
    if (part.sign !== '~') return [`${part.sign === '' ? alone : part.sign} ${label}: ${texts[index]}`];
    const [before, after] = distinctParts(part.before, part.after, longestValue);
    const line = `! ${label}: ${before} → ${after}`;
    return line.length <= longestLine ? [line] : [`- ${label}: ${before}`, `+ ${label}: ${after}`];
  });
}
