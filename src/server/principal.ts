import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../model/errors.ts';

/** The role of a caller: admins may do everything, auditors read everything, standard users what the permission table allows. */
export type Role = 'admin' | 'auditor' | 'standard';

/** The caller. The groups determine the role; the manager is the one that the key writes for (empty: none). */
export type Principal = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly manager: string;
};

/** The hash of a key, and the caller that it identifies. */
export type HashedKey = { readonly hash: Buffer; readonly principal: Principal };

/** The keys that the operator passes in the environment. */
type EnvironmentKeys = {
  readonly adminKey?: string | undefined;
  readonly managerKey?: { readonly key: string; readonly manager: string };
};

/** Hashes the keys of the environment. Throws `AppError` when a key is empty or both are equal. */
export function environmentKeys({ adminKey, managerKey }: EnvironmentKeys): readonly HashedKey[] {
  if (adminKey === '') throw new AppError('serve/key', 3, 'the admin key is empty', { hint: 'set OSTIARY_SERVE_KEY' });
  const admins = adminKey === undefined ? [] : [{ hash: hashKey(adminKey), principal: environmentPrincipal('admin', '') }];
  if (managerKey === undefined) return admins;
  if (managerKey.key === '' || managerKey.manager === '' || managerKey.key === adminKey) {
    throw new AppError('serve/key', 3, 'the manager key is empty, has no manager, or is the admin key', {
      hint: 'set OSTIARY_SERVE_MANAGER_KEY',
    });
  }
  const name = `manager ${managerKey.manager}`;
  return [...admins, { hash: hashKey(managerKey.key), principal: environmentPrincipal(name, managerKey.manager) }];
}

/** Returns an admin that is not in the database. The id depends on the name alone, so it is the same after every start. */
export function environmentPrincipal(name: string, manager: string): Principal {
  const groups = ['admin'];
  return { id: uuidFromName(name), name, email: name, groups, role: roleOf(groups), manager };
}

/** Returns the caller that a key identifies; a wrong key takes as long as a right one. */
export function findPrincipal(key: string, known: readonly HashedKey[]): Principal | undefined {
  const hash = hashKey(key);
  const matching = known.filter((candidate) => timingSafeEqual(candidate.hash, hash));
  return matching[0]?.principal;
}

/** Returns the role of a list of groups: `admin`, else `auditor`, else `standard`. */
export function roleOf(groups: readonly string[]): Role {
  if (groups.includes('admin')) return 'admin';
  return groups.includes('auditor') ? 'auditor' : 'standard';
}

/** Returns the key in the headers: `Api-Key: KEY` if present, else `Authorization: Bearer KEY`. */
export function keyFromHeaders(authorization: string | undefined, apiKey: string | undefined): string | undefined {
  return apiKey ?? /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Returns an id that depends on the name alone. */
function uuidFromName(name: string): string {
  const digest = createHash('sha256').update(`ostiary principal\0${name}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
