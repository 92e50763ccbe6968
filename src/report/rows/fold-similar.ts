import { addToGroup } from '../../model/collections.ts';
import { effectClasses, type Entry } from '../blocks.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { escapeTerminal } from '../escape.ts';

/** An entry of a list, and the later entries that are similar and not shown. */
export type FoldedEntry<One> = { readonly entry: One; readonly others: readonly One[] };

/** A list with more entries is folded. */
export const mostEntries = 300;
/** The similar entries that a folded list shows. */
const shown = 3;
/** The names of similar entries beside the one that is shown. */
export const mostOthers = 5;

/** Folds a long list unless it is printed whole: of similar entries, it keeps the first ones, and the last of them carries the others. */
export function foldSimilar<One>(
  entries: readonly One[],
  keyOf: (entry: One) => string,
  { full = false }: { readonly full?: boolean } = {},
): readonly FoldedEntry<One>[] {
  if (full || entries.length <= mostEntries) return entries.map((entry) => ({ entry, others: [] }));
  const groups = new Map<string, { count: number; others: One[] }>();
  const kept: FoldedEntry<One>[] = [];
  for (const entry of entries) {
    const likeness = keyOf(entry);
    const group = groups.get(likeness) ?? { count: 0, others: [] };
    groups.set(likeness, group);
    group.count += 1;
    if (group.count > shown) group.others.push(entry);
    else kept.push({ entry, others: group.count === shown ? group.others : [] });
  }
  return kept;
}

/** Returns `and 2 more objects like it: Connection/a, Connection/b`, escaped. */
export function othersText(others: readonly { readonly name: string }[], nameText: (name: string) => string = escapeTerminal): string {
  const names = shortList(
    others.map(({ name }) => name),
    mostOthers,
  );
  return `and ${plural(others.length, 'more object')} like it: ${names.map((name, index) => (index < mostOthers ? nameText(name) : name)).join(', ')}`;
}

/** Folds entries unless they are printed whole: those that differ in their names alone, and of a long list similar ones, too. */
export function foldEntries(entries: readonly Entry[], { full = false }: { readonly full?: boolean } = {}): readonly FoldedEntry<Entry>[] {
  if (full) return entries.map((entry) => ({ entry, others: [] }));
  return foldSimilar(mergeAlike(entries), ({ entry }) => likenessOf(entry)).map(({ entry: { entry, others }, others: similar }) => ({
    entry,
    others: [...others, ...similar.flatMap((one) => [one.entry, ...one.others])],
  }));
}

/** As many entries as this are merged if they are alike. */
const fewestAlike = 3;

/** Merges entries that differ in their names alone, where they are many. Of deleted things the values do not count, because none is left. */
export function mergeAlike(entries: readonly Entry[]): readonly FoldedEntry<Entry>[] {
  const keys = new Map(entries.map((one) => [one, JSON.stringify([one.sign === '-' ? likenessOf(one) : contentOf(one), one.warnings])]));
  const groups = new Map<string | undefined, Entry[]>();
  for (const one of entries) addToGroup(groups, keys.get(one), one);
  return entries.flatMap((entry): readonly FoldedEntry<Entry>[] => {
    const [first, ...others] = groups.get(keys.get(entry)) ?? [];
    if (others.length + 1 < fewestAlike) return [{ entry, others: [] }];
    return first === entry ? [{ entry, others }] : [];
  });
}

function contentOf({ name, sign, note, risk, fields, lines }: Entry): string {
  return JSON.stringify([name.replace(/\/.*$/s, ''), sign, note, risk, fields, lines]);
}

/** Returns a text that similar entries share: of a whole object, and of what is harmless, values do not count. */
export function likenessOf(entry: Entry): string {
  const { sign, effect, fields, lines } = entry;
  if (sign !== '+' && sign !== '-' && effect !== 'neutral' && effect !== 'strengthens') return contentOf(entry);
  return contentOf({
    ...entry,
    fields: fields.map(({ parts, ...row }) => ({
      ...row,
      parts: parts.map((part) => ({ sign: part.sign === '~' ? '' : part.sign, text: '' })),
    })),
    lines: lines.map((line) => (line.sign === ' ' ? line : { ...line, text: '' })),
  });
}

/** Sorts entries, the worst first. */
export function sortByEffect(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((left, right) => effectClasses.indexOf(left.effect) - effectClasses.indexOf(right.effect));
}

/** Returns an entry without details: its note names what differs, and its risk. */
export function withoutDetails({ name, sign, note, effect, risk, fields, lines }: Entry): Entry {
  const labels = sign === '+' || sign === '-' ? [] : [...new Set(fields.map(({ label }) => label))];
  const marks = lines.flatMap((line) => (line.sign === ' ' ? [] : [`${line.sign} ${line.text}`]));
  const said = [...(note === '' ? [] : [note]), ...shortList(labels, 4), ...shortList(marks, 2)].join(', ');
  const whole = [said, risk].filter((text) => text !== '').join('; ');
  return { name, sign, note: whole, effect, risk: '', fields: [], lines: [], warnings: [] };
}
