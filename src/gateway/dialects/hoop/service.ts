import type { Decision, Review } from '../../../model/service.ts';
import type { WireService } from '../../dialect.ts';
import { list } from '../rest.ts';
import { values } from './fields.ts';
import { runbooks, supplement } from './read.ts';

/** What people look up and decide on the public gateway. */
export const service: WireService = {
  agents: list('/agents'),
  resources: supplement.list,
  reviews: list('/reviews'),
  // The route of the interface belongs to a plugin that every start of the gateway removes.
  templates: { ...runbooks, ...list('/runbooks?list_connections=true&remove_empty_connections=false') },
  agentStatus: { CONNECTED: 'online', DISCONNECTED: 'offline' },
  subtypes: Object.fromEntries(Object.entries(values['subtype'] ?? {}).map(([our, theirs]) => [theirs, our])),
  chatId: 'slack_id',
  windowType: 'time_range',
  listsWindows: false,
  objection,
};

/** The gateway would answer with an error of its own, 500. */
function objection({ type }: Review, { status }: Decision): string | undefined {
  return status === 'REVOKED' && type === 'onetime' ? 'this gateway revokes jit reviews alone; reject it instead' : undefined;
}
