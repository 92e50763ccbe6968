/**
 * Where a line comes from: the commit that changed it last; `before` the history that a shallow clone has, and then the oldest commit
 * with the line is known; or it is not committed.
 */
export type LineOrigin =
  | { readonly state: 'committed' | 'before'; readonly commit: string; readonly author: string; readonly time: string }
  | { readonly state: 'uncommitted' };

/** Returns the latest of some origins. Of the same second, a known commit counts. */
export function latestOrigin(origins: readonly (LineOrigin | undefined)[]): LineOrigin {
  let latest: LineOrigin | undefined;
  for (const origin of origins) {
    if (origin === undefined || latest?.state === 'uncommitted') continue;
    if (latest === undefined || origin.state === 'uncommitted' || origin.time > latest.time) latest = origin;
    else if (origin.time === latest.time && latest.state === 'before') latest = origin;
  }
  return latest ?? { state: 'uncommitted' };
}
