import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { Proposal } from '../../../model/gateway.ts';
import type { Answers } from '../../dialect.ts';
import { draftsOf } from '../draft.ts';
import { abilitiesOf } from './introduce.ts';
import { licenceProblems } from './licence.ts';
import { problemsOf } from './problems.ts';

/** What the gateway would refuse with an error of its database, ignore, or do otherwise than the manifests say. */
export function preflight(proposal: Proposal, answers: Answers): readonly Diagnostic[] {
  const abilities = abilitiesOf(answers);
  const drafts = draftsOf(proposal);
  return [
    ...drafts.flatMap((draft) => problemsOf(draft, { abilities, groups: proposal.live.groups })),
    ...(abilities.free ? licenceProblems(drafts, proposal.live) : []),
  ];
}
