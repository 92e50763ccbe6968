import { asObject, type Json, type JsonObject } from './json.ts';
import type { ResourceId } from './resource.ts';

/** The resources of a run by name and tag; without any term, all of them. */
export type ResourceSelection = {
  /** `KIND/NAME` or patterns with `*` and `?`; a resource must match one of them. */
  readonly only?: readonly string[];
  /** `KEY=VALUE`; a resource must have all of these tags. */
  readonly tag?: readonly string[];
  /** `KIND/NAME` or patterns; a resource must match none of them. */
  readonly exclude?: readonly string[];
};

/** A resource that may be selected, desired or live. */
type SelectableResource = { readonly id: ResourceId; readonly spec: JsonObject };

/** A term of a selection that matches no resource. */
export type UnmatchedTerm = { readonly option: '--only' | '--tag' | '--exclude'; readonly text: string };

/** Returns whether the selection may leave out resources. */
export function isPartial({ only = [], tag = [], exclude = [] }: ResourceSelection): boolean {
  return only.length + tag.length + exclude.length > 0;
}

/** Creates a test for resources of a selection. */
export function selectionMatcher({ only = [], tag = [], exclude = [] }: ResourceSelection): (resource: SelectableResource) => boolean {
  const [isMeant, isExcluded] = [idMatcher(only), idMatcher(exclude)];
  return ({ id, spec }) => (only.length === 0 || isMeant(id)) && !isExcluded(id) && tag.every((text) => hasTag(spec, text));
}

/** Finds the terms that match no resource: each is probably a typo. */
export function findUnmatchedTerms(
  { only = [], tag = [], exclude = [] }: ResourceSelection,
  resources: readonly SelectableResource[],
): readonly UnmatchedTerm[] {
  if (!isPartial({ only, tag, exclude })) return [];
  const names = new Set<string>(resources.map(({ id }) => id));
  const isUnknown = (text: string): boolean => !names.has(text) && !resources.some(({ id }) => matchesPattern(id, text));
  return [
    ...only.filter(isUnknown).map((text) => ({ option: '--only', text }) as const),
    ...exclude.filter(isUnknown).map((text) => ({ option: '--exclude', text }) as const),
    ...tag.filter((text) => !resources.some(({ spec }) => hasTag(spec, text))).map((text) => ({ option: '--tag', text }) as const),
  ];
}

/** Lists the tags of resources as `KEY=VALUE`, each once. */
export function tagTextsOf(resources: readonly SelectableResource[]): ReadonlySet<string> {
  return new Set(resources.flatMap(({ spec }) => Object.entries(asObject(spec['connection_tags'])).flatMap(selectableTag)));
}

function selectableTag([key, value]: readonly [string, Json]): readonly string[] {
  return typeof value === 'string' ? [`${key}=${value}`] : [];
}

function idMatcher(terms: readonly string[]): (id: ResourceId) => boolean {
  const names = new Set(terms);
  const patterns = terms.filter((text) => /[*?]/.test(text));
  return (id) => names.has(id) || patterns.some((pattern) => matchesPattern(id, pattern));
}

function hasTag(spec: JsonObject, text: string): boolean {
  const at = text.indexOf('=');
  return at > 0 && asObject(spec['connection_tags'])[text.slice(0, at)] === text.slice(at + 1);
}

/** Matches `*` (any characters) and `?` (one character) in at most length × length steps; a regular expression may need more. */
export function matchesPattern(text: string, pattern: string): boolean {
  let [at, next] = [0, 0];
  let star: { readonly after: number; readonly from: number } | undefined;
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = { after: next + 1, from: at };
      next += 1;
    } else if (pattern[next] === '?' || pattern[next] === text[at]) {
      at += 1;
      next += 1;
    } else if (star === undefined) {
      return false;
    } else {
      star = { after: star.after, from: star.from + 1 };
      [at, next] = [star.from, star.after];
    }
  }
  return /^\**$/.test(pattern.slice(next));
}
