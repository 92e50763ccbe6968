import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import type { Refusal } from '../../../model/plan/plan.ts';
import { pointer } from '../../../model/pointer.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import { checkTexts } from '../shared/check-texts.ts';
import { diagnosticAt, proposedWrites, refusalAt, type ProposedWrite } from '../shared/proposed-writes.ts';
import { asArray } from '../shared/rest.ts';
import type { CheckContext } from './checks/check-context.ts';
import { issueTemplatesPath, issueTemplateReads, readIssueTemplates } from './checks/issue-templates.ts';
import { findIndivisible, licenseRefusals } from './checks/license.ts';
import { findReferences, referenceReads } from './checks/references.ts';
import { readServerFeatures, type ServerFeatures } from './handshake.ts';
import { hoopKinds } from './kinds.ts';

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
      const message = `an attribute has ${Array.from(attribute).length} characters, more than the gateway has room for`;
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
    hint: 'leave it out; it is carried by every write',
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
        message: 'the gateway has no data masking provider, so it refuses every write of a masking rule',
        hint: 'set DLP_PROVIDER on the gateway, or take the rule out of this target',
      }),
    );
}
