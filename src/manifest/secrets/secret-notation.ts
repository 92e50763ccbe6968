import { type DocumentDiagnostic, suggest } from '../../model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { suggestWord, nullKeyHint, formatPlace, describeType } from '../json-values.ts';

/** The notations for one secret in a manifest. */
export type SecretNotation =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'value'; readonly text: string }
  | { readonly is: 'env'; readonly name: string }
  | { readonly is: 'file'; readonly path: string }
  | { readonly is: 'keep' };

/** Parses the notation of one secret; returns undefined if it is none of the known ones. */
export function parseSecretNotation(value: Json | undefined): SecretNotation | undefined {
  if (typeof value === 'string') return { is: 'text', text: value };
  if (!isObject(value)) return undefined;
  if (typeof value['value'] === 'string') return { is: 'value', text: value['value'] };
  if (value['keep'] === true) return { is: 'keep' };
  const from = value['valueFrom'];
  if (!isObject(from)) return undefined;
  if (typeof from['env'] === 'string') return { is: 'env', name: from['env'] };
  return typeof from['file'] === 'string' ? { is: 'file', path: from['file'] } : undefined;
}

/** Returns whether a key below `secret` is a name; other text may be a misplaced value, and is not printed. */
export function isSecretName(key: string): boolean {
  return /^(?:envvar:|filesystem:)?[A-Z_][A-Z0-9_]*$/i.test(key) && (key.includes(':') || key === key.toUpperCase());
}

/**
 * Returns whether a secret has a notation of the schema's `secretValue`. A map of secrets also accepts a string, a plain
 * field also null. Written by hand, because a schema tries one notation after the other and reports an error for each.
 */
export function isValidSecret(value: Json | undefined, mode: 'base64' | 'plain'): boolean {
  if (mode === 'base64' ? typeof value === 'string' : value === null) return value !== '';
  if (!isObject(value) || !hasOneKey(value)) return false;
  if (typeof value['value'] === 'string') return true;
  const notation = parseSecretNotation(value);
  if (notation?.is === 'env') return notation.name !== '' && hasOneKey(value['valueFrom']);
  if (notation?.is === 'file') return notation.path !== '' && hasOneKey(value['valueFrom']);
  return notation !== undefined;
}

function hasOneKey(value: Json | undefined): boolean {
  let count = 0;
  if (isObject(value)) for (const key in value) if (Object.hasOwn(value, key)) count += 1;
  return count === 1;
}

/** Describes the error in a secret's notation without showing its value. */
export function describeInvalidSecret(
  tokens: readonly string[],
  value: Json | undefined,
  mode: 'base64' | 'plain',
  hint?: string,
): DocumentDiagnostic {
  const key = tokens.at(-1) ?? '';
  const shown = mode === 'plain' || isSecretName(key) ? key : '…';
  const forms = hint ?? notationsHint(shown);
  const name = formatPlace([...tokens.slice(0, -1), shown]);
  const wrong = (message: string, how: string = forms): DocumentDiagnostic => ({
    code: 'secret/form',
    severity: 'error',
    pointer: pointer(...tokens),
    message,
    hint: how,
  });
  if (value === '') return wrong(`"${name}" is empty`);
  if (value === null && mode === 'base64') return wrong(`"${name}" is null, not a secret`, nullKeyHint);
  if (!isObject(value))
    return wrong(`"${name}" is ${mode === 'plain' && typeof value === 'string' ? 'a bare text' : describeType(value)}, not a secret`);
  if (hint !== undefined) return wrong(`"${name}" is not a valid source of a secret`);
  return wrong(...describeInvalidMap(name, value, forms));
}

/** Returns the message and the hint for a map that is not a secret's notation. */
function describeInvalidMap(name: string, value: JsonObject, forms: string): readonly [string, string] {
  const keys = Object.keys(value);
  const stranger = keys.find((key) => !['value', 'valueFrom', 'keep'].includes(key));
  if (stranger !== undefined) {
    const near =
      suggestWord(suggest(stranger, ['value', 'valueFrom', 'keep'])) ??
      (stranger === 'env' || stranger === 'file' ? `write valueFrom: { ${stranger}: … }` : forms);
    const shown = near === forms ? 'a key' : `"${stranger}"`;
    return [`${shown} is not a field of the secret "${name}"`, near];
  }
  if (keys.length > 1) return [`"${name}" has ${keys.join(' and ')}; a secret has only one of them`, forms];
  if ('value' in value) return [`the value of "${name}" is ${describeType(value['value'])}, not a text`, 'put it in quotes'];
  if ('keep' in value) return [`keep of "${name}" must be true`, forms];
  const from = value['valueFrom'];
  if (!isObject(from)) return [`valueFrom of "${name}" is not a map`, 'write valueFrom: { env: VARIABLE } or valueFrom: { file: PATH }'];
  return [`valueFrom of "${name}" must have either env or file`, 'write valueFrom: { env: VARIABLE } or valueFrom: { file: PATH }'];
}

function notationsHint(key: string): string {
  return `write ${key}: { value: … }, { valueFrom: { env: VARIABLE } }, { valueFrom: { file: PATH } } or { keep: true }`;
}
