import { openGateway } from '../gateway/open.ts';
import { registry } from '../kinds/index.ts';
import type { Target } from '../model/config.ts';
import { AppError, UsageError } from '../model/errors.ts';
import type { Gateway, GatewayIdentity } from '../model/gateway.ts';
import type { RequestEvent } from '../model/outcome.ts';
import type { LiveState } from '../model/live.ts';
import type { TargetFlags } from './flags.ts';
import { waiting } from './progress.ts';
import type { World } from './world.ts';

export type Connecting = {
  readonly flags: TargetFlags;
  readonly world: World;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
};

/** Opens the target's gateway with the token from the environment. */
export async function connect(
  target: Target,
  { flags, world, onRequest }: Connecting,
): Promise<{ readonly gateway: Gateway; readonly identity: GatewayIdentity }> {
  if (target.url === '')
    throw new UsageError('which gateway?', 'write an ostiary.yaml with a target (ostiary init), or pass --url or set OSTIARY_URL');
  requireAddress(target.url);
  const token = world.env[target.token.env] ?? '';
  if (token === '') throw new UsageError(`there is no token for ${target.url}`, `set ${target.token.env} in the environment`);
  const gateway = await openGateway({
    url: target.url,
    token,
    auth: target.auth,
    dialect: target.dialect,
    registry,
    ...(onRequest === undefined ? {} : { onRequest }),
  });
  try {
    return { gateway, identity: await waiting(`asking ${target.url}`, { flags, world }, () => gateway.identify()) };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** Refuses what is no plain web address; one that may hold credentials is not repeated. */
function requireAddress(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (plain) return;
  const shown = /[@?#]/.test(text) ? 'the url of the gateway' : `"${text}"`;
  throw new UsageError(
    `${shown} is no http(s) address without credentials, query and fragment`,
    'it looks like https://gateway.example.com/api; the token belongs into an environment variable',
  );
}

/** Reads what is live; a list that cannot be proven whole ends the run, since nothing may be concluded from it. */
export async function readLive(
  gateway: Gateway,
  kinds: readonly string[],
  { flags, world }: { readonly flags: TargetFlags; readonly world: World },
): Promise<LiveState> {
  const { value, diagnostics } = await waiting('reading the gateway', { flags, world }, () => gateway.readAll(kinds));
  if (value !== undefined) return value;
  const [first] = diagnostics;
  throw new AppError(
    first?.code ?? 'api/list-not-whole',
    4,
    `${first?.message ?? 'the gateway sent a list that could not be proven whole'}; nothing was changed`,
    first?.hint === undefined ? {} : { hint: first.hint },
  );
}
