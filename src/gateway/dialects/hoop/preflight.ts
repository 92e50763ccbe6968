import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import type { Refusal, OutsideReference } from '../../../model/plan/plan.ts';
import { pointer } from '../../../model/pointer.ts';
import type { Handshake, PreflightAnswers, WireList } from '../../dialect.ts';
import {
  checkTexts,
  diagnosticAt,
  proposedWrites,
  refusalAt,
  type ProposedWrite,
  namesOnlyPredecessor,
  replacementReference,
  findReplacements,
  unreadableReference,
  type ConnectionReplacement,
  restList,
} from '../rest.ts';
import { type CheckContext, issueTemplatesPath, issueTemplateReads, readIssueTemplates, type LicenseLimit } from './checks/connection.ts';
import { readServerFeatures, type ServerFeatures } from './handshake.ts';
import { hoopKinds, accessRules } from './kinds.ts';
import type { LiveState } from '../../../model/live.ts';
import { kindOf, type ResourceId } from '../../../model/resource.ts';
import { asArray, asText, isObject, type Json, type JsonObject } from '../../../model/json.ts';

/** Lists what to read before a proposal is checked. */
export function preflightReads(proposal: PreflightRequest): readonly string[] {
  return [...issueTemplateReads(proposal), ...referenceReads(proposal)];
}

/**
 * Reports what the gateway would answer with an error of its database, ignore, or do differently from the manifests; and,
 * as refusals, what its license and its settings do not allow.
 */
export function preflight(proposal: PreflightRequest, handshake: Handshake, answers: PreflightAnswers): PreflightResult {
  const features = readServerFeatures(handshake);
  const writes = proposedWrites(proposal);
  const { groups } = proposal.live;
  const usedTypes = new Set(proposal.live.resources.flatMap(({ spec }) => (typeof spec['type'] === 'string' ? [spec['type']] : [])));
  const templates = readIssueTemplates(answers.get(issueTemplatesPath), proposal.live);
  return {
    diagnostics: writes.flatMap((write) => checkWrite(write, { features, groups, templates, usedTypes })),
    refusals: [...providerRefusals(writes, features), ...(features.hasFreeLicense ? licenseRefusals(writes, proposal.live) : [])],
    indivisible: features.hasFreeLicense ? findIndivisible(writes) : new Map(),
    references: findReferences(proposal, answers),
  };
}

function checkWrite(write: ProposedWrite, context: CheckContext): readonly Diagnostic[] {
  const ofKind = hoopKinds[write.kind]?.check(write, context) ?? [];
  return [...checkTexts('hoop/nul', write), ...ofKind, ...checkAttributes(write)];
}

// The size of its database column: a longer attribute fails after everything else is saved.
const maxAttributeLength = 255;

function checkAttributes(write: ProposedWrite): readonly Diagnostic[] {
  return asArray(write.spec['attributes']).flatMap((attribute) => {
    if (typeof attribute !== 'string') return [];
    const at = pointer('attributes', attribute);
    if (Array.from(attribute).length > maxAttributeLength) {
      const message = `an attribute has ${Array.from(attribute).length} characters, more than the gateway can store`;
      return [diagnosticAt(write, at, { code: 'hoop/too-long', message, hint: `at most ${maxAttributeLength}` })];
    }
    return isManagedAttribute(attribute) ? [managedAttribute(write, attribute)] : [];
  });
}

/** Returns whether the gateway sets and removes the attribute itself: it belongs to a protection profile. */
function isManagedAttribute(attribute: string): boolean {
  return attribute.startsWith('hoop_protection_profile-');
}

function managedAttribute(write: ProposedWrite, attribute: string): Diagnostic {
  return diagnosticAt(write, pointer('attributes', attribute), {
    code: 'hoop/managed-attribute',
    message: `the attribute "${attribute}" is managed by the gateway’s protection profile`,
    hint: 'remove it; every write keeps it',
  });
}

/** Refuses every write that needs a masking provider where the gateway has none. */
function providerRefusals(writes: readonly ProposedWrite[], { hasMaskingProvider }: ServerFeatures): readonly Refusal[] {
  if (hasMaskingProvider) return [];
  return writes
    .filter(({ kind }) => hoopKinds[kind]?.needsMaskingProvider === true)
    .map((write) =>
      refusalAt(write, '', {
        code: 'hoop/no-masking-provider',
        message: 'the gateway has no data masking provider and rejects every write of a masking rule',
        hint: 'set DLP_PROVIDER on the gateway, or remove the rule from this target',
      }),
    );
}

/** Lists what the free license refuses: a second rule of a kind, and rules with more than one entry. */
function licenseRefusals(writes: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const limitedKinds = Object.keys(hoopKinds).filter((kind) => hoopKinds[kind]?.licenseLimits !== undefined);
  return [
    ...limitedKinds.flatMap((kind) => surplusRefusals(kind, writes, live)),
    ...writes.flatMap((write) => limitsOf(write).map((limit) => licenseRefusal(write, limit))),
  ];
}

/** Lists the rules that the free license allows in their final state but not joined with their live state, and why. */
function findIndivisible(writes: readonly ProposedWrite[]): ReadonlyMap<ResourceId, string> {
  return new Map(
    writes.flatMap((write) => {
      if (write.joined === undefined || limitsOf(write).length > 0) return [];
      const [first] = limitsOf({ ...write, spec: write.joined });
      return first === undefined ? [] : [[write.resource.id, first.message] as const];
    }),
  );
}

function limitsOf(write: ProposedWrite): readonly LicenseLimit[] {
  return hoopKinds[write.kind]?.licenseLimits?.(write) ?? [];
}

function surplusRefusals(kind: string, writes: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const present = live.resources.filter(({ id }) => kindOf(id) === kind).length;
  const created = writes.filter((write) => write.kind === kind && write.creates);
  const message = `the free license allows one ${kind}, but there would be ${present + created.length}`;
  return created.slice(Math.max(0, 1 - present)).map((write) => licenseRefusal(write, { at: '', message }));
}

function licenseRefusal(write: ProposedWrite, { at, message }: LicenseLimit): Refusal {
  const hint = 'the gateway has the free license; an enterprise license has no such limit';
  return refusalAt(write, at, { code: 'hoop/license', message, hint });
}

/** A list of the gateway whose rows name connections and that manifests do not contain. */
type ReferenceSource = {
  readonly list: WireList;
  readonly sort: string;
  readonly names: (row: JsonObject) => readonly Json[];
  readonly how: (row: JsonObject) => string;
};

// These plugins follow from the connections themselves.
const derived: ReadonlySet<Json | undefined> = new Set(['audit', 'indexer', 'editor', 'dlp', 'review']);

const sources: readonly ReferenceSource[] = [
  {
    list: accessRules.list,
    sort: 'access-request rule',
    names: (row) => asArray(row['connection_names']),
    how: (row) => accessRules.read(row)?.text ?? '',
  },
  { list: restList('/runbooks/rules'), sort: 'runbook rule', names: (row) => asArray(row['connections']), how: describeRunbooks },
  {
    list: restList('/rulepacks?page=1&page_size=100'),
    sort: 'rulepack',
    names: (row) => asArray(row['connection_names']),
    how: () => 'its guardrails and masking rules protect the connection',
  },
  {
    list: restList('/ai/session-analyzer/rules'),
    sort: 'session analyzer rule',
    names: (row) => asArray(row['connection_names']),
    how: () => 'it blocks sessions, or asks for a review of them, by their risk',
  },
  { list: restList('/plugins'), sort: 'plugin', names: namesInPlugin, how: () => 'it is set up for each connection' },
];

/** Lists what to read before a replacement is checked. */
function referenceReads(proposal: PreflightRequest): readonly string[] {
  return findReplacements(proposal).length === 0 ? [] : sources.map((source) => source.list.path);
}

/** Finds what names a replaced connection, other than attributes, which its successor inherits. */
function findReferences(proposal: PreflightRequest, answers: PreflightAnswers): readonly OutsideReference[] {
  const replacements = findReplacements(proposal);
  if (replacements.length === 0) return [];
  return sources.flatMap((source) => {
    const rows = wholeRows(source, answers.get(source.list.path));
    return replacements.flatMap((replacement) =>
      rows === undefined ? [unreadableReference(source.sort, replacement)] : referencesFrom(source, rows, replacement),
    );
  });
}

/** Returns the rows of a complete list; an empty list where the gateway has no such thing, undefined where the list is incomplete. */
function wholeRows(source: ReferenceSource, answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const found = source.list.rows(answer);
  if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
  const rows = found.rows.filter(isObject);
  return rows.length === found.rows.length ? rows : undefined;
}

function referencesFrom(
  { sort, names, how }: ReferenceSource,
  rows: readonly JsonObject[],
  replacement: ConnectionReplacement,
): readonly OutsideReference[] {
  return rows
    .filter((row) => namesOnlyPredecessor(names(row), replacement))
    .map((row) => replacementReference(replacement, { sort, name: asText(row['name'] ?? row['display_name']), how: how(row) }));
}

function namesInPlugin(row: JsonObject): readonly Json[] {
  if (derived.has(row['name'])) return [];
  return asArray(row['connections']).flatMap((entry) =>
    isObject(entry) && entry['name'] !== undefined && isSetUpFor(row, entry) ? [entry['name']] : [],
  );
}

/** Returns whether the plugin is set up for the connection: every connection has the chat plugin, but only some have a config for it. */
function isSetUpFor({ name }: JsonObject, entry: JsonObject): boolean {
  return name !== 'slack' || asArray(entry['config']).length > 0;
}

function describeRunbooks(row: JsonObject): string {
  const files = asArray(row['runbooks']).flatMap((file) =>
    isObject(file) ? [`${asText(file['repository'])}:${asText(file['name'])}`] : [],
  );
  const groups = asArray(row['user_groups']).map(asText);
  return `${files.join(', ') || 'all runbooks'} for ${groups.join(', ') || 'everybody'}`;
}
