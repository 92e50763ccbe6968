import { desiredByKey, type DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, isDefaultsPath } from '../../model/diagnostic.ts';
import { compareText, isObject } from '../../model/json.ts';
import { type FieldChange, liveKeyOf } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { ChangeDraft } from './draft-change.ts';

/** Reports fields that a `_defaults.yaml` of the base gave to objects and that nothing states any more, once for each file. */
export function findRemovedDefaults({ base, named }: Prepared, drafts: readonly ChangeDraft[]): readonly Diagnostic[] {
  const [applied, declared] = [desiredByKey(base?.desired.resources ?? []), desiredByKey(named.desired.resources)];
  const files = new Map<string, { readonly lines: Map<string, number>; readonly objects: Set<ResourceId> }>();
  for (const draft of drafts) {
    const [past, wanted] = [applied.get(liveKeyOf(draft)), declared.get(liveKeyOf(draft))];
    if (past === undefined || wanted === undefined) continue;
    for (const field of draft.fields) {
      const { file, line } = past.locate(field.path);
      if (field.origin === 'drift' || !isDefaultsPath(file) || isStated(field, wanted)) continue;
      const found = files.get(file) ?? { lines: new Map<string, number>(), objects: new Set<ResourceId>() };
      files.set(file, found);
      found.lines.set(tokensOf(field.path)[0] ?? '', line);
      found.objects.add(draft.id);
    }
  }
  return [...files]
    .toSorted(([one], [other]) => compareText(one, other))
    .map(([file, { lines, objects }]) => {
      const names = [...lines].map(([name, line]) => `${name} (line ${line})`).toSorted(compareText);
      const [first = '', ...others] = [...objects].toSorted(compareText);
      return {
        code: 'defaults/removed',
        severity: 'notice',
        message: `${file} stated ${names.join(', ')} for ${first}${others.length === 0 ? '' : ` and ${others.length} more`}; nothing states it now`,
        hint: 'to keep it, state it in the defaults or in each manifest',
      };
    });
}

/** Returns whether the manifests state a changed field still; an entry of a map can be left out of it. */
function isStated({ path, after }: FieldChange, { stated, spec }: DesiredResource): boolean {
  const [name = ''] = tokensOf(path);
  return stated.has(name) && !(isObject(spec[name]) && 'absent' in after);
}
