import { addToGroup, firstOf } from '../../model/collections.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import type { NewAccess, Refusal } from '../../model/plan/plan.ts';
import { nameOf } from '../../model/resource.ts';

/** The largest number of refusals; the last one counts the rest. */
const mostRefusals = 20;

const code: Refusal['code'] = 'plan/new-access';

/** The largest number of names of each sort in one refusal. */
const mostNames = 3;

/** Something that some people could do on one connection, and that a plan is refused for. */
export type AccessLine = {
  readonly access: NewAccess;
  readonly who: string;
  readonly verb: string;
  readonly what: string;
  readonly at: Position | undefined;
};

/** Returns refusals of new access: what is the same for several people, or on several connections, is one of them; JSON lists all. */
export function lineRefusals(lines: readonly AccessLine[]): readonly Refusal[] {
  const folded = foldLines(lines);
  const texts = (some: readonly (readonly AccessLine[])[]): readonly Refusal[] =>
    some.map((all) => ({ code, allowable: true, ...foldedTexts(all), newAccess: all.map(({ access }) => access) }));
  if (folded.length <= mostRefusals) return texts(folded);
  const rest = folded.slice(mostRefusals - 1);
  const more: Refusal = {
    code,
    message: `and ${rest.length} more like these; the JSON output lists all`,
    allowable: true,
    newAccess: rest.flatMap((all) => all.map(({ access }) => access)),
  };
  return [...texts(folded.slice(0, mostRefusals - 1)), more];
}

/** Joins what is the same for several people, and for several connections; each line counts once. */
function foldLines(lines: readonly AccessLine[]): readonly (readonly AccessLine[])[] {
  const known = new Set<string>();
  const groups = new Map<string, AccessLine[]>();
  for (const line of lines) {
    const id = JSON.stringify(line.access);
    if (known.has(id)) continue;
    known.add(id);
    addToGroup(groups, [line.verb, line.what, line.at === undefined ? '' : formatPosition(line.at)].join('\n'), line);
  }
  return [...groups.values()];
}

/** Returns the message, the hint and the place of lines that are the same. */
function foldedTexts(lines: readonly AccessLine[]): Pick<Refusal, 'message' | 'hint' | 'at'> {
  const [first] = lines;
  const who = [...new Set(lines.map((line) => line.who))];
  const where = [...new Set(lines.map(({ access }) => nameOf(access.connection)))];
  return {
    message: `${firstOf(who, mostNames)}: ${first?.verb} on ${firstOf(where, mostNames)}: ${first?.what}`,
    hint: 'undo the change, or override with a reason',
    at: first?.at,
  };
}
