/** Creates a function that converts offsets to lines and columns, both from 1. It counts the lines on first use. */
export function createLineFinder(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  let starts: readonly number[] | undefined;
  return (offset) => {
    if (offset <= nearLimit) return countFromTop(text, offset);
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.min(offset, text.length) - (starts[low] ?? 0) + 1 };
  };
}

/** Smaller offsets are counted from the start of the text: every document needs one, few need another. */
const nearLimit = 256;

function countFromTop(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: Math.min(offset, text.length) - start + 1 };
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}
