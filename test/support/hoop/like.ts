/** Returns whether a text is like an SQL pattern, in which `%` and `_` are wildcards, unless a backslash precedes them. */
export function matchesLike(text: string, pattern: string, flags: '' | 'i' = ''): boolean {
  const source = pattern.replaceAll(/(\\?)([\s\S])/gu, (_, escape: string, char: string) => {
    if (escape === '' && char === '%') return '[\\s\\S]*';
    if (escape === '' && char === '_') return '[\\s\\S]';
    return char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  });
  return new RegExp(`^${source}$`, `${flags}u`).test(text);
}

/** Compares names in the order of the database. */
export function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

/** Returns the message for an invalid name of a connection, agent or access rule; undefined for a valid one. */
export function nameProblem(name: string): string | undefined {
  const words = name.split(/[-.]/);
  const letters = words.join('');
  const fits = words.every((word) => /^\w+$/.test(word)) && letters.length >= 3 && words.length <= 254;
  return fits ? undefined : 'name: it must contain between 3 and 254 alphanumeric characters, it may include (-), (_) or (.) characters';
}
