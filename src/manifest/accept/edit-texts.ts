import { tokensOf } from '../../model/pointer.ts';
import type { SourceFile } from '../../model/source.ts';
import { editFile } from '../edit/edit-file.ts';
import type { LoadInput } from '../load-manifests.ts';
import type { LiveDifference, LayerEdit } from './field-edits.ts';

/** An edit, and the differences that cause it. */
export type AttributedEdit = LayerEdit & { readonly causes: readonly LiveDifference[] };

/** Returns the input with other texts of files, by path; secrets stay unresolved. */
export function replaceInputTexts(input: LoadInput, texts: ReadonlyMap<string, string>): LoadInput {
  const { files, overlays, target, targets, selection, secretPrefixes, referencePrefixes, registry, pathInTree } = input;
  const now = ({ path, text }: SourceFile): SourceFile => ({ path, text: texts.get(path) ?? text });
  return {
    files: files.map(now),
    overlays: overlays.map((folder) => folder.map(now)),
    target,
    targets,
    secretPrefixes,
    referencePrefixes,
    registry,
    ...(selection === undefined ? {} : { selection }),
    ...(pathInTree === undefined ? {} : { pathInTree }),
  };
}

/** Applies edits to the files of the input. Returns the changed texts together with the given ones. */
export function editTexts(
  input: LoadInput,
  edits: readonly AttributedEdit[],
  before: ReadonlyMap<string, string>,
): { readonly texts: ReadonlyMap<string, string>; readonly failures: ReadonlyMap<LiveDifference, string> } {
  const texts = new Map(before);
  const failures = new Map<LiveDifference, string>();
  const files = new Map([...input.files, ...input.overlays.flat()].map((file) => [file.path, file]));
  for (const [path, group] of groupBy(edits, ({ layer }) => layer.file.path)) {
    const text = texts.get(path) ?? files.get(path)?.text;
    if (text === undefined) continue;
    const ordered = group
      .map((one) => ({ ...one, index: one.layer.index }))
      .toSorted((left, right) => editRank(left) - editRank(right) || editDepth(right) - editDepth(left));
    const { value, diagnostics } = editFile({ path, text }, ordered);
    if (value !== undefined) texts.set(path, value.text);
    const refused = value?.refused ?? ordered.map((edit) => ({ edit, diagnostic: diagnostics[0] }));
    for (const { edit, diagnostic } of refused) for (const one of edit.causes) failures.set(one, diagnostic?.message ?? '');
  }
  return { texts, failures };
}

/** Ranks edits: removals from lists come last, the deepest first, so that no index changes before its use. */
function editRank({ edit }: AttributedEdit): number {
  return edit.edit === 'drop' || edit.edit === 'remove' ? 1 : 0;
}

function editDepth(tagged: AttributedEdit): number {
  return editRank(tagged) === 0 ? 0 : tokensOf(tagged.edit.path).length;
}

/** Groups values by key, in the order of each key's first value. */
export function groupBy<T, K>(values: readonly T[], keyOf: (value: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
