import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../model/errors.ts';

/** What a caller may do: everything, read everything, or only what standard users do. */
export type Role = 'admin' | 'auditor' | 'standard';

/** Who calls: the groups decide the role; the manager is the one that the key writes for (empty: none). */
export type Principal = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly manager: string;
};

/** A key that opens the gateway, as its hash alone. */
export type HashedKey = { readonly hash: Buffer; readonly principal: Principal };

/** What callers prove themselves with. */
export type EnvironmentKeys = {
  readonly adminKey?: string | undefined;
  readonly managerKey?: { readonly key: string; readonly manager: string };
};

// Any uuid will do, as long as every version of the server takes the same one.
const principalNamespace = '3f1c7a52-8f0e-4d0b-9a56-6b1c2d9e7f10';

/** Makes known keys of what the operator gave; an empty or shared key is refused. */
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

/** An admin who is none of the database's keys; the same id on every start and on every server, so that what it did stays its own. */
export function environmentPrincipal(name: string, manager: string): Principal {
  const groups = ['admin'];
  return { id: uuidFromName(name), name, email: name, groups, role: roleOf(groups), manager };
}

/** Finds whose key it is; takes as long for a wrong key as for a right one. */
export function findPrincipal(key: string, known: readonly HashedKey[]): Principal | undefined {
  const hash = hashKey(key);
  const matching = known.filter((candidate) => timingSafeEqual(candidate.hash, hash));
  return matching[0]?.principal;
}

/** The role that groups give: `admin`, else `auditor`, else `standard`. */
export function roleOf(groups: readonly string[]): Role {
  if (groups.includes('admin')) return 'admin';
  return groups.includes('auditor') ? 'auditor' : 'standard';
}

/** Takes the key out of the headers: `Api-Key: KEY`, beside which nothing else counts, or `Authorization: Bearer KEY`. */
export function keyFromHeaders(authorization: string | undefined, apiKey: string | undefined): string | undefined {
  return apiKey ?? /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** UUID version 5 (RFC 9562). */
function uuidFromName(name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(principalNamespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
