/** What a code means, why it occurs and what to do: the texts of the page of diagnostics, beside one message as an example. */
export type CatalogEntry = {
  /** How the code is usually reported; an error unless it is set. */
  readonly level?: 'warning' | 'notice' | 'refusal';
  readonly meaning: string;
  readonly cause: string;
  readonly fix: string;
  readonly example: string;
};
