import { join } from 'node:path';
import { cacheFolder } from '../../disk/cache.ts';
import { registry } from '../../kinds/index.ts';
import type { Target, Gateway, GatewayIdentity } from '../../model/gateway.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { LiveState } from '../../model/live.ts';
import { absolutePath, type ResolvedConfig } from '../../project/resolved-config.ts';
import { unresolvedIds } from '../../reconcile/diff/diff-edges.ts';
import { adaptToDialect } from '../../reconcile/prepare/adapt-to-dialect.ts';
import { verificationKey } from '../../reconcile/prepare/verified-secrets.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { PlanFlags, TargetFlags } from '../flags.ts';
import { withPredecessors, withSecrets } from './read-secrets.ts';
import { readLive } from '../connect.ts';

type GatherInput = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly desired: DesiredState;
  readonly gateway: Gateway;
  readonly identity: GatewayIdentity;
  readonly flags: TargetFlags & Pick<PlanFlags, 'cache'>;
  readonly context: CliContext;
};

/** The live state of a plan; `unwritten` states why the cache of verified secrets could not be written. */
export type GatheredLive = { readonly live: LiveState; readonly unwritten?: string | undefined };

/**
 * Reads everything that a plan compares with: all resources in bulk, the ids that lists hide, and the secrets that manifests
 * set and bulk reads omit, including those of replaced objects.
 */
export async function gatherLive({
  config,
  target,
  desired: loaded,
  gateway,
  identity,
  flags,
  context,
}: GatherInput): Promise<GatheredLive> {
  const { desired } = adaptToDialect(loaded, identity, registry);
  const listed = await readLive(gateway, [...registry.keys()], { flags, context });
  const ids = unresolvedIds({ desired, live: listed, registry });
  const bulk = ids.length === 0 ? listed : { ...listed, hidden: await gateway.confirm(ids) };
  const key = verificationKey(context.env[target.token.env] ?? '', identity.url, identity.organisation);
  const folder = flags.cache === undefined ? join(config.root, cacheFolder) : absolutePath(flags.cache, context);
  const { live, unwritten } = await withSecrets(bulk, desired, { gateway, key, folder });
  return { live: await withPredecessors(live, desired, gateway), unwritten };
}
