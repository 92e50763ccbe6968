import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { OutsideReference } from '../../../model/plan/plan.ts';
import { nameOf } from '../../../model/resource.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import {
  checkTexts,
  proposedWrites,
  findReplacements,
  namesOnlyPredecessor,
  replacementReference,
  unreadableReference,
  checkGroups,
  asArray,
  asText,
} from '../rest.ts';
import { isOstiaryServer } from './handshake.ts';
import { service } from './service.ts';

const runbooksPath = service.templates.path;

/** Lists what to read before a replacement is checked; `ostiary serve` offers each runbook on all connections that have runbooks enabled. */
export function preflightReads(proposal: PreflightRequest, handshake: Handshake): readonly string[] {
  return isOstiaryServer(handshake) || findReplacements(proposal).length === 0 ? [] : [runbooksPath];
}

/** Reports texts that the gateway cannot store, groups that it does not have, and runbooks that name a replaced connection. */
export function preflight(proposal: PreflightRequest, _: Handshake, answers: PreflightAnswers): PreflightResult {
  return {
    diagnostics: proposedWrites(proposal).flatMap((write) => [
      ...checkTexts('interface/nul', write),
      ...checkGroups('interface/unknown-group', write, proposal.live.groups),
    ]),
    refusals: [],
    indivisible: new Map(),
    references: answers.has(runbooksPath) ? findReferences(proposal, answers.get(runbooksPath)) : [],
  };
}

/** Finds the runbooks that name a replaced connection, except those that list every connection with runbooks enabled. */
function findReferences(proposal: PreflightRequest, answer: unknown): readonly OutsideReference[] {
  const runbooks = readRunbooks(answer);
  const enabled = enabledConnections(proposal);
  return findReplacements(proposal).flatMap((replacement) => {
    if (runbooks === undefined) return [unreadableReference('runbook', replacement)];
    return runbooks.flatMap((runbook) => {
      const names = connectionNames(runbook);
      const isAll = names.size === enabled.size && [...enabled].every((name) => names.has(name));
      if (isAll || !namesOnlyPredecessor([...names], replacement)) return [];
      const how = `it runs on ${[...names].join(', ')}`;
      return [replacementReference(replacement, { sort: 'runbook', name: asText(runbook['name']), how })];
    });
  });
}

/** Returns the runbooks that the gateway lists; an empty list where it has no such thing, undefined where it does not show them. */
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
