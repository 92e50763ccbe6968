import type { Foresight, Proposal } from '../../../model/gateway.ts';
import type { Answers, Inquired } from '../../dialect.ts';
import { draftsOf } from '../draft.ts';
import { abilitiesOf } from './introduce.ts';
import { indivisibleOf, licenceRefusals } from './licence.ts';
import { providerRefusals } from './masking-problems.ts';
import { problemsOf } from './problems.ts';
import { referenceInquiries, referencesIn } from './references.ts';
import { templateInquiries, templatesOf, templatesPath } from './templates.ts';

/** What has to be asked before a proposal is judged. */
export function inquiries(proposal: Proposal): readonly string[] {
  return [...templateInquiries(proposal), ...referenceInquiries(proposal)];
}

/**
 * What the gateway would answer with an error of its database, ignore, or do otherwise than the manifests say; and,
 * apart from it, what its licence and its settings do not let anybody write.
 */
export function preflight(proposal: Proposal, answers: Answers, inquired: Inquired): Foresight {
  const abilities = abilitiesOf(answers);
  const drafts = draftsOf(proposal);
  const { groups } = proposal.live;
  const usedTypes = new Set(proposal.live.resources.flatMap(({ spec }) => (typeof spec['type'] === 'string' ? [spec['type']] : [])));
  const templates = templatesOf(inquired.get(templatesPath), proposal.live);
  return {
    diagnostics: drafts.flatMap((draft) => problemsOf(draft, { abilities, groups, templates, usedTypes })),
    refusals: [...providerRefusals(drafts, abilities), ...(abilities.free ? licenceRefusals(drafts, proposal.live) : [])],
    indivisible: abilities.free ? indivisibleOf(drafts) : new Map(),
    references: referencesIn(proposal, inquired),
  };
}
