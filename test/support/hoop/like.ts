/** Returns whether a text is like an SQL pattern, in which `%` and `_` are wildcards. */
export function matchesLike(text: string, pattern: string, flags: '' | 'i' = ''): boolean {
  const source = pattern.replaceAll(/[\\^$.*+?()[\]{}|/]|%|_/g, (char) => {
    if (char === '%') return '[\\s\\S]*';
    return char === '_' ? '[\\s\\S]' : `\\${char}`;
  });
  return new RegExp(`^${source}$`, `${flags}u`).test(text);
}

/** The order in which the database gives back names. */
export function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

/** The message of a name outside the rule for names of connections, agents and access rules; undefined when it is inside. */
export function nameProblem(name: string): string | undefined {
  const words = name.split(/[-.]/);
  const letters = words.join('');
  const fits = words.every((word) => /^\w+$/.test(word)) && letters.length >= 3 && words.length <= 254;
  return fits ? undefined : 'name: it must contain between 3 and 254 alphanumeric characters, it may include (-), (_) or (.) characters';
}
