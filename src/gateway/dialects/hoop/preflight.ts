import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import type { Refusal } from '../../../model/plan/plan.ts';
import { pointer } from '../../../model/pointer.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import { checkTexts, diagnosticAt, proposedWrites, refusalAt, type ProposedWrite, asArray } from '../rest.ts';
import { type CheckContext, issueTemplatesPath, issueTemplateReads, readIssueTemplates, type LicenseLimit } from './checks/connection.ts';
import { findReferences, referenceReads } from './checks/references.ts';
import { readServerFeatures, type ServerFeatures } from './handshake.ts';
import { hoopKinds } from './kinds.ts';
import type { LiveState } from '../../../model/live.ts';
import { kindOf, type ResourceId } from '../../../model/resource.ts';

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
export function licenseRefusals(writes: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const limitedKinds = Object.keys(hoopKinds).filter((kind) => hoopKinds[kind]?.licenseLimits !== undefined);
  return [
    ...limitedKinds.flatMap((kind) => surplusRefusals(kind, writes, live)),
    ...writes.flatMap((write) => limitsOf(write).map((limit) => licenseRefusal(write, limit))),
  ];
}

/** Lists the rules that the free license allows in their final state but not joined with their live state, and why. */
export function findIndivisible(writes: readonly ProposedWrite[]): ReadonlyMap<ResourceId, string> {
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
  return refusalAt(write, at, { code: 'hoop/licence', message, hint });
}
