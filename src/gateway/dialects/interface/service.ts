import type { WireService } from '../../dialect.ts';
import { restList } from '../rest.ts';

/** What people look up and decide, as the interface has it. */
export const service: WireService = {
  agents: restList('/agents'),
  resources: { ...restList('/resources'), paged: true },
  reviews: restList('/reviews'),
  templates: restList('/plugins/runbooks/templates'),
  agentStatus: {},
  subtypes: {},
  chatId: 'chat_id',
  listsWindows: true,
  objection: () => undefined,
};
