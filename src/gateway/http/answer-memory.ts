/** The memory in bytes that several answers together may still need. */
export type MemoryBudget = { left: number };

/** The memory in bytes that one answer, or all pages of one list, may need once parsed: about 100,000 connections. */
export const largestMemory: number = 512 * 1024 * 1024;

/** Measured: a value or a key needs 30 to 100 bytes beside its characters. Sparse text needs four times its length, `[{},{},…]` thirty times. */
const bytesPerToken = 48;

/** Counts one for each comma, colon and opening bracket. */
const tokens = new Uint8Array(0x1_00_00);
for (const sign of ',:[{') tokens[sign.charCodeAt(0)] = 1;

/** Takes the memory that a JSON text will need out of the budget; returns whether the budget had it. Without a budget, a short text is not counted. */
export function takeMemory(text: string, budget: MemoryBudget | undefined): boolean {
  if (budget === undefined && text.length * (1 + bytesPerToken) <= largestMemory) return true;
  const needed = text.length + bytesPerToken * countTokens(text);
  const left = (budget?.left ?? largestMemory) - needed;
  if (budget !== undefined) budget.left = left;
  return left >= 0;
}

function countTokens(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) count += tokens[text.charCodeAt(index)] ?? 0;
  return count;
}
