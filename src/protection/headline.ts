import { canonical, compareText, equal, type JsonObject } from '../model/json.ts';
import type { Aspect, Headline, Way } from '../model/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Touched } from './diff.ts';
import { wordsFor, type Sure, type Words } from './phrases.ts';
import { partsOf, type Part } from './posture.ts';

/** What is said of one connection, before it is counted with others of which the same is said. */
type Phrase = Words & { readonly way: Way };

/** Sentences on what a plan means for connections, the weightiest first: what weakens, then what nobody can tell. */
export function headlinesOf(all: readonly Touched[]): readonly Headline[] {
  const groups = new Map<string, { readonly phrase: Phrase; readonly members: Touched[] }>();
  for (const touched of all) {
    for (const phrase of phrasesOf(touched)) {
      const key = canonical([phrase.way, phrase.one]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { phrase, members: [touched] });
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
    .map(({ phrase, members }) => ({
      way: phrase.way,
      text: members.length === 1 ? `1 connection ${phrase.one}` : `${members.length} connections ${phrase.many}`,
      connections: members.map(({ change }): ResourceId => change.connection),
      tags: commonTags(members),
    }));
}

const waysByWeight: readonly Way[] = ['weakens', 'both', 'unknown', 'neutral', 'strengthens'];

function commonTags([first, ...rest]: readonly Touched[]): JsonObject {
  const tags = Object.entries(first?.change.tags ?? {});
  return Object.fromEntries(tags.filter(([key, value]) => rest.every(({ change }) => equal(change.tags[key], value))));
}

function phrasesOf(touched: Touched): readonly Phrase[] {
  if (touched.change.comes === true) return newcomer(touched);
  return touched.differences.flatMap((difference) => {
    const { aspect, lost, gained, untold } = difference;
    const said = (way: Sure, parts: readonly Part[]): readonly Phrase[] =>
      parts.length === 0 ? [] : [{ way, ...wordsFor(aspect, way, { ...touched, parts }) }];
    return [...said('weakens', lost), ...said('unknown', untold), ...said('strengthens', gained)];
  });
}

/** A connection that opens with nothing in front of it is worth a word, though nobody loses anything. */
function newcomer({ after }: Touched): readonly Phrase[] {
  if (partsOf(after, 'access').length === 0) return [];
  const guards: readonly Aspect[] = ['review', 'input', 'output', 'masking', 'redaction'];
  if (guards.some((aspect) => partsOf(after, aspect).length > 0)) return [];
  const seen = after.unseen.has('review') ? 'guardrails or masking' : 'reviewers, guardrails or masking';
  return [{ way: 'neutral', weight: 0, one: `comes open, without ${seen}`, many: `come open, without ${seen}` }];
}
