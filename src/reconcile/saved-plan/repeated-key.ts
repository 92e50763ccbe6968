/**
 * A key that an object of a JSON text has twice, however it is spelled; undefined where there is none. Readers differ in which of
 * the two values counts. The text is one that JSON.parse takes.
 */
export function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let [start, end] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      start = index;
      end = closing(text, index);
      index = end;
    } else if (code === colon) {
      const key: string = JSON.parse(text.slice(start, end + 1));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    } else if (code === openBrace) open.push(new Set());
    else if (code === openBracket) open.push(undefined);
    else if (code === openBrace + 2 || code === openBracket + 2) open.pop();
  }
  return undefined;
}

/** Where the text that begins with a quote ends with one. */
function closing(text: string, from: number): number {
  let index = text.indexOf('"', from + 1);
  while (isEscaped(text, index)) index = text.indexOf('"', index + 1);
  return index;
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === backslash) slashes += 1;
  return slashes % 2 === 1;
}

const [quote, colon, backslash, openBrace, openBracket] = [0x22, 0x3a, 0x5c, 0x7b, 0x5b];
