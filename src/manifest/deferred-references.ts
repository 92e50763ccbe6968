import { type DesiredState, desiredById } from '../model/desired.ts';
import type { Diagnostic, Position } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { pointer } from '../model/pointer.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { suggest } from '../model/suggest.ts';
import { suggestWord } from './wording.ts';

type DeferredReference = { readonly kind: string; readonly text: string; readonly at: () => Position; readonly count: number };

/** The number of names for which similar names are searched. The search is slow, and more unknown names have another cause. */
const maxSuggestions = 50;

/**
 * Reports each name that no manifest declares, once: only the gateway knows whether it exists. A name that is similar to
 * that of a manifest is a warning.
 */
export function findDeferredReferences(desired: DesiredState, registry: Registry): readonly Diagnostic[] {
  const names = collectDeclaredNames(desired);
  const deferred = [...collectReferences(desired, registry, names).values()].toSorted((left, right) =>
    compareText(`${left.kind}/${left.text}`, `${right.kind}/${right.text}`),
  );
  return deferred.map(({ kind, text, at, count }, index) => {
    const near = index < maxSuggestions ? suggestWord(suggest(text, names.get(kind) ?? [])) : undefined;
    const times = count === 1 ? '' : ` (named ${count} times)`;
    return {
      code: 'manifest/deferred-reference',
      severity: near === undefined ? 'notice' : 'warning',
      message: `only the gateway can tell whether there is ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind} "${text}"${times}`,
      hint: near ?? 'plan looks it up',
      at: at(),
    };
  });
}

function collectDeclaredNames(desired: DesiredState): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const id of [...desired.resources, ...desired.unselected].map((resource) => resource.id)) {
    const known = names.get(kindOf(id));
    if (known === undefined) names.set(kindOf(id), new Set([nameOf(id)]));
    else known.add(nameOf(id));
  }
  return names;
}

function collectReferences(
  desired: DesiredState,
  registry: Registry,
  names: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, DeferredReference> {
  const found = new Map<string, DeferredReference>();
  const byId = desiredById(desired.resources);
  const note = (kind: string, text: string, at: () => Position): void => {
    if (names.get(kind)?.has(text) === true) return;
    const known = found.get(`${kind}/${text}`);
    found.set(`${kind}/${text}`, known === undefined ? { kind, text, at, count: 1 } : { ...known, count: known.count + 1 });
  };
  for (const resource of desired.resources) {
    for (const field of registry.get(kindOf(resource.id))?.fields ?? []) {
      const text = resource.spec[field.name];
      if (field.refers !== undefined && typeof text === 'string' && text !== '') {
        note(field.refers, text, () => resource.locate(pointer(field.name)));
      }
    }
  }
  for (const { rule, connection, declarations } of desired.edges) {
    for (const { by, path } of declarations) {
      const resource = byId.get(by);
      if (resource === undefined) continue;
      for (const { kind, text } of [rule, connection]) note(kind, text, () => resource.locate(path));
    }
  }
  return found;
}
