import { registry, type LiveState } from '../../src/index.ts';
import type { AccessMode } from '../../src/model/protection/access-objects.ts';
import { resourceId } from '../../src/model/resource.ts';
import { canUse, reviewFor, runbooksOf, seesConnection } from '../../src/protection/access/effective-access.ts';
import type { AllowedRunbook, Permission } from '../../src/model/protection/permission.ts';
import { permissionOf } from '../../src/protection/permission/permission.ts';
import { postureIn } from '../../src/protection/posture/posture.ts';
import { liveSnapshot } from '../../src/protection/posture/protection-snapshot.ts';

/** What Ostiary finds that a person with some groups can do on a connection of the public gateway. */
export type FoundAccess = {
  readonly sees: boolean;
  readonly uses: (mode: AccessMode) => boolean;
  readonly review: (step: 'jit' | 'command') => ReturnType<typeof reviewFor>;
  readonly runbooks: readonly AllowedRunbook[];
  /** What `ostiary can` answers. */
  readonly can: (verb: AccessMode) => Permission;
};

/** Returns a function that finds what a person can do, from the state that a plan compares. */
export function findAccess(live: LiveState): (connection: string, groups: readonly string[]) => FoundAccess {
  const snapshot = liveSnapshot(live, registry, 'hoop');
  return (connection, groups) => {
    const id = resourceId('Connection', connection);
    const posture = postureIn(snapshot, id);
    if (posture === undefined) throw new Error(`${connection} does not exist`);
    const { access } = posture;
    return {
      sees: seesConnection(access, groups),
      uses: (mode) => canUse(access, groups, mode),
      review: (step) => reviewFor(access, groups, step),
      runbooks: runbooksOf(access, groups),
      can: (verb) => permissionOf({ id, snapshot }, { groups, verb }),
    };
  };
}
