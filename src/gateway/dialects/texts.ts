import type { Diagnostic } from '../../model/diagnostic.ts';
import { isObject, type Json } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { tell, type Draft } from './draft.ts';

/** Finds texts with the character U+0000, which PostgreSQL stores nowhere: the gateway would fail at the write. */
export function nulProblems(code: Diagnostic['code'], draft: Draft): readonly Diagnostic[] {
  const message = 'a text holds the character U+0000, which the gateway cannot store';
  return Object.entries(draft.spec)
    .filter(([, value]) => holdsNul(value))
    .map(([field]) => tell(draft, pointer(field), { code, message, hint: 'take \\0 out of the text' }));
}

function holdsNul(value: Json): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(holdsNul);
  return isObject(value) && Object.entries(value).some(([key, inner]) => key.includes('\0') || holdsNul(inner));
}
