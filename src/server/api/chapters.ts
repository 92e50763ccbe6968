import { agentChapter } from '../agent-chapter.ts';
import { auditChapter } from '../audit-chapter.ts';
import { collectionChapter } from '../collection-chapter.ts';
import type { Collection } from '../collections.ts';
import { identityChapter } from '../identity-chapter.ts';
import { resourceChapter } from '../resource-chapter.ts';
import { reviewChapter } from '../reviews/review-chapter.ts';
import { runbookChapter } from '../runbooks/runbook-routes.ts';
import { searchChapter } from '../search-chapter.ts';
import type { Chapter } from './operation.ts';
import { serviceChapter } from './service-chapter.ts';

/** All that the gateway serves, in the order in which its document tells it. */
export function chaptersOf(collections: readonly Collection[]): readonly Chapter[] {
  return [
    ...collections.map((collection) => collectionChapter(collection)),
    resourceChapter,
    reviewChapter,
    runbookChapter,
    searchChapter,
    agentChapter,
    identityChapter,
    auditChapter,
    serviceChapter,
  ];
}
