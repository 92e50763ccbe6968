/** On a page, this line stands for any lines of an output. */
const anyLines = '…';

/**
 * Returns the lines that a page shows for an output. Lines that differ only in digests, ids or times stay as the page has them, and so does `…`
 * with what it leaves out; all others are those of the output. So the result equals `shown` if the page is right.
 */
export function refreshOutput(shown: readonly string[], output: string): readonly string[] {
  const lines = output === '' ? [] : output.split('\n');
  return agrees(shown, lines) ? shown : merge(shown, lines);
}

function agrees(shown: readonly string[], lines: readonly string[]): boolean {
  const [first, ...rest] = shown;
  if (first === undefined) return lines.length === 0;
  if (first === anyLines) return rest.length === 0 || lines.some((_, index) => agrees(rest, lines.slice(index)));
  const [line, ...others] = lines;
  return line !== undefined && isAlike(first, line) && agrees(rest, others);
}

/** Keeps common lines; between two of them, the output decides, except for what `…` leaves out. */
function merge(shown: readonly string[], lines: readonly string[]): readonly string[] {
  const merged: string[] = [];
  let [from, next] = [0, 0];
  for (const [index, position] of [...commonLines(shown, lines), [shown.length, lines.length] as const]) {
    const gap = shown.slice(from, index);
    const real = lines.slice(next, position);
    const before = gap.indexOf(anyLines);
    const after = gap.length - gap.lastIndexOf(anyLines) - 1;
    merged.push(...(before === -1 ? real : [...real.slice(0, before), anyLines, ...(after === 0 ? [] : real.slice(before).slice(-after))]));
    merged.push(...shown.slice(index, index + 1));
    [from, next] = [index + 1, position + 1];
  }
  return merged;
}

/** Returns the places of a longest common subsequence of lines, in both lists. */
function commonLines(shown: readonly string[], lines: readonly string[]): readonly (readonly [number, number])[] {
  const lengths = Array.from({ length: shown.length + 1 }, () => [...lines, ''].map(() => 0));
  const lengthAt = (index: number, position: number): number => lengths[index]?.[position] ?? 0;
  for (let index = shown.length - 1; index >= 0; index -= 1) {
    for (let position = lines.length - 1; position >= 0; position -= 1) {
      const row = lengths[index] ?? [];
      row[position] = isAlike(shown[index] ?? '', lines[position] ?? '')
        ? lengthAt(index + 1, position + 1) + 1
        : Math.max(lengthAt(index + 1, position), lengthAt(index, position + 1));
    }
  }
  const common: (readonly [number, number])[] = [];
  let [index, position] = [0, 0];
  while (index < shown.length && position < lines.length) {
    if (isAlike(shown[index] ?? '', lines[position] ?? '')) {
      common.push([index, position]);
      index += 1;
      position += 1;
    } else if (lengthAt(index + 1, position) >= lengthAt(index, position + 1)) index += 1;
    else position += 1;
  }
  return common;
}

function isAlike(shown: string, line: string): boolean {
  return shapeOf(shown) === shapeOf(line);
}

const changing: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'],
  [/\b[0-9a-f]{64}\b/g, 'DIGEST'],
  [/\b[0-9a-f]{10}(?:[0-9a-f]{30})?\b/g, 'COMMIT'],
  [/\bostk_[\w-]+\**/g, 'KEY'],
  [/\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z| \d{2}:\d{2})/g, 'TIME'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s)\b/g, 'DURATION'],
  [/ {2,}/g, '  '],
];

/** Returns a line without what differs from run to run. */
function shapeOf(line: string): string {
  return changing.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), line.trimEnd());
}
