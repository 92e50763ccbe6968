import { joinWords } from '../../model/collections.ts';
import { asText, isObject, type JsonObject } from '../../model/json.ts';
import { areToolsRead, globsIn, hasTools, type ToolList, toolListIn, toolLists, toolPaths } from '../../model/spec/tool-lists.ts';
import { matchingSets } from '../pattern/glob-sets.ts';
import { noDifference } from './compare-controls.ts';
import {
  type Control,
  type ControlComparison,
  type ControlRow,
  controlsOf,
  missingFrom,
  namesText,
  ofSeveral,
  type Posture,
  quoteName,
  type VerbPhrase,
} from './control-row.ts';

const none: readonly Control[] = [];

/** One entry of a list; of a list that cannot be read, where it comes from. */
type Entry = { readonly list: ToolList; readonly glob: string; readonly isUnread: boolean };

function controlOf(list: ToolList, glob: string): Control {
  return { name: `${list} ${glob}` };
}

/** Reads the lists of tools of a connection, as far as it leads to a server of tools. */
function toolsOf(spec: JsonObject): readonly Control[] {
  if (!hasTools(spec)) return none;
  return toolLists.flatMap((list): readonly Control[] => {
    const found = toolListIn(spec, list);
    if (typeof found === 'string') return globsIn(found).map((glob) => controlOf(list, glob));
    const source = isObject(found) ? asText(found['source']) : undefined;
    return source === undefined ? none : [{ ...controlOf(list, `(${source})`), content: source }];
  });
}

function entryOf({ name, content }: Control): Entry {
  const list = toolLists.find((one) => name.startsWith(`${one} `)) ?? 'denied';
  return { list, glob: content ?? name.slice(list.length + 1), isUnread: content !== undefined };
}

function inList(entries: readonly Entry[], list: ToolList): readonly Entry[] {
  return entries.filter((one) => one.list === list);
}

/** What happens to a call of a tool: it is refused, it waits for an approval, or it goes through. The agent lets no list win over that of denied tools. */
function levelOf(entries: readonly Entry[], matches: (entry: Entry) => boolean): 0 | 1 | 2 {
  const allowed = inList(entries, 'allowed');
  if (inList(entries, 'denied').some(matches) || (allowed.length > 0 && !allowed.some(matches))) return 0;
  return inList(entries, 'approval').some(matches) ? 1 : 2;
}

/** Names that the same globs match, and how each entry may match them: a list that cannot be read may match any. */
type ToolCase = { readonly matched: ReadonlySet<string>; readonly choices: readonly ((entry: Entry) => boolean)[] };

/** Lists all cases of names; undefined where there are too many. */
function casesOf(entries: readonly Entry[], more: readonly string[] = []): readonly ToolCase[] | undefined {
  const globs = [...new Set([...entries.flatMap(({ glob, isUnread }) => (isUnread ? [] : [glob])), ...more])];
  const unread = [...new Set(entries.flatMap((entry) => (entry.isUnread ? [entryText(entry)] : [])))];
  const chosen = Array.from(
    { length: 2 ** unread.length },
    (_, bits) => new Set(unread.filter((_one, index) => (bits & (2 ** index)) !== 0)),
  );
  return matchingSets(globs)?.map((set) => {
    const matched = new Set([...set].flatMap((index) => globs[index] ?? []));
    return { matched, choices: chosen.map((one) => (entry) => (entry.isUnread ? one.has(entryText(entry)) : matched.has(entry.glob))) };
  });
}

function entryText({ list, glob }: Entry): string {
  return `${list} ${glob}`;
}

/** What tests expect of tools: whether the agent does that with every tool that a glob matches. */
const expectedLevels: Readonly<Record<ToolList, (level: number) => boolean>> = {
  denied: (level) => level === 0,
  approval: (level) => level < 2,
  allowed: (level) => level > 0,
};

/** Returns which expectations, such as `denied delete_*`, a connection does not meet, and those of which that cannot be known. */
export function unmetTools(
  posture: Posture,
  expected: readonly string[],
): { readonly unmet: readonly string[]; readonly unsure: readonly string[] } {
  const entries = controlsOf(posture, 'tools').map(entryOf);
  const outcomes = expected.map((text) => {
    const { list, glob } = entryOf({ name: text });
    const cases = casesOf(entries, [glob])?.filter(({ matched }) => matched.has(glob));
    if (cases === undefined) return { text, met: false, mayBeMet: true };
    const meets = cases.map(({ choices }) => choices.map((matches) => expectedLevels[list](levelOf(entries, matches))));
    return { text, met: meets.every((all) => all.every(Boolean)), mayBeMet: meets.every((all) => all.some(Boolean)) };
  });
  return {
    unmet: outcomes.flatMap(({ text, mayBeMet }) => (mayBeMet ? [] : [text])),
    unsure: outcomes.flatMap(({ text, met, mayBeMet }) => (mayBeMet && !met ? [text] : [])),
  };
}

type Directions = { readonly opens: boolean; readonly closes: boolean; readonly isUnclear: boolean };

/** Compares what happens to each tool, whatever its name. */
function compareEntries(had: readonly Entry[], has: readonly Entry[]): Directions {
  const cases = casesOf([...had, ...has]);
  if (cases === undefined) return { opens: false, closes: false, isUnclear: true };
  const found = cases.map(({ choices }) => {
    const signs = choices.map((matches) => Math.sign(levelOf(has, matches) - levelOf(had, matches)));
    return { opens: signs.every((sign) => sign > 0), closes: signs.every((sign) => sign < 0), isSame: signs.every((sign) => sign === 0) };
  });
  return {
    opens: found.some(({ opens }) => opens),
    closes: found.some(({ closes }) => closes),
    isUnclear: found.some(({ opens, closes, isSame }) => !opens && !closes && !isSame),
  };
}

/** Compares the lists of tools by what the agent does with each tool. */
export function compareTools(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'tools'), controlsOf(after, 'tools')];
  const [removed, added] = [missingFrom(had, has), missingFrom(has, had)];
  if (removed.length + added.length === 0) return noDifference;
  const { opens, closes, isUnclear } = compareEntries(had.map(entryOf), has.map(entryOf));
  return {
    ...noDifference,
    lost: opens ? opening(removed, added, has) : none,
    gained: closes ? opening(added, removed, had) : none,
    incomparable: isUnclear && !opens ? [...removed, ...added] : none,
  };
}

/** Lists the entries by which lists let more tools through: denied and approved ones that are gone, allowed ones that are new, and those of a list that ends. */
function opening(gone: readonly Control[], fresh: readonly Control[], after: readonly Control[]): readonly Control[] {
  const ends = !after.some((one) => entryOf(one).list === 'allowed');
  return [...gone.filter((one) => entryOf(one).list !== 'allowed' || ends), ...fresh.filter((one) => entryOf(one).list === 'allowed')];
}

type ToolVerbs = Readonly<Record<'denied' | 'approval' | 'listed' | 'unlisted', string>>;

const opens: ToolVerbs = {
  denied: 'no longer denies',
  approval: 'no longer asks for an approval of',
  listed: 'now allows',
  unlisted: 'now allows every tool, not only',
};

const closes: ToolVerbs = {
  denied: 'now denies',
  approval: 'now asks for an approval of',
  listed: 'no longer allows',
  unlisted: 'now allows only',
};

/** Builds the phrase for entries; `open` is the side on which more tools go through. */
function toolsPhrase(controls: readonly Control[], open: Posture, verbs: ToolVerbs): VerbPhrase {
  const isUnlisted = !controlsOf(open, 'tools').some((one) => entryOf(one).list === 'allowed');
  const parts = toolLists.flatMap((list): readonly string[] => {
    const globs = controls
      .map(entryOf)
      .flatMap((entry) => (entry.list === list ? [entry.isUnread ? `(${entry.glob})` : quoteName(entry.glob)] : []));
    if (globs.length === 0) return [];
    const verb = verbs[list === 'allowed' ? (isUnlisted ? 'unlisted' : 'listed') : list];
    return [`${verb} ${namesText('tool', globs)}`];
  });
  return { one: joinWords(parts), many: joinWords(parts.map(ofSeveral)) };
}

/** Which tools of a server (MCP) people and agents may call, and which calls wait for an approval. */
export const toolsRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['secret'] },
  within: toolPaths,
  selects: ['subtype'],
  isRead: areToolsRead,
  ofConnection: toolsOf,
  compare: compareTools,
  weight: 2,
  column: { heading: 'tools', none: 'all', isOptional: true },
  about: 'lists of tools',
  loses: (controls, after) => toolsPhrase(controls, after, opens),
  gains: (controls, before) => toolsPhrase(controls, before, closes),
};
