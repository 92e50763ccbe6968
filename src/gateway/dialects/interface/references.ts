import type { Proposal } from '../../../model/gateway.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { Reference } from '../../../model/plan/plan.ts';
import { nameOf } from '../../../model/resource.ts';
import type { Answers, Inquired } from '../../dialect.ts';
import { namesOnly, reference, replacementsOf, unseen } from '../replaced.ts';
import { listOf, textOf } from '../rest.ts';
import { isOurs } from './preflight.ts';
import { service } from './service.ts';

const { path } = service.templates;

/** What has to be asked before a replacement is judged; our own gateway offers every runbook on all connections that have them enabled. */
export function inquiries(proposal: Proposal, answers: Answers): readonly string[] {
  return isOurs(answers) || replacementsOf(proposal).length === 0 ? [] : [path];
}

/** The runbooks that name a connection that is replaced, and not simply all that have runbooks enabled. */
export function referencesIn(proposal: Proposal, inquired: Inquired): readonly Reference[] {
  if (!inquired.has(path)) return [];
  const runbooks = runbooksIn(inquired.get(path));
  const enabled = enabledIn(proposal);
  return replacementsOf(proposal).flatMap((one) => {
    if (runbooks === undefined) return [unseen('runbook', one)];
    return runbooks.flatMap((runbook) => {
      const names = namesIn(runbook);
      const isAll = names.size === enabled.size && [...enabled].every((name) => names.has(name));
      if (isAll || !namesOnly([...names], one)) return [];
      return [reference(one, { sort: 'runbook', name: textOf(runbook['name']), how: `it runs on ${[...names].join(', ')}` })];
    });
  });
}

/** The runbooks that the gateway lists; none where it has no such thing, undefined where it does not tell. */
function runbooksIn(answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const items = isObject(answer) ? answer['items'] : undefined;
  return Array.isArray(items) ? items.filter((entry: Json) => isObject(entry)) : undefined;
}

function enabledIn({ live }: Proposal): ReadonlySet<string> {
  return new Set(live.resources.filter(({ spec }) => spec['access_mode_runbooks'] === 'enabled').map(({ id }) => nameOf(id)));
}

function namesIn(runbook: JsonObject): ReadonlySet<string> {
  return new Set(listOf(runbook['connections']).filter((name) => typeof name === 'string'));
}
