import type { JsonObject } from '../json.ts';
import type { Kind } from '../kind.ts';
import { type Edit, editSpec, specAfter } from '../spec/edit.ts';
import { mergeStrictest } from '../spec/merge-strictest.ts';
import type { Step, StepPart } from './schedule.ts';

/** Returns whether a step writes only a name or access modes, and no field, secret or edge of its change. */
export function writesOnlyPart(part: StepPart): boolean {
  return part === 'open' || part === 'name' || part === 'close';
}

/** Returns the spec of a live object after a step; that of a new object starts empty. */
export function specAfterStep({ change, kind, part }: Pick<Step, 'change' | 'kind' | 'part'>, live: JsonObject): JsonObject {
  const after = specAfter(change, kind, live);
  switch (part) {
    case 'whole':
    case 'delete':
      return after;
    case 'name':
      return live;
    case 'gain':
      return mergeStrictest(kind.fields, after, live);
    case 'closed':
      return editSpec(kind.fields, after, closingEdits(kind));
    case 'close':
      return editSpec(kind.fields, live, closingEdits(kind));
    case 'open':
      return editSpec(kind.fields, live, openingEdits(kind, specAfter(change, kind, change.action === 'create' ? {} : live)));
  }
}

function closingEdits(kind: Kind): readonly Edit[] {
  return kind.fields.flatMap((field) => (field.closed === undefined ? [] : [{ path: `/${field.name}`, value: field.closed }]));
}

function openingEdits(kind: Kind, after: JsonObject): readonly Edit[] {
  return kind.fields.flatMap((field) => (field.closed === undefined ? [] : [{ path: `/${field.name}`, value: after[field.name] }]));
}
