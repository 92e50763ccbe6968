import type { Dialect, WireService } from '../../dialect.ts';
import { readCapabilities } from './handshake.ts';
import { kinds } from './kinds.ts';
import { preflight, preflightReads, templates } from './preflight.ts';
import { checkTexts, groupsList, manifestWrite, readIdAndName, restList } from '../rest.ts';
import { compareText } from '../../../model/json.ts';
import type { Review } from '../../../model/service.ts';
import { timeKey } from '../../../model/time.ts';

/** What people look up and decide, as the interface has it. */
export const service: WireService = {
  agents: restList('/agents'),
  resources: { ...restList('/resources'), paged: true },
  reviews: restList('/reviews'),
  templates,
  agentStatus: {},
  subtypes: {},
  chatId: 'chat_id',
  listsWindows: true,
  accessEnds,
  objection: () => undefined,
};

/** Returns when the gateway says that the approval ends, else the time of the last approval and the duration after it: `revoke_at` is the time of a revocation. */
function accessEnds({ expires_at: end = '', review_groups_data: groups, access_duration: nanoseconds }: Review): string | undefined {
  if (end !== '') return end;
  const approvals = groups.flatMap(({ status, review_date: date }) => (status === 'APPROVED' && date !== null ? [date] : []));
  const last = approvals.toSorted((left, right) => compareText(timeKey(left), timeKey(right))).at(-1);
  const approvedAt = Date.parse(last ?? '');
  const ends = new Date(approvedAt + nanoseconds / 1_000_000);
  return Number.isNaN(ends.getTime()) ? undefined : ends.toISOString();
}

/** The interface as `interface.md` describes it and `ostiary serve` implements it. */
export const interfaceDialect: Dialect = {
  name: 'interface',
  signs: { server: 'ostiary', infoFields: ['role', 'borrowed_fields'], rowFields: ['issuetracker_issue_template_id'] },
  authHeaderFor: () => 'bearer',
  readCapabilities,
  kinds,
  service,
  // A gateway without users of its own returns null: then its groups are unknown.
  access: { groups: { list: groupsList(undefined), read: readIdAndName } },
  referencePrefixes: ['_cloudsecrets:', '_envjson:'],
  knownValues: {},
  errorHints: [],
  checkManifest: (resource) => checkTexts('interface/nul', manifestWrite(resource)),
  preflightReads,
  preflight,
};
