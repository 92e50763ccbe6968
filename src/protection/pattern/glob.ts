/** Returns whether a name matches a glob: `*` matches any characters, `?` one. Backtracks only to the last star. */
export function matchesGlob(pattern: string, name: string): boolean {
  let [at, star, back] = [0, -1, 0];
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at;
      back = index;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      back += 1;
      index = back;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
