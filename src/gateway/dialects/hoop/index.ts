import type { Dialect } from '../../dialect.ts';
import { groupList } from '../groups.ts';
import { list } from '../rest.ts';
import { accessRules } from './access-rules.ts';
import { advice } from './advice.ts';
import { authOf, introduce } from './introduce.ts';
import { inquiries, preflight } from './preflight.ts';
import { referencePrefixes } from './secret-spelling.ts';
import { service } from './service.ts';
import { kinds } from './write.ts';

/** The public gateway hoop, as version 1.148 behaves. */
export const hoopDialect: Dialect = {
  name: 'hoop',
  auth: authOf,
  callerPath: '/userinfo',
  introduce,
  kinds,
  lookups: { Agent: list('/agents') },
  groups: groupList({ rows: [] }),
  accessRules,
  service,
  referencePrefixes,
  advice,
  inquiries,
  preflight,
};
