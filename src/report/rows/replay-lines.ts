import { nameOf } from '../../model/resource.ts';
import { type Replay, type ReplayCause, type ReplayChange, type ReplayTurn, replayTurns } from '../../model/result/replay.ts';
import type { EffectClass, Line, LinesBlock } from '../blocks.ts';
import { mark, markPlace } from '../marks.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';

type TurnText = { readonly would: string; readonly heading: string; readonly effect: EffectClass; readonly isCounted?: true };

/** What happens to sessions: after their number, as a heading, and its effect on protection. Some are counted also if there are none. */
const turns: Readonly<Record<ReplayTurn, TurnText>> = {
  blocked: { would: 'would now be blocked', heading: 'Blocked', effect: 'availability', isCounted: true },
  refused: { would: 'would be refused', heading: 'Refused', effect: 'availability' },
  approval: { would: 'would need approval', heading: 'Need approval, or another one', effect: 'strengthens', isCounted: true },
  possible: { would: 'would be newly possible', heading: 'Newly possible', effect: 'weakens', isCounted: true },
  unapproved: { would: 'would need less approval', heading: 'Less approval', effect: 'weakens' },
  unknown: { would: 'cannot be known', heading: 'Not known', effect: 'unknown' },
};

const mostLines = 6;
const mostCauses = 3;
const longestText = 100;

/** Returns what a plan would have done to the last sessions, in at most six lines that name no person; text in full also has the names. */
export function replayBlock(replay: Replay): LinesBlock {
  const lines: readonly Line[] =
    'missing' in replay
      ? [{ text: `Sessions since ${replay.since} are not known: ${clip(replay.missing, 2 * longestText)}`, effect: 'unknown' }]
      : [countsLine(replay), ...replay.changes.map(changeLine)].slice(0, mostLines);
  return { type: 'lines', part: 'replay', lines, rank: 2, label: 'list' };
}

type KnownReplay = Exclude<Replay, { readonly missing: string }>;

/** Returns `Of 812 sessions since 2026-10-29 (300 without a script), 59 by 7 people would now be blocked, …`. */
function countsLine({ since, sessions, isWhole, withoutScript, changes }: KnownReplay): Line {
  const counts = replayTurns.flatMap((turn) => {
    const { would, isCounted } = turns[turn];
    const change = changes.find((one) => one.turn === turn);
    if (change === undefined) return isCounted === true ? [`0 ${would}`] : [];
    const who = change.people === 1 ? '1 person' : `${change.people} people`;
    return [`${mark('strong', `${change.sessions} by ${who}`)} ${would}`];
  });
  const native = withoutScript === 0 ? '' : ` (${withoutScript} without a script, checked for access alone)`;
  const which = isWhole ? plural(sessions, 'session') : `the newest ${plural(sessions, 'session')}, all`;
  return {
    text: `Of ${which} since ${since}${native}, ${counts.join(', ')}.`,
    effect: changes[0] === undefined ? 'neutral' : turns[changes[0].turn].effect,
  };
}

function changeLine({ turn, causes, users = [] }: ReplayChange): Line {
  const { heading, effect } = turns[turn];
  const all = causes.map(causeText);
  const more = all.length > mostCauses ? [`and ${all.length - mostCauses} more`] : [];
  return {
    text: mark('strong', heading),
    effect,
    aside: [...all.slice(0, mostCauses), ...more].join(', '),
    full: shortList(
      users.map(({ name, sessions }) => `${sessions} by ${mark('name', clip(name, longestText))}`),
      longestText,
    ),
  };
}

function causeText({ by, why, at, sessions }: ReplayCause): string {
  if (by === undefined) return `${sessions} because ${clip(why ?? 'nothing decides it', longestText)}`;
  return `${sessions} by ${mark('name', clip(nameOf(by), longestText))}${at === undefined ? '' : ` ${markPlace(at)}`}`;
}
