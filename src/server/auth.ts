import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../model/errors.ts';

/** Who calls: a role, and the manager that the key writes for (empty: none). */
export type Principal = { readonly role: 'admin'; readonly manager: string };

/** A key that opens the gateway, as its hash alone. */
export type KnownKey = Principal & { readonly hash: Buffer };

/** What callers prove themselves with. */
export type Keys = { readonly adminKey: string; readonly managerKey?: { readonly key: string; readonly manager: string } };

/** Makes known keys of what the operator gave; an empty or shared key is refused. */
export function knownKeys({ adminKey, managerKey }: Keys): readonly KnownKey[] {
  if (adminKey === '') throw new AppError('serve/key', 3, 'the admin key is empty', { hint: 'set OSTIARY_SERVE_KEY' });
  const admin: KnownKey = { role: 'admin', manager: '', hash: hashOf(adminKey) };
  if (managerKey === undefined) return [admin];
  if (managerKey.key === '' || managerKey.manager === '' || managerKey.key === adminKey) {
    throw new AppError('serve/key', 3, 'the manager key is empty, has no manager, or is the admin key', {
      hint: 'set OSTIARY_SERVE_MANAGER_KEY',
    });
  }
  return [admin, { role: 'admin', manager: managerKey.manager, hash: hashOf(managerKey.key) }];
}

/** Finds whose key it is; takes as long for a wrong key as for a right one. */
export function authenticate(key: string, known: readonly KnownKey[]): Principal | undefined {
  const hash = hashOf(key);
  const matching = known.filter((candidate) => timingSafeEqual(candidate.hash, hash));
  return matching[0];
}

/** Takes the key out of the headers: `Authorization: Bearer KEY`, or `Api-Key: KEY`. */
export function presentedKey(authorization: string | undefined, apiKey: string | undefined): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  return bearer ?? apiKey;
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
