import type { Position } from '../diagnostic.ts';
import type { AccessExpectation } from './access-test.ts';

/** The most that may ever be granted, beside the manifests. */
export type AccessReference = {
  readonly name: string;
  readonly at: Position;
  /** What groups may do where no entry is about them. */
  readonly others: 'denied' | 'unrestricted';
  readonly entries: readonly ReferenceEntry[];
};

/** The most that one group, or `*`, may have; `expect` is the most, and `forcedBy` is always known. */
export type ReferenceEntry = AccessExpectation & { readonly groups: readonly string[] };

/** The kind of documents with the most that may be granted. */
export const accessReferenceKind = 'AccessReference';

/** The group of an entry about all groups that no other entry is about. */
export const everyGroup = '*';
