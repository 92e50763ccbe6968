/** A name and an address as a commit states them; anybody can write any. */
export type AuthorAddress = { readonly name: string; readonly email: string };

/** A commit, and everybody who made it: its author, its committer, and the co-authors that its message names. */
export type AuthoredCommit = {
  readonly id: string;
  readonly author: AuthorAddress;
  readonly committer: AuthorAddress;
  readonly coAuthors: readonly AuthorAddress[];
};
