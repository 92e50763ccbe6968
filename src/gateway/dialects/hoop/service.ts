import type { Decision, Review } from '../../../model/service.ts';
import type { WireService } from '../../dialect.ts';
import { restList } from '../rest.ts';
import { valueNames } from './fields.ts';
import { runbooks, connectionSupplement } from './read.ts';

/** What people look up and decide on the public gateway. */
export const service: WireService = {
  agents: restList('/agents'),
  resources: connectionSupplement.list,
  reviews: restList('/reviews'),
  // The route of the interface belongs to a plugin that the gateway removes at every start.
  templates: { ...runbooks, ...restList('/runbooks?list_connections=true&remove_empty_connections=false') },
  agentStatus: { CONNECTED: 'online', DISCONNECTED: 'offline' },
  subtypes: Object.fromEntries(Object.entries(valueNames['subtype'] ?? {}).map(([our, theirs]) => [theirs, our])),
  chatId: 'slack_id',
  windowType: 'time_range',
  listsWindows: false,
  accessEnds: ({ revoke_at: end }) => (end === '' ? undefined : end),
  objection,
};

/** Returns why the gateway would fail: it answers such a decision with a 500. */
function objection({ type }: Review, { status }: Decision): string | undefined {
  return status === 'REVOKED' && type === 'onetime' ? 'this gateway can revoke only jit reviews; reject it instead' : undefined;
}
