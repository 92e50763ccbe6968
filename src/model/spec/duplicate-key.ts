import { closingQuote } from '../json.ts';
import { type Pointer, pointer } from '../pointer.ts';

/** An object or a list around the current place: the keys of an object so far, and the current key or index. */
type Level = { readonly keys?: Set<string>; at: string | number };

// Only a key precedes a colon.
const colon = /[\t\n\r ]*:/y;

/** Returns the pointer of the first key that an object in a valid JSON text has twice; undefined without one. Keys are compared without their escapes. */
export function duplicateKey(text: string): Pointer | undefined {
  const levels: Level[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    const level = levels.at(-1);
    if (character === '{') levels.push({ keys: new Set(), at: '' });
    else if (character === '[') levels.push({ at: 0 });
    else if (character === '}' || character === ']') levels.pop();
    else if (character === ',' && typeof level?.at === 'number') level.at += 1;
    else if (character === '"') {
      const end = closingQuote(text, index);
      colon.lastIndex = end + 1;
      if (level?.keys !== undefined && colon.test(text)) {
        const key: string = JSON.parse(text.slice(index, end + 1));
        level.at = key;
        if (level.keys.has(key)) return pointer(...levels.map(({ at }) => String(at)));
        level.keys.add(key);
      }
      index = end;
    }
  }
  return undefined;
}
