import type { Dialect } from '../../dialect.ts';
import { groupList } from '../groups.ts';
import { list, roots } from '../rest.ts';
import { introduce, preflight } from './preflight.ts';
import { inquiries, referencesIn } from './references.ts';
import { service } from './service.ts';
import { restful } from './write.ts';

/** The interface as `interface.md` has it and `ostiary serve` speaks it. */
export const interfaceDialect: Dialect = {
  name: 'interface',
  auth: () => 'bearer',
  introduce,
  kinds: Object.fromEntries(Object.entries(roots).map(([kind, root]) => [kind, restful(root)])),
  lookups: { Agent: list('/agents') },
  service,
  // A gateway without people of its own says null; then groups are somebody else's business.
  groups: groupList(undefined),
  referencePrefixes: ['_cloudsecrets:', '_envjson:'],
  advice: [],
  inquiries,
  preflight: (proposal, _, inquired) => ({
    diagnostics: preflight(proposal),
    refusals: [],
    indivisible: new Map(),
    references: referencesIn(proposal, inquired),
  }),
};
