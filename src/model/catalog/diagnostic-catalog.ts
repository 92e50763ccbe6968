import catalog from './diagnostics.json' with { type: 'json' };

/** The codes of one area, under one heading of the page of diagnostics. */
type CatalogSection = { readonly title: string; readonly about?: string; readonly codes: Readonly<Record<string, CatalogEntry>> };

/** The catalog in the order of the page of diagnostics. */
export const catalogSections: readonly CatalogSection[] = Object.values(catalog);

/** What a code means, why it occurs and what to do: the texts of the page of diagnostics, beside one message as an example. */
export type CatalogEntry = {
  /** How the code is usually reported: `warning`, `notice` or `refusal`; an error without it. */
  readonly level?: string;
  readonly meaning: string;
  readonly cause: string;
  readonly fix: string;
  readonly example: string;
};

/** Returns the texts of a code, with links as their texts; undefined for a word that is none, and for the code of a risk. */
export function findCatalogEntry(code: string): CatalogEntry | undefined {
  const found = catalogSections.find(({ codes }) => Object.hasOwn(codes, code))?.codes[code];
  if (found === undefined) return undefined;
  const { meaning, cause, fix } = found;
  return { ...found, meaning: withoutTargets(meaning), cause: withoutTargets(cause), fix: withoutTargets(fix) };
}

/** Replaces links, which lead from the page of diagnostics, by their texts. */
function withoutTargets(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}
