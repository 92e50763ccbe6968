/** More combinations of positions are not visited. */
const mostStates = 20_000;

/**
 * Lists which of some globs match a name together, for all names but the empty one: each set of indexes once. `*` matches any characters, and nothing else is
 * special. Returns undefined where that takes too long.
 */
export function matchingSets(globs: readonly string[]): readonly ReadonlySet<number>[] | undefined {
  const letters = [...new Set(globs.join('').replaceAll('*', '')), undefined];
  const start = globs.map((glob) => afterStars(glob, [0]));
  const known = new Map([[stateKey(start), start]]);
  const found = new Map<string, ReadonlySet<number>>();
  for (const state of known.values()) {
    for (const letter of letters) {
      const next = globs.map((glob, index) => step(glob, state[index] ?? [], letter));
      const matched = globs.flatMap((glob, index) => (next[index]?.includes(glob.length) === true ? [index] : []));
      found.set(matched.join(), new Set(matched));
      const key = stateKey(next);
      if (known.has(key)) continue;
      if (known.size === mostStates) return undefined;
      known.set(key, next);
    }
  }
  return [...found.values()];
}

function stateKey(state: readonly (readonly number[])[]): string {
  return state.map((positions) => positions.join()).join(';');
}

/** Returns the positions of a glob after one letter; undefined stands for every letter that no glob has. */
function step(glob: string, positions: readonly number[], letter: string | undefined): readonly number[] {
  const next = positions.flatMap((at) => (glob[at] === '*' ? [at] : glob[at] !== undefined && glob[at] === letter ? [at + 1] : []));
  return afterStars(glob, next);
}

/** Adds the positions behind stars, which match nothing, too. */
function afterStars(glob: string, positions: readonly number[]): readonly number[] {
  const all = new Set(positions);
  for (const at of all) if (glob[at] === '*') all.add(at + 1);
  return [...all].toSorted((one, other) => one - other);
}
