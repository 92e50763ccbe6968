import type { FieldRule } from '../../model/field.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { Cipher } from './cipher.ts';
import { InvalidBody, type FieldProblem } from '../http/rejection.ts';

/** Secret values by field: one text, or a map of texts. */
export type Secrets = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Secrets as a caller sends them; null keeps the stored value. */
export type GivenSecrets = Readonly<Record<string, string | null | Readonly<Record<string, string | null>>>>;

const referenceSource = String.raw`_(cloudsecrets|envjson):[^:\s]+:[^:\s]+`;

/** A value that is fetched when a session starts: `_cloudsecrets:NAME:KEY` or `_envjson:NAME:KEY`. */
export const secretReferencePattern: RegExp = new RegExp(`^${referenceSource}$`);

/** The schema of a value in a map of secrets, except null. */
export const secretValueSchema: JsonObject = {
  pattern: `^((([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)|${referenceSource})$`,
  $comment: 'base64, _cloudsecrets:NAME:KEY or _envjson:NAME:KEY',
};

/** Returns the secrets of a valid body; an omitted secret is empty. */
export function readSecrets(fields: readonly FieldRule[], body: JsonObject): GivenSecrets {
  const given: Record<string, string | null | Record<string, string | null>> = {};
  for (const { name, secret } of fields) {
    const value = body[name];
    if (secret === 'plain') given[name] = value === undefined ? '' : textOrNull(value);
    if (secret === 'base64') {
      const entries = isObject(value) ? Object.entries(value) : [];
      given[name] = Object.fromEntries(entries.map(([key, entry]) => [key, textOrNull(entry)]));
    }
  }
  return given;
}

/** Replaces null by the stored value and drops empty secrets. Throws `InvalidBody` when a null has no stored value. */
export function resolveSecrets(given: GivenSecrets, stored: Secrets): Secrets {
  const problems: FieldProblem[] = [];
  const secrets: Record<string, string | Record<string, string>> = {};
  for (const [field, values] of Object.entries(given)) {
    const kept = stored[field];
    if (typeof values !== 'object' || values === null) {
      const text = values ?? (typeof kept === 'string' ? kept : '');
      if (text !== '') secrets[field] = text;
      continue;
    }
    const map: Record<string, string> = {};
    for (const [key, value] of Object.entries(values)) {
      const resolved = value ?? (typeof kept === 'object' ? kept[key] : undefined);
      if (resolved === undefined)
        problems.push({ field: pointer(field, key), reason: 'is null, which keeps the stored value, but none is stored' });
      else map[key] = resolved;
    }
    if (Object.keys(map).length > 0) secrets[field] = map;
  }
  if (problems.length > 0) throw new InvalidBody(problems);
  return secrets;
}

/** Seals all secrets of an object as one text; null when it has none. */
export function sealSecrets(cipher: Cipher, secrets: Secrets, place: string): string | null {
  return Object.keys(secrets).length > 0 ? cipher.seal(JSON.stringify(secrets), place) : null;
}

/** Opens a text that `sealSecrets` sealed. Throws when its key is unknown or the path differs. */
export function openSecrets(cipher: Cipher, sealed: string | null, place: string): Secrets {
  return sealed === null ? {} : JSON.parse(cipher.open(sealed, place));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
