import type { PreflightResult, PreflightRequest } from '../../../model/gateway.ts';
import type { Handshake, PreflightAnswers } from '../../dialect.ts';
import { proposedWrites } from '../shared/proposed-writes.ts';
import { readServerFeatures } from './handshake.ts';
import { findIndivisible, licenseRefusals } from './checks/license.ts';
import { providerRefusals } from './checks/data-masking-rule.ts';
import { checkWrite } from './checks/problems.ts';
import { referenceReads, referencesIn } from './checks/references.ts';
import { templateReads, readIssueTemplates, issueTemplatesPath } from './checks/issue-templates.ts';

/** What has to be asked before a proposal is judged. */
export function preflightReads(proposal: PreflightRequest): readonly string[] {
  return [...templateReads(proposal), ...referenceReads(proposal)];
}

/**
 * What the gateway would answer with an error of its database, ignore, or do otherwise than the manifests say; and,
 * apart from it, what its licence and its settings do not let anybody write.
 */
export function preflight(proposal: PreflightRequest, answers: Handshake, inquired: PreflightAnswers): PreflightResult {
  const abilities = readServerFeatures(answers);
  const drafts = proposedWrites(proposal);
  const { groups } = proposal.live;
  const usedTypes = new Set(proposal.live.resources.flatMap(({ spec }) => (typeof spec['type'] === 'string' ? [spec['type']] : [])));
  const templates = readIssueTemplates(inquired.get(issueTemplatesPath), proposal.live);
  return {
    diagnostics: drafts.flatMap((draft) => checkWrite(draft, { abilities, groups, templates, usedTypes })),
    refusals: [...providerRefusals(drafts, abilities), ...(abilities.free ? licenseRefusals(drafts, proposal.live) : [])],
    indivisible: abilities.free ? findIndivisible(drafts) : new Map(),
    references: referencesIn(proposal, inquired),
  };
}
