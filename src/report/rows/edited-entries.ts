import { equal, isObject, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { type Pointer, pointer, tokensOf } from '../../model/pointer.ts';

type Entry = { readonly field: FieldChange; readonly list: Pointer; readonly value: JsonObject };

/**
 * Returns fields; an entry of a list that is edited, which the plan has as one that is removed and one that is added because it
 * has no name, becomes what differs in it, by its type: `/input/rules/deny_words_list/words`.
 */
export function withEditedEntries(fields: readonly FieldChange[]): readonly FieldChange[] {
  const added = fields.flatMap((field) => entryOf(field, 'after'));
  if (added.length === 0 || added.length > mostAdded) return fields;
  const edited = new Map<FieldChange, readonly FieldChange[]>();
  for (const removed of fields.flatMap((field) => entryOf(field, 'before'))) {
    const successor = likest(
      removed,
      added.filter(({ field }) => !edited.has(field)),
    );
    if (successor === undefined) continue;
    edited.set(removed.field, differences(removed, successor));
    edited.set(successor.field, []);
  }
  return fields.flatMap((field) => edited.get(field) ?? [field]);
}

// Finding the likest one is quadratic. A list with more new entries is generated, so its entries are shown whole.
const mostAdded = 50;

/** Returns an entry without a name that only one side has. */
function entryOf(field: FieldChange, side: 'before' | 'after'): readonly Entry[] {
  const [value, other] = side === 'before' ? [field.before, field.after] : [field.after, field.before];
  if (!('value' in value) || !isObject(value.value) || !('absent' in other)) return [];
  const tokens = tokensOf(field.path);
  return tokens.at(-1)?.startsWith('{') === true ? [{ field, list: pointer(...tokens.slice(0, -1)), value: value.value }] : [];
}

/** Returns the entry of the same list and origin that has the most values in common, if any has one. */
function likest(entry: Entry, others: readonly Entry[]): Entry | undefined {
  const { list, value, field } = entry;
  const ranked = others
    .filter((other) => other.list === list && other.field.origin === field.origin && other.field.held === field.held)
    .map((other) => ({ other, common: Object.keys(value).filter((key) => equal(value[key], other.value[key])).length }))
    .toSorted((left, right) => right.common - left.common);
  return ranked[0] === undefined || ranked[0].common === 0 ? undefined : ranked[0].other;
}

function differences({ value, field, list }: Entry, { value: wanted }: Entry): readonly FieldChange[] {
  const { origin, own, held } = field;
  const name = textOfBoth(value, wanted);
  const at = [...tokensOf(list), ...(name === undefined ? [] : [name])];
  const sides = (path: Pointer, had: Json | undefined, has: Json | undefined): FieldChange => ({
    path,
    before: had === undefined ? { absent: true } : { value: had },
    after: has === undefined ? { absent: true } : { value: has },
    ...(origin === undefined ? {} : { origin }),
    ...(own === undefined ? {} : { own }),
    ...(held === undefined ? {} : { held }),
  });
  return [...new Set([...Object.keys(value), ...Object.keys(wanted)])].flatMap((key): readonly FieldChange[] => {
    const [had, has] = [value[key], wanted[key]];
    if (equal(had, has)) return [];
    if (!isTexts(had) || !isTexts(has)) return [sides(pointer(...at, key), had, has)];
    const path = (text: string): Pointer => pointer(...at, key, text);
    return [
      ...had.filter((text) => !has.includes(text)).map((text) => sides(path(text), text, undefined)),
      ...has.filter((text) => !had.includes(text)).map((text) => sides(path(text), undefined, text)),
    ];
  });
}

/** Returns what names an entry on both sides: the first text that is the same, such as its type. */
function textOfBoth(one: JsonObject, other: JsonObject): string | undefined {
  return textsIn(Object.values(one)).find((text) => text !== '' && Object.values(other).includes(text));
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one: Json) => typeof one === 'string');
}
