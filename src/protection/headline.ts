import { canonical, compareText, equal, type JsonObject } from '../model/json.ts';
import type { ControlType, Cause, Headline, ProtectionVerdict } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import type { AffectedConnection } from './posture/diff-postures.ts';
import { wordingFor, type WordedVerdict, type Wording } from './headline-wording.ts';
import { controlsOf, type Control } from './posture/posture.ts';

/** What is said of one connection, before it is counted with others of which the same is said. */
type Phrase = Wording & { readonly way: ProtectionVerdict; readonly causes: readonly Cause[] };

/** Sentences on what a plan means for connections, the weightiest first: what weakens, then what nobody can tell. */
export function buildHeadlines(all: readonly AffectedConnection[]): readonly Headline[] {
  const groups = new Map<
    string,
    { readonly phrase: Phrase; readonly members: AffectedConnection[]; readonly causes: Map<string, Cause> }
  >();
  for (const touched of all) {
    for (const phrase of phrasesOf(touched)) {
      const key = canonical([phrase.way, phrase.one]);
      const group = groups.get(key);
      const causes = group?.causes ?? new Map<string, Cause>();
      for (const cause of phrase.causes) if (!causes.has(causeKey(cause))) causes.set(causeKey(cause), cause);
      if (group === undefined) groups.set(key, { phrase, members: [touched], causes });
      else if (group.members.at(-1) !== touched) group.members.push(touched);
    }
  }
  return [...groups.values()]
    .toSorted(
      ({ phrase: left, members }, { phrase: right, members: others }) =>
        verdictOrder.indexOf(left.way) - verdictOrder.indexOf(right.way) ||
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

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'neutral', 'strengthens'];

function commonTags([first, ...rest]: readonly AffectedConnection[]): JsonObject {
  const tags = Object.entries(first?.change.tags ?? {});
  return Object.fromEntries(tags.filter(([key, value]) => rest.every(({ change }) => equal(change.tags[key], value))));
}

function phrasesOf(touched: AffectedConnection): readonly Phrase[] {
  if (touched.change.comes === true) return newAccessPhrases(touched);
  return touched.differences.flatMap((difference) => {
    const { aspect, lost, gained, incomparable, coexisting } = difference;
    const said = (way: WordedVerdict, parts: readonly Control[]): readonly Phrase[] =>
      parts.length === 0 ? [] : [{ way, ...wordingFor(aspect, way, { ...touched, parts }), causes: causesFor(touched, aspect, way) }];
    return [...said('weakens', lost), ...said('unknown', incomparable), ...said('strengthens', [...gained, ...coexisting])];
  });
}

/** A connection that opens with nothing in front of it is worth a word, though nobody loses anything. */
function newAccessPhrases(touched: AffectedConnection): readonly Phrase[] {
  const { after } = touched;
  if (controlsOf(after, 'access').length === 0) return [];
  const guards: readonly ControlType[] = ['review', 'requests', 'input', 'output', 'masking', 'redaction'];
  if (guards.some((aspect) => controlsOf(after, aspect).length > 0)) return [];
  const seen = after.incomplete.has('review') ? 'guardrails or masking' : 'reviewers, guardrails or masking';
  const causes = causesFor(touched, 'access', 'neutral');
  return [{ way: 'neutral', weight: 0, one: `comes open, without ${seen}`, many: `come open, without ${seen}`, causes }];
}

/** Of what bears on an aspect, what goes the same way; all of it where nothing is known to. */
function causesFor({ contributions: bearings }: AffectedConnection, aspect: ControlType, way: ProtectionVerdict): readonly Cause[] {
  const all = bearings.get(aspect) ?? [];
  const same = all.filter((bearing) => bearing.way === way || bearing.way === 'both' || bearing.way === 'unknown');
  return (same.length === 0 ? all : same).map(({ cause }) => cause);
}

function causeKey({ by, path, edge, place }: Cause): string {
  return [by, path, edge, place].join('\0');
}
