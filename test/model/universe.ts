/** A finite set of texts: one of each class that the matchers of a pool distinguish. */
export type TextUniverse<Matcher extends string> = {
  readonly texts: readonly string[];
  /** The texts that one matcher matches, one bit each. */
  readonly bits: (matcher: Matcher) => bigint;
};

/**
 * Collects one text for each set of matchers that match together, from all sequences of up to `longest` fragments. Two lists of
 * matchers that differ on any such sequence also differ in this universe.
 */
export function createUniverse<Matcher extends string>(
  matchers: readonly Matcher[],
  matches: (matcher: Matcher, text: string) => boolean,
  { fragments, longest }: { readonly fragments: readonly string[]; readonly longest: number },
): TextUniverse<Matcher> {
  const classes = new Map<string, string>();
  for (const text of sequences(fragments, longest)) {
    const key = matchers.map((matcher) => (matches(matcher, text) ? '1' : '0')).join('');
    if (!classes.has(key)) classes.set(key, text);
  }
  const texts = [...classes.values()];
  const known = new Map(matchers.map((matcher) => [matcher, bitsOf(texts, (text) => matches(matcher, text))]));
  return {
    texts,
    bits(matcher) {
      const found = known.get(matcher);
      if (found === undefined) throw new Error(`the pool does not contain ${matcher}`);
      return found;
    },
  };
}

function* sequences(fragments: readonly string[], longest: number): Generator<string> {
  yield '';
  if (longest === 0) return;
  for (const rest of sequences(fragments, longest - 1)) for (const fragment of fragments) yield fragment + rest;
}

/** Returns the set of the elements for which the test is true, one bit each. */
export function bitsOf<Element>(elements: readonly Element[], test: (element: Element) => boolean): bigint {
  return elements.reduce((bits, element, index) => (test(element) ? bits | (1n << BigInt(index)) : bits), 0n);
}

/** Returns all subsets of a list. */
export function subsetsOf<Element>(elements: readonly Element[]): readonly (readonly Element[])[] {
  return elements.reduce<readonly (readonly Element[])[]>((sets, element) => [...sets, ...sets.map((set) => [...set, element])], [[]]);
}

/** Compiles a pattern of the pools, which have the same meaning in JavaScript and in RE2 except for the leading `(?i)`. */
export function patternMatcher(pattern: string): RegExp {
  const isFolded = pattern.startsWith('(?i)');
  return new RegExp(isFolded ? pattern.slice(4) : pattern, isFolded ? 'i' : '');
}
