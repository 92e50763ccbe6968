import { complement, oneChar, unionOf, type CharSet } from './char-set.ts';
import { takeClassEscape, takeEscape, takePosixClass } from './escape.ts';
import { nextRune, PatternSyntaxError, consumeText, type PatternCursor } from './syntax.ts';

/** Reads a bracket expression; the cursor is on its opening bracket. */
export function takeBrackets(cursor: PatternCursor): CharSet {
  const start = cursor.at;
  cursor.at += 1;
  const isNegated = consumeText(cursor, '^');
  const sets: CharSet[] = [];
  let isFirst = true;
  while (cursor.text[cursor.at] !== ']' || isFirst) {
    if (cursor.at >= cursor.text.length)
      throw new PatternSyntaxError({ what: 'a [ without its ]', index: start, hint: 'write \\[ for the character itself' });
    isFirst = false;
    sets.push(takeMember(cursor));
  }
  cursor.at += 1;
  const set = unionOf(sets);
  return isNegated ? complement(set) : set;
}

function takeMember(cursor: PatternCursor): CharSet {
  const known = takePosixClass(cursor) ?? (cursor.text[cursor.at] === '\\' ? takeClassEscape(cursor) : undefined);
  if (known !== undefined) return known;
  const start = cursor.at;
  const low = takeRune(cursor);
  if (cursor.text[cursor.at] !== '-' || cursor.text[cursor.at + 1] === ']' || cursor.at + 1 >= cursor.text.length) return oneChar(low);
  cursor.at += 1;
  const high = takeRune(cursor);
  if (high < low)
    throw new PatternSyntaxError({
      what: `the range ${cursor.text.slice(start, cursor.at)}, which runs backwards`,
      index: start,
      hint: 'write the lower character first',
    });
  return { ranges: [low, high] };
}

function takeRune(cursor: PatternCursor): number {
  return cursor.text[cursor.at] === '\\' ? takeEscape(cursor) : nextRune(cursor);
}
