import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import { asText, isObject, type JsonObject, textsIn, objectsIn } from '../../../model/json.ts';
import type { OutsideReference } from '../../../model/plan/plan.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { pointer, tokensOf } from '../../../model/pointer.ts';
import { nameOf } from '../../../model/resource.ts';
import {
  identityProblem,
  narrowedProblems,
  resourceNameProblem,
  secretValueSchema,
  servedRules,
  unmetReason,
  type ServedProblem,
  type ServedRules,
} from '../../../model/served-rules.ts';
import type { Handshake, PreflightAnswers, WireList } from '../../dialect.ts';
import {
  checkTexts,
  diagnosticAt,
  type ProposedWrite,
  proposedWrites,
  findReplacements,
  namesOnlyPredecessor,
  replacementReference,
  unreadableReference,
  checkGroups,
} from '../rest.ts';
import { isOstiaryServer } from './handshake.ts';
import { restList } from '../rest.ts';

/** Where runbooks are listed. */
export const templates: WireList = restList('/plugins/runbooks/templates');

/** Lists what to read before a replacement is checked; `ostiary serve` offers each runbook on all connections that have runbooks enabled. */
export function preflightReads(proposal: PreflightRequest, handshake: Handshake): readonly string[] {
  return isOstiaryServer(handshake) || findReplacements(proposal).length === 0 ? [] : [templates.path];
}

/**
 * Reports texts that the gateway cannot store, values that `ostiary serve` rejects, groups that the gateway does not have, and
 * runbooks that name a replaced connection.
 */
export function preflight(proposal: PreflightRequest, handshake: Handshake, answers: PreflightAnswers): PreflightResult {
  const writes = proposedWrites(proposal);
  return {
    diagnostics: [
      ...writes.flatMap((write) => [...checkTexts('interface/nul', write), ...(isOstiaryServer(handshake) ? checkServed(write) : [])]),
      ...checkGroups('interface/unknown-group', writes, proposal.live),
    ],
    refusals: [],
    indivisible: new Map(),
    references: answers.has(templates.path) ? findReferences(proposal, answers.get(templates.path)) : [],
  };
}

/** Reports what the validation of `ostiary serve` rejects; it has the same requirements. */
function checkServed(write: ProposedWrite): readonly Diagnostic[] {
  const rules = servedRules[write.kind] ?? {};
  return [...narrowedProblems(rules.narrowed ?? {}, write.spec), ...secretProblems(write), ...nameProblems(write, rules)].map(
    ({ path, reason }) =>
      diagnosticAt(write, path, {
        code: 'interface/rejected-value',
        message: `ostiary serve rejects ${path === '' ? 'the name' : tokensOf(path).join('.')}: it ${reason}`,
        hint: 'change the value; another gateway may accept it',
      }),
  );
}

function nameProblems({ name, spec, resource }: ProposedWrite, rules: ServedRules): readonly ServedProblem[] {
  const identity = identityProblem(rules, nameOf(resource.key));
  const field = rules.resourceField;
  const given = field === undefined ? '' : asText(spec[field]);
  const resourceName = field === undefined ? undefined : resourceNameProblem(given === '' ? name : given);
  return [
    ...(identity === undefined ? [] : [{ path: '', reason: identity }]),
    ...(field === undefined || resourceName === undefined ? [] : [{ path: pointer(field), reason: resourceName }]),
  ];
}

/** Checks the values in maps of secrets; a plain secret has no form. */
function secretProblems({ resource }: ProposedWrite): readonly ServedProblem[] {
  return Object.entries(resource.secrets).flatMap(([path, secret]) => {
    if (secret.state !== 'value' || tokensOf(path).length < 2) return [];
    const reason = unmetReason(secretValueSchema, secret.reveal());
    return reason === undefined ? [] : [{ path, reason }];
  });
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
  return Array.isArray(items) ? objectsIn(items) : undefined;
}

function enabledConnections({ live }: PreflightRequest): ReadonlySet<string> {
  return new Set(live.resources.filter(({ spec }) => spec['access_mode_runbooks'] === 'enabled').map(({ id }) => nameOf(id)));
}

function connectionNames(runbook: JsonObject): ReadonlySet<string> {
  return new Set(textsIn(runbook['connections']));
}
