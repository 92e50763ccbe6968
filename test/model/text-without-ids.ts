import { compareText } from '../../src/model/json.ts';

/** Prints a value without the ids that a gateway draws, in an order that does not depend on that of its lists and fields. */
export function textWithoutIds(value: unknown): string {
  return JSON.stringify(ordered(value));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => textWithoutIds(one)).toSorted(compareText);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'id');
  return entries.map(([key, own]) => [key, ordered(own)] as const).toSorted(([one], [other]) => compareText(one, other));
}
