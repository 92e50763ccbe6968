/** Character codes, by name: comparing numbers is what makes the strict reader fast. */
export const newline = 0x0a;
export const space = 0x20;
export const doubleQuote = 0x22;
export const hash = 0x23;
export const singleQuote = 0x27;
export const comma = 0x2c;
export const dash = 0x2d;
export const dot = 0x2e;
export const colon = 0x3a;
export const listStart = 0x5b;
export const backslash = 0x5c;
export const listEnd = 0x5d;
export const underscore = 0x5f;
export const mapStart = 0x7b;
export const mapEnd = 0x7d;
export const tilde = 0x7e;

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Tells whether the character code is a space, a line's end or the text's end. */
export function isBlank(code: number): boolean {
  return code === space || code === newline || Number.isNaN(code);
}
