/**
 * Where an answer comes from: the commit that changed it last; `before` the history that a shallow clone has, or `older` than the commits that
 * were read, and then the oldest known commit with the answer; or it is not committed.
 */
export type AnswerOrigin =
  | { readonly state: 'committed' | 'before' | 'older'; readonly commit: string; readonly author: string; readonly time: string }
  | { readonly state: 'uncommitted' };

/** Returns the latest of some origins; undefined without any. */
export function latestOrigin(origins: readonly AnswerOrigin[]): AnswerOrigin | undefined {
  const timeOf = (origin: AnswerOrigin): string => (origin.state === 'uncommitted' ? '~' : origin.time);
  return origins.toSorted((left, right) => (timeOf(left) < timeOf(right) ? 1 : -1))[0];
}
