import type { AllowedValues } from '../../../model/config.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { desiredById, type DesiredResource } from '../../../model/desired.ts';
import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import type { Refusal } from '../../../model/plan/plan.ts';
import { pointer } from '../../../model/pointer.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import {
  checkTexts,
  connectionChanges,
  diagnosticAt,
  manifestWrite,
  proposedWrites,
  refusalAt,
  type ProposedWrite,
  findReplacements,
  checkGroups,
} from '../rest.ts';
import { checkRequestRules } from './checks/access-request-rule.ts';
import { checkAttributes, isManagedAttribute, unreachableAttributes } from './checks/attribute.ts';
import { checkRunbookRules } from './checks/runbook-rule.ts';
import { type CheckContext, issueTemplatesPath, issueTemplateReads, readIssueTemplates, type LicenseLimit } from './checks/connection.ts';
import { accessRows } from './access.ts';
import { checkAccessGroups } from './checks/access-groups.ts';
import { readServerFeatures, type ServerFeatures, unknownFeatures } from './handshake.ts';
import { allowedTypes, hoopKinds } from './kinds.ts';
import {
  findBlockedDeletes,
  findEarlierNames,
  findReplacedReferences,
  findStaleNames,
  type InheritingReplacement,
  listsFor,
  type ReferringList,
  type ReferringObjects,
} from './references.ts';
import { readReferringObjects, referringPaths } from './referring-lists.ts';
import type { LiveState } from '../../../model/live.ts';
import { decidingLists, type DecidingList, type NamingConnections, type ObjectIdentity } from '../../../model/protection/access-objects.ts';
import { type EdgeEnds, kindOf, nameOf, type ResourceId } from '../../../model/resource.ts';
import { asArray, textsIn } from '../../../model/json.ts';

/** Lists what to read before a proposal is checked. */
export function preflightReads(proposal: PreflightRequest): readonly string[] {
  return [...issueTemplateReads(proposal), ...referringPaths(referringLists(changedConnections(proposal)))];
}

/**
 * Reports what the gateway would answer with an error of its database, ignore, or do differently from the manifests; and,
 * as refusals, what its license and its settings do not allow.
 */
export function preflight(proposal: PreflightRequest, handshake: Handshake, answers: PreflightAnswers): PreflightResult {
  const features = readServerFeatures(handshake);
  const writes = proposedWrites(proposal);
  const usedTypes = new Set(proposal.live.resources.flatMap(({ spec }) => (typeof spec['type'] === 'string' ? [spec['type']] : [])));
  const templates = readIssueTemplates(answers.get(issueTemplatesPath), proposal.live);
  const referring = findReferring(proposal, answers);
  return {
    diagnostics: [
      ...writes.flatMap((write) => checkWrite(write, { features, templates, usedTypes })),
      ...checkGroups('hoop/unknown-group', writes, proposal.live),
      ...checkAccessGroups(proposal, writes),
      ...checkRequestRules(proposal, writes),
      ...checkAttributes(proposal, writes),
      ...checkRunbookRules(proposal, writes),
      ...referring.diagnostics,
    ],
    refusals: [
      ...providerRefusals(writes, features),
      ...(features.hasFreeLicense ? licenseRefusals(writes, proposal.live) : []),
      ...unreachableAttributes(proposal),
      ...referring.refusals,
    ],
    indivisible: features.hasFreeLicense ? findIndivisible(writes) : new Map(),
    references: referring.references,
  };
}

/** Reports what every gateway of version 1.148 rejects in a manifest; types that the config allows are those of a later version. */
export function checkManifest(resource: DesiredResource, allowed: AllowedValues): readonly Diagnostic[] {
  const usedTypes = new Set(allowedTypes(allowed));
  return checkWrite(manifestWrite(resource), { features: unknownFeatures, templates: undefined, usedTypes });
}

function checkWrite(write: ProposedWrite, context: CheckContext): readonly Diagnostic[] {
  const ofKind = hoopKinds[write.kind]?.check?.(write, context) ?? [];
  return [...checkTexts('hoop/nul', write), ...ofKind, ...checkAttributeNames(write)];
}

// The size of its database column: a longer attribute fails after everything else is saved.
const maxAttributeLength = 255;

function checkAttributeNames(write: ProposedWrite): readonly Diagnostic[] {
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

/** Lists the lists of objects that may refer to connections which the plan replaces, deletes or creates. */
function referringLists({ replaced, deleted, created }: ChangedConnections): ReadonlySet<ReferringList> {
  return new Set([
    ...(replaced.length === 0 ? [] : listsFor.replaced),
    ...(deleted.length === 0 ? [] : listsFor.deleted),
    ...(created.length === 0 ? [] : listsFor.created),
  ]);
}

/** Finds what refers to connections that the plan replaces, deletes or creates. */
function findReferring(proposal: PreflightRequest, answers: PreflightAnswers): Omit<PreflightResult, 'indivisible'> {
  const changed = changedConnections(proposal);
  const objects = readReferringObjects(proposal.live, answers);
  const kept = withoutDetached(objects, proposal.plan);
  const stale = findStaleNames(kept, changed.deleted, new Set(proposal.desired.resources.map(({ key }) => key)));
  return {
    // A rule whose own manifest no longer names the predecessor leaves nothing behind.
    references: findReplacedReferences(withAttached(kept, proposal.plan), changed.replaced, changed.deleted),
    refusals: findBlockedDeletes(objects, changed.deleted),
    diagnostics: [...stale, ...findEarlierNames(objects, changed.created)],
  };
}

/** Returns the objects with the connections that the plan attaches to access-request rules and runbook rules. */
function withAttached(objects: ReferringObjects, { edges }: PreflightRequest['plan']): ReferringObjects {
  const attached = edges.filter(({ action }) => action === 'attach');
  return editRules(objects, attached, (connections, added) => [...connections, ...added]);
}

/** Returns the objects without the connections that the plan takes from access-request rules and runbook rules. */
function withoutDetached(objects: ReferringObjects, { edges }: PreflightRequest['plan']): ReferringObjects {
  const detached = edges.filter(({ action, by, rule }) => action === 'detach' && by === rule);
  return editRules(objects, detached, (connections, removed) => connections.filter((name) => !removed.includes(name)));
}

type EditNames = (connections: readonly string[], names: readonly string[]) => readonly string[];

/** Returns the objects with other connections of rules that some edges are about. */
function editRules(objects: ReferringObjects, edges: readonly EdgeEnds[], edit: EditNames): ReferringObjects {
  const edited = <Row extends ObjectIdentity & NamingConnections>(
    list: DecidingList,
    rows: readonly Row[] | undefined,
  ): readonly Row[] | undefined =>
    rows?.map((row) => {
      const own = edges.filter(({ rule }) => decidingLists[kindOf(rule)] === list && nameOf(rule) === row.name);
      const names = own.map(({ connection }) => nameOf(connection));
      return names.length === 0 ? row : { ...row, connections: edit(row.connections, names) };
    });
  return {
    ...objects,
    'access-request-rules': edited('access-request-rules', objects['access-request-rules']),
    'runbook-rules': edited('runbook-rules', objects['runbook-rules']),
  };
}

type ChangedConnections = {
  readonly replaced: readonly InheritingReplacement[];
  readonly deleted: readonly ResourceId[];
  readonly created: readonly DesiredResource[];
};

function changedConnections(proposal: PreflightRequest): ChangedConnections {
  const written = connectionChanges(proposal);
  const resources = desiredById(proposal.desired.resources);
  return {
    replaced: findReplacements(proposal).map((one) => {
      const { attributes, [accessRows.field]: groups } = resources.get(one.id)?.spec ?? {};
      return { ...one, attributes: textsIn(attributes), isGranted: Array.isArray(groups) };
    }),
    deleted: written.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])),
    created: written.flatMap(({ id, action }) => (action === 'create' ? (resources.get(id) ?? []) : [])),
  };
}
