import type { WireService } from '../../dialect.ts';
import { list } from '../rest.ts';

/** What people look up and decide, as the interface has it. */
export const service: WireService = {
  agents: list('/agents'),
  resources: { ...list('/resources'), paged: true },
  reviews: list('/reviews'),
  templates: list('/plugins/runbooks/templates'),
  agentStatus: {},
  subtypes: {},
  chatId: 'chat_id',
  listsWindows: true,
  objection: () => undefined,
};
