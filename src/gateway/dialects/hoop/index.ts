import type { Dialect } from '../../dialect.ts';
import { groupsList } from '../shared/groups.ts';
import { restList } from '../shared/rest.ts';
import { accessRules } from './access-rules.ts';
import { advice } from './advice.ts';
import { authHeaderFor, readCapabilities } from './handshake.ts';
import { preflightReads, preflight } from './preflight.ts';
import { referencePrefixes } from './secret-spelling.ts';
import { service } from './service.ts';
import { kinds } from './write.ts';

/** The public gateway hoop, as version 1.148 behaves. */
export const hoopDialect: Dialect = {
  name: 'hoop',
  authHeaderFor: authHeaderFor,
  callerPath: '/userinfo',
  readCapabilities: readCapabilities,
  kinds,
  lookups: { Agent: restList('/agents') },
  groups: groupsList({ rows: [] }),
  accessRules,
  service,
  referencePrefixes,
  errorHints: advice,
  preflightReads: preflightReads,
  preflight,
};
