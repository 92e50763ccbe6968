import { agentSection } from '../agents/agents.openapi.ts';
import { auditSection } from '../audit/audit.openapi.ts';
import { collectionSection } from '../objects/objects.openapi.ts';
import type { Collection } from '../collections.ts';
import { identitySection } from '../auth/identity.openapi.ts';
import { resourceSection } from '../resources/resources.openapi.ts';
import { reviewSection } from '../reviews/reviews.openapi.ts';
import { runbookSection } from '../runbooks/runbook-routes.ts';
import { searchSection } from '../search/search.openapi.ts';
import type { ApiSection } from './api-section.ts';
import { serviceSection } from './service.openapi.ts';

/** All that the gateway serves, in the order in which its document tells it. */
export function apiSections(collections: readonly Collection[]): readonly ApiSection[] {
  return [
    ...collections.map((collection) => collectionSection(collection)),
    resourceSection,
    reviewSection,
    runbookSection,
    searchSection,
    agentSection,
    identitySection,
    auditSection,
    serviceSection,
  ];
}
