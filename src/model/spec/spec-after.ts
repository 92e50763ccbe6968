import { editSpec, type Edit } from './edit.ts';
import type { JsonObject } from '../json.ts';
import type { Kind } from '../kind.ts';
import type { Change } from '../plan/plan.ts';

/** Returns the spec after a change: the live spec with the planned fields; held fields stay unchanged. */
export function specAfter(change: Change, kind: Pick<Kind, 'fields'>, live: JsonObject): JsonObject {
  const edits = change.fields.flatMap((field): readonly Edit[] => {
    if (field.held === true) return [];
    if ('value' in field.after) return [{ path: field.path, value: field.after.value }];
    return 'absent' in field.after && 'value' in field.before ? [{ path: field.path, value: undefined }] : [];
  });
  return editSpec(kind.fields, live, edits);
}
