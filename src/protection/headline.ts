import { canonical, compareText, equal, type JsonObject } from '../model/json.ts';
import type { ControlType, Cause, Headline, ProtectionVerdict } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Touched } from './diff.ts';
import { wordsFor, type Sure, type Words } from './phrases.ts';
import { partsOf, type Part } from './posture.ts';

/** What is said of one connection, before it is counted with others of which the same is said. */
type Phrase = Words & { readonly way: ProtectionVerdict; readonly causes: readonly Cause[] };

/** Sentences on what a plan means for connections, the weightiest first: what weakens, then what nobody can tell. */
export function headlinesOf(all: readonly Touched[]): readonly Headline[] {
  const groups = new Map<string, { readonly phrase: Phrase; readonly members: Touched[]; readonly causes: Map<string, Cause> }>();
  for (const touched of all) {
    for (const phrase of phrasesOf(touched)) {
      const key = canonical([phrase.way, phrase.one]);
      const group = groups.get(key);
      const causes = group?.causes ?? new Map<string, Cause>();
      for (const cause of phrase.causes) if (!causes.has(keyOf(cause))) causes.set(keyOf(cause), cause);
      if (group === undefined) groups.set(key, { phrase, members: [touched], causes });
      else if (group.members.at(-1) !== touched) group.members.push(touched);
    }
  }
  return [...groups.values()]
    .toSorted(
      ({ phrase: left, members }, { phrase: right, members: others }) =>
        waysByWeight.indexOf(left.way) - waysByWeight.indexOf(right.way) ||
        left.weight - right.weight ||
        others.length - members.length ||
        compareText(left.one, right.one),
    )
    .map(({ phrase, members, causes }) => ({
      way: phrase.way,
      text: members.length === 1 ? `1 connection ${phrase.one}` : `${members.length} connections ${phrase.many}`,
      connections: members.map(({ change }): ResourceId => change.connection),
      tags: commonTags(members),
      causes: [...causes.values()],
    }));
}

const waysByWeight: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'neutral', 'strengthens'];

function commonTags([first, ...rest]: readonly Touched[]): JsonObject {
  const tags = Object.entries(first?.change.tags ?? {});
  return Object.fromEntries(tags.filter(([key, value]) => rest.every(({ change }) => equal(change.tags[key], value))));
}

function phrasesOf(touched: Touched): readonly Phrase[] {
  if (touched.change.comes === true) return newcomer(touched);
  return touched.differences.flatMap((difference) => {
    const { aspect, lost, gained, untold, beside } = difference;
    const said = (way: Sure, parts: readonly Part[]): readonly Phrase[] =>
      parts.length === 0 ? [] : [{ way, ...wordsFor(aspect, way, { ...touched, parts }), causes: causesFor(touched, aspect, way) }];
    return [...said('weakens', lost), ...said('unknown', untold), ...said('strengthens', [...gained, ...beside])];
  });
}

/** A connection that opens with nothing in front of it is worth a word, though nobody loses anything. */
function newcomer(touched: Touched): readonly Phrase[] {
  const { after } = touched;
  if (partsOf(after, 'access').length === 0) return [];
  const guards: readonly ControlType[] = ['review', 'requests', 'input', 'output', 'masking', 'redaction'];
  if (guards.some((aspect) => partsOf(after, aspect).length > 0)) return [];
  const seen = after.unseen.has('review') ? 'guardrails or masking' : 'reviewers, guardrails or masking';
  const causes = causesFor(touched, 'access', 'neutral');
  return [{ way: 'neutral', weight: 0, one: `comes open, without ${seen}`, many: `come open, without ${seen}`, causes }];
}

/** Of what bears on an aspect, what goes the same way; all of it where nothing is known to. */
function causesFor({ bearings }: Touched, aspect: ControlType, way: ProtectionVerdict): readonly Cause[] {
  const all = bearings.get(aspect) ?? [];
  const same = all.filter((bearing) => bearing.way === way || bearing.way === 'both' || bearing.way === 'unknown');
  return (same.length === 0 ? all : same).map(({ cause }) => cause);
}

function keyOf({ by, path, edge, place }: Cause): string {
  return [by, path, edge, place].join('\0');
}
