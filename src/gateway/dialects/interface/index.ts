import type { Dialect } from '../../dialect.ts';
import { introduce } from './preflight.ts';
import { list, roots } from './read.ts';
import { restful } from './write.ts';

/** The interface as `interface.md` has it and `ostiary serve` speaks it. */
export const interfaceDialect: Dialect = {
  name: 'interface',
  auth: () => 'bearer',
  introduce,
  kinds: Object.fromEntries(Object.entries(roots).map(([kind, root]) => [kind, restful(root)])),
  lookups: { Agent: list('/agents') },
};
