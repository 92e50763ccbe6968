/** A table of pairs that can be queried from both sides. */
export class LinkTable {
  readonly #rights = new Map<string, Set<string>>();
  readonly #lefts = new Map<string, Set<string>>();

  add(left: string, right: string): void {
    bucket(this.#rights, left).add(right);
    bucket(this.#lefts, right).add(left);
  }

  remove(left: string, right: string): void {
    this.#rights.get(left)?.delete(right);
    this.#lefts.get(right)?.delete(left);
  }

  has(left: string, right: string): boolean {
    return this.#rights.get(left)?.has(right) ?? false;
  }

  rightsOf(left: string): readonly string[] {
    return [...(this.#rights.get(left) ?? [])];
  }

  leftsOf(right: string): readonly string[] {
    return [...(this.#lefts.get(right) ?? [])];
  }

  /** Returns all pairs. */
  pairs(): readonly (readonly [string, string])[] {
    return [...this.#rights].flatMap(([left, rights]) => [...rights].map((right): readonly [string, string] => [left, right]));
  }

  /** Replaces the rights of a left. */
  setRights(left: string, rights: Iterable<string>): void {
    this.dropLeft(left);
    for (const right of rights) this.add(left, right);
  }

  /** Replaces the lefts of a right. */
  setLefts(right: string, lefts: Iterable<string>): void {
    this.dropRight(right);
    for (const left of lefts) this.add(left, right);
  }

  dropLeft(left: string): void {
    for (const right of this.rightsOf(left)) this.remove(left, right);
  }

  dropRight(right: string): void {
    for (const left of this.leftsOf(right)) this.remove(left, right);
  }

  renameLeft(before: string, after: string): void {
    const rights = this.rightsOf(before);
    this.dropLeft(before);
    for (const right of rights) this.add(after, right);
  }

  renameRight(before: string, after: string): void {
    const lefts = this.leftsOf(before);
    this.dropRight(before);
    for (const left of lefts) this.add(left, after);
  }
}

function bucket(buckets: Map<string, Set<string>>, key: string): Set<string> {
  const found = buckets.get(key) ?? new Set<string>();
  buckets.set(key, found);
  return found;
}
