import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { isPointerWithin, pointer } from '../model/pointer.ts';
import { suggest } from '../model/suggest.ts';
import { readStrings, toText, suggestWord } from './json-values.ts';
import type { SelectorField } from './kind-view.ts';
import type { Manifest } from './manifest.ts';

/** The names of the manifests that a selector matches, and the errors in the selector. */
export type SelectorMatch = { readonly names: readonly string[]; readonly diagnostics: readonly DocumentDiagnostic[] };

/** Creates a function that selects manifests by their tags; it builds its indexes on first use. */
export function createTagSelector(
  manifests: readonly Manifest[],
): (rule: Manifest, selector: SelectorField, kind: string, value: JsonObject) => SelectorMatch {
  const indexes = new Map<string, ReadonlyMap<string, readonly Manifest[]>>();
  const byKind = new Map<string, readonly Manifest[]>();
  return (rule, selector, kind, value) => {
    const candidates = byKind.get(kind) ?? manifests.filter((manifest) => manifest.view.kind.name === kind);
    byKind.set(kind, candidates);
    const index = indexes.get(`${kind}\0${selector.tags}`) ?? indexTags(candidates, selector.tags);
    indexes.set(`${kind}\0${selector.tags}`, index);
    const wanted = Object.entries(isObject(value['match_tags']) ? value['match_tags'] : {});
    const except = new Set(readStrings(value['except']));
    const [first] = wanted;
    const near = first === undefined ? [] : (index.get(`${first[0]}=${toText(first[1])}`) ?? []);
    const matched = near.filter((manifest) => {
      const tags = manifest.spec[selector.tags];
      return isObject(tags) && wanted.every(([key, text]) => tags[key] === text);
    });
    const names = matched.map(({ name }) => name).filter((name) => !except.has(name));
    const diagnostics = [
      ...unknownNames(selector, kind, readStrings(value['except']), candidates),
      ...contradictions(rule, selector, except),
      ...ignoredTags(
        selector,
        wanted,
        candidates.filter(({ name }) => !except.has(name)),
      ),
      ...(names.length > 0 || value['allow_empty'] === true ? [] : [emptySelector(selector, kind, matched.length)]),
    ];
    return { names, diagnostics };
  };
}

function indexTags(manifests: readonly Manifest[], field: string): ReadonlyMap<string, readonly Manifest[]> {
  const index = new Map<string, Manifest[]>();
  for (const manifest of manifests) {
    const tags = manifest.spec[field];
    for (const [key, value] of Object.entries(isObject(tags) ? tags : {})) {
      const text = `${key}=${toText(value)}`;
      const found = index.get(text);
      if (found === undefined) index.set(text, [manifest]);
      else found.push(manifest);
    }
  }
  return index;
}

function unknownNames(
  selector: SelectorField,
  kind: string,
  except: readonly string[],
  candidates: readonly Manifest[],
): readonly DocumentDiagnostic[] {
  if (except.length === 0) return [];
  const names = new Set(candidates.map(({ name }) => name));
  return except.flatMap((name, index) => {
    if (names.has(name)) return [];
    const hint = suggestWord(suggest(name, names)) ?? 'except takes the names of manifests';
    const message = `no manifest declares ${kind} "${name}"`;
    return [
      { code: 'manifest/unknown-name', severity: 'error', pointer: pointer('spec', selector.name, 'except', String(index)), message, hint },
    ];
  });
}

function contradictions(rule: Manifest, selector: SelectorField, except: ReadonlySet<string>): readonly DocumentDiagnostic[] {
  return readStrings(rule.spec[selector.edge]).flatMap((name, index) => {
    if (!except.has(name)) return [];
    const message = `"${name}" is in ${selector.edge} and in except of ${selector.name}`;
    const hint = 'it is listed, so the rule applies; take it out of one of them';
    return [
      { code: 'manifest/selector-contradiction', severity: 'error', pointer: pointer('spec', selector.edge, String(index)), message, hint },
    ];
  });
}

function ignoredTags(
  selector: SelectorField,
  wanted: readonly (readonly [string, unknown])[],
  candidates: readonly Manifest[],
): readonly DocumentDiagnostic[] {
  return wanted.flatMap(([key]) => {
    const path = pointer(selector.tags, key);
    const ignoring = candidates.find(({ metadata }) => readStrings(metadata['ignore']).some((ignored) => isPointerWithin(path, ignored)));
    if (ignoring === undefined) return [];
    const message = `the selector asks for the tag "${key}", which ${ignoring.id} ignores`;
    const hint = `take ${path} out of its metadata.ignore, or name "${ignoring.name}" in except`;
    return [
      {
        code: 'manifest/selector-ignored-tag',
        severity: 'error',
        pointer: pointer('spec', selector.name, 'match_tags', key),
        part: 'key',
        message,
        hint,
      },
    ];
  });
}

function emptySelector(selector: SelectorField, kind: string, excepted: number): DocumentDiagnostic {
  const message = excepted === 0 ? `no ${kind} manifest has these tags` : `except leaves out every ${kind} manifest that has these tags`;
  const hint = 'correct the tags, or say allow_empty: true';
  return { code: 'manifest/selector-empty', severity: 'error', pointer: pointer('spec', selector.name), part: 'key', message, hint };
}
