import type { Dialect } from '../../dialect.ts';
import { groupsList, restList } from '../rest.ts';
import { readCapabilities } from './handshake.ts';
import { kinds } from './kinds.ts';
import { preflight, preflightReads } from './preflight.ts';
import { service } from './service.ts';

/** The interface as `interface.md` describes it and `ostiary serve` implements it. */
export const interfaceDialect: Dialect = {
  name: 'interface',
  signs: { server: 'ostiary', infoFields: ['role', 'borrowed_fields'], rowFields: ['issuetracker_issue_template_id'] },
  authHeaderFor: () => 'bearer',
  readCapabilities,
  kinds,
  lookups: { Agent: restList('/agents') },
  service,
  // A gateway without users of its own returns null: then its groups are unknown.
  groups: groupsList(undefined),
  referencePrefixes: ['_cloudsecrets:', '_envjson:'],
  errorHints: [],
  preflightReads,
  preflight,
};
