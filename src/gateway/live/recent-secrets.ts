import type { LiveResource } from '../../model/live.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import type { GatewayContext } from '../session.ts';

/** Adds the secrets from an earlier read of the one object to a bulk read, where they have not changed since. */
export function withKnownSecrets(context: Pick<GatewayContext, 'recentReads'>, live: LiveResource): LiveResource {
  const recent = live.leftOut === undefined || live.secretsVersion === undefined ? undefined : context.recentReads.get(live.uid);
  if (recent === undefined || recent.secretsVersion !== live.secretsVersion) return live;
  const { leftOut: _, ...rest } = live;
  const spec = withTools(rest.spec, recent.secrets, recent.unknown);
  return { ...rest, spec, secrets: recent.secrets, unknown: recent.unknown, secretsApart: true };
}
