import { PatternSyntaxError, type PatternCursor, type PatternNode } from './char-set.ts';

type Count = { readonly min: number; readonly max: number | undefined; readonly text: string };

const maxRepeats = 1000;

/** Returns whether the cursor is on a repeat count. */
export function isRepeat(cursor: PatternCursor): boolean {
  return countAt(cursor) !== undefined;
}

/** Wraps the node in the repeat count at the cursor, if there is one. */
export function takeRepeat(cursor: PatternCursor, node: PatternNode, from: number): PatternNode {
  const start = cursor.at;
  const count = countAt(cursor);
  if (count === undefined) return node;
  const { min, max, text } = count;
  if (min > maxRepeats || (max ?? 0) > maxRepeats || (max !== undefined && max < min)) {
    const isBackwards = max !== undefined && max < min && min <= maxRepeats;
    throw new PatternSyntaxError({
      what: isBackwards ? `the repeat count ${text}, whose start is after its end` : `the repeat count ${text}, above ${maxRepeats}`,
      index: start,
      hint: `at most ${maxRepeats} times`,
      elsewhere: true,
    });
  }
  cursor.at += text.length;
  if (cursor.text[cursor.at] === '?') cursor.at += 1;
  const second = countAt(cursor);
  if (second !== undefined) throw doubledRepeatError(cursor, second, start);
  const repeated: PatternNode = { op: 'repeat', of: node, min, max };
  if (repeatsOf(repeated) > maxRepeats)
    throw new PatternSyntaxError({
      what: `nested repeat counts above ${maxRepeats} in total`,
      index: from,
      hint: `at most ${maxRepeats} times in all`,
      elsewhere: true,
    });
  return repeated;
}

function doubledRepeatError({ text }: PatternCursor, second: Count, start: number): PatternSyntaxError {
  const shown = text.slice(start, start + 12);
  if (second.text === '+')
    return new PatternSyntaxError({
      what: `a possessive quantifier ${shown.slice(0, shown.indexOf('+', 1) + 1)}`,
      index: start,
      hint: 'remove the last +: RE2 does not backtrack',
      elsewhere: true,
    });
  return new PatternSyntaxError({ what: 'a repeat of a repeat', index: start, hint: 'put the repeated part in (?:…)' });
}

function countAt({ text, at }: PatternCursor): Count | undefined {
  switch (text[at] ?? '') {
    case '*':
      return { min: 0, max: undefined, text: '*' };
    case '+':
      return { min: 1, max: undefined, text: '+' };
    case '?':
      return { min: 0, max: 1, text: '?' };
    case '{': {
      const found = /^\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/.exec(text.slice(at, at + 40));
      if (found === null) return undefined;
      const [whole, low = '0', comma, high] = found;
      const min = Number(low);
      return { min, max: comma === undefined ? min : high === undefined ? undefined : Number(high), text: whole };
    }
    default:
      return undefined;
  }
}

/** Returns the product of nested repeat counts, as RE2 counts them. */
function repeatsOf(node: PatternNode): number {
  switch (node.op) {
    case 'repeat': {
      const own = node.max ?? node.min;
      const isCounted = node.min >= 2 || (node.max ?? 0) >= 2;
      return (isCounted ? Math.max(own, 1) : 1) * repeatsOf(node.of);
    }
    case 'group':
      return repeatsOf(node.of);
    case 'join':
    case 'either':
      return node.parts.reduce((highest, part) => Math.max(highest, repeatsOf(part)), 1);
    case 'empty':
    case 'char':
    case 'assert':
      return 1;
  }
}
