/** How lists name people in no group that decides anything. */
export const everybodyElse = '(everybody)';

/** Returns people who are in all of some groups: `payments+sre`. */
export function peopleText(groups: readonly string[]): string {
  return groups.length === 0 ? everybodyElse : joinQuoted(groups, '+');
}

/** Joins names; one that contains the mark between them is in quotes. */
export function joinQuoted(names: readonly string[], between: string): string {
  const mark = between.trim();
  return names.map((name) => (name.includes(mark) ? JSON.stringify(name) : name)).join(between);
}
