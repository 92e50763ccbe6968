import { onceInEach } from '../../model/collections.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { AccessFacts } from '../access/access-index.ts';
import { accessOf, type ConnectionAccess } from '../access/effective-access.ts';
import { ownApproval } from '../controls/connection-rows.ts';
import { type ConnectionEnforcement, enforcementOf, usedBy } from '../controls/enforcement.ts';
import { lookupIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** Who can use a connection, what decides that, and how its sessions enforce rules. */
export type AccessInState = {
  readonly facts: AccessFacts;
  readonly access: ConnectionAccess;
  readonly enforcement: ConnectionEnforcement;
};

/** Returns what decides access to a connection of a state, read once; undefined without it. */
export const accessIn: (state: ProtectionSnapshot, id: ResourceId) => AccessInState | undefined = onceInEach(
  (state: ProtectionSnapshot) => {
    const lookup = lookupIn(state);
    const { license, longestAccess: longest, enforcing } = state.listed;
    return (id) => {
      const spec = state.resources.get(id)?.spec;
      if (spec === undefined) return undefined;
      const [facts, enforcement] = [lookup(nameOf(id), spec), enforcementOf(spec, enforcing)];
      const access = accessOf({ spec, ...usedBy(enforcement), own: ownApproval(spec), facts, license, longest });
      return { facts, access, enforcement };
    };
  },
);
