import type { PreflightRequest } from '../../../model/gateway.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { OutsideReference } from '../../../model/plan/plan.ts';
import { nameOf } from '../../../model/resource.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import { namesOnlyPredecessor, replacementReference, findReplacements, unreadableReference } from '../shared/replacements.ts';
import { asArray, asText } from '../shared/rest.ts';
import { isOstiaryServer } from './preflight.ts';
import { service } from './service.ts';

const { path } = service.templates;

/** What has to be asked before a replacement is judged; our own gateway offers every runbook on all connections that have them enabled. */
export function preflightReads(proposal: PreflightRequest, answers: Handshake): readonly string[] {
  return isOstiaryServer(answers) || findReplacements(proposal).length === 0 ? [] : [path];
}

/** The runbooks that name a connection that is replaced, and not simply all that have runbooks enabled. */
export function referencesIn(proposal: PreflightRequest, inquired: PreflightAnswers): readonly OutsideReference[] {
  if (!inquired.has(path)) return [];
  const runbooks = readRunbooks(inquired.get(path));
  const enabled = enabledConnections(proposal);
  return findReplacements(proposal).flatMap((one) => {
    if (runbooks === undefined) return [unreadableReference('runbook', one)];
    return runbooks.flatMap((runbook) => {
      const names = connectionNames(runbook);
      const isAll = names.size === enabled.size && [...enabled].every((name) => names.has(name));
      if (isAll || !namesOnlyPredecessor([...names], one)) return [];
      return [replacementReference(one, { sort: 'runbook', name: asText(runbook['name']), how: `it runs on ${[...names].join(', ')}` })];
    });
  });
}

/** The runbooks that the gateway lists; none where it has no such thing, undefined where it does not tell. */
function readRunbooks(answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const items = isObject(answer) ? answer['items'] : undefined;
  return Array.isArray(items) ? items.filter((entry: Json) => isObject(entry)) : undefined;
}

function enabledConnections({ live }: PreflightRequest): ReadonlySet<string> {
  return new Set(live.resources.filter(({ spec }) => spec['access_mode_runbooks'] === 'enabled').map(({ id }) => nameOf(id)));
}

function connectionNames(runbook: JsonObject): ReadonlySet<string> {
  return new Set(asArray(runbook['connections']).filter((name) => typeof name === 'string'));
}
