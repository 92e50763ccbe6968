import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject, type Json } from '../../../model/json.ts';
import { pointer } from '../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite } from './proposed-writes.ts';

// Half of a pair that encodes one character: UTF-8 text cannot contain it.
const halfSurrogatePair = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Reports texts that no database stores: the gateway would fail at the write, or store another text. */
export function checkTexts(code: Diagnostic['code'], write: ProposedWrite): readonly Diagnostic[] {
  const secrets = Object.entries(write.resource.secrets).filter(([, secret]) => secret.state === 'value' && secret.source !== 'live');
  const texts = [
    ...Object.entries(write.spec).map(([field, value]) => [pointer(field), value] as const),
    ...secrets.map(([path, secret]) => [path, secret.state === 'value' ? secret.reveal() : ''] as const),
  ];
  return texts.flatMap(([at, value]) => {
    if (containsText(value, (text) => text.includes('\0'))) {
      const message = 'a text holds the character U+0000, which the gateway cannot store';
      return [diagnosticAt(write, at, { code, message, hint: 'take \\0 out of the text' })];
    }
    if (!containsText(value, (text) => halfSurrogatePair.test(text))) return [];
    const message = 'a text holds half of a surrogate pair, which is no character';
    return [diagnosticAt(write, at, { code, message, hint: 'write the character itself, or \\U and its eight digits' })];
  });
}

function containsText(value: Json, isBad: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isBad(value);
  if (Array.isArray(value)) return value.some((inner: Json) => containsText(inner, isBad));
  return isObject(value) && Object.entries(value).some(([key, inner]) => isBad(key) || containsText(inner, isBad));
}
