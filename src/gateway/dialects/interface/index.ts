import type { Dialect } from '../../dialect.ts';
import { groupsList } from '../shared/groups.ts';
import { restList, roots } from '../shared/rest.ts';
import { readCapabilities, preflight } from './preflight.ts';
import { preflightReads, referencesIn } from './references.ts';
import { service } from './service.ts';
import { restful } from './write.ts';

/** The interface as `interface.md` has it and `ostiary serve` speaks it. */
export const interfaceDialect: Dialect = {
  name: 'interface',
  authHeaderFor: () => 'bearer',
  readCapabilities: readCapabilities,
  kinds: Object.fromEntries(Object.entries(roots).map(([kind, root]) => [kind, restful(root)])),
  lookups: { Agent: restList('/agents') },
  service,
  // A gateway without people of its own says null; then groups are somebody else's business.
  groups: groupsList(undefined),
  referencePrefixes: ['_cloudsecrets:', '_envjson:'],
  errorHints: [],
  preflightReads: preflightReads,
  preflight: (proposal, _, inquired) => ({
    diagnostics: preflight(proposal),
    refusals: [],
    indivisible: new Map(),
    references: referencesIn(proposal, inquired),
  }),
};
