import { canonical, compareText, equal, type JsonObject } from '../model/json.ts';
import type { ControlType, Cause, Headline, ProtectionVerdict } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import type { AffectedConnection } from './posture/diff-postures.ts';
import { wordingFor, type WordedVerdict, type Wording } from './headline-wording.ts';
import { controlsOf, type Control } from './posture/posture.ts';

/** One statement about one connection, before equal statements are grouped. */
type Phrase = Wording & { readonly way: ProtectionVerdict; readonly causes: readonly Cause[] };

/** Builds the headlines of a plan. They are sorted by verdict (weakening first), then by the weight of the control. */
export function buildHeadlines(all: readonly AffectedConnection[]): readonly Headline[] {
  const groups = new Map<
    string,
    { readonly phrase: Phrase; readonly members: AffectedConnection[]; readonly causes: Map<string, Cause> }
  >();
  for (const affected of all) {
    for (const phrase of phrasesOf(affected)) {
      const key = canonical([phrase.way, phrase.one]);
      const group = groups.get(key);
      const causes = group?.causes ?? new Map<string, Cause>();
      for (const cause of phrase.causes) if (!causes.has(causeKey(cause))) causes.set(causeKey(cause), cause);
      if (group === undefined) groups.set(key, { phrase, members: [affected], causes });
      else if (group.members.at(-1) !== affected) group.members.push(affected);
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

function phrasesOf(affected: AffectedConnection): readonly Phrase[] {
  if (affected.change.comes === true) return newAccessPhrases(affected);
  return affected.differences.flatMap((difference) => {
    const { aspect, lost, gained, incomparable, coexisting } = difference;
    const phrases = (way: WordedVerdict, controls: readonly Control[]): readonly Phrase[] =>
      controls.length === 0
        ? []
        : [{ way, ...wordingFor(aspect, way, { ...affected, controls }), causes: causesFor(affected, aspect, way) }];
    return [...phrases('weakens', lost), ...phrases('unknown', incomparable), ...phrases('strengthens', [...gained, ...coexisting])];
  });
}

/** Reports a created connection that is accessible without review, guardrails and masking. */
function newAccessPhrases(affected: AffectedConnection): readonly Phrase[] {
  const { after } = affected;
  if (controlsOf(after, 'access').length === 0) return [];
  const controls: readonly ControlType[] = ['review', 'requests', 'input', 'output', 'masking', 'redaction'];
  if (controls.some((aspect) => controlsOf(after, aspect).length > 0)) return [];
  const missing = after.incomplete.has('review') ? 'guardrails or masking' : 'reviewers, guardrails or masking';
  const causes = causesFor(affected, 'access', 'neutral');
  return [{ way: 'neutral', weight: 0, one: `comes open, without ${missing}`, many: `come open, without ${missing}`, causes }];
}

/** Returns the causes of a control type with the same verdict, or all causes if none has it. */
function causesFor({ contributions }: AffectedConnection, aspect: ControlType, way: ProtectionVerdict): readonly Cause[] {
  const all = contributions.get(aspect) ?? [];
  const same = all.filter((contribution) => contribution.way === way || contribution.way === 'both' || contribution.way === 'unknown');
  return (same.length === 0 ? all : same).map(({ cause }) => cause);
}

function causeKey({ by, path, edge, place }: Cause): string {
  return [by, path, edge, place].join('\0');
}
