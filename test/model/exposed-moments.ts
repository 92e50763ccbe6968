import { compareAccess, type AccessGain } from './access-judgement.ts';
import { requests, type AccessState } from './access-model.ts';
import { readAccessState, type ReadPath } from './access-state.ts';
import { missingContent, readAttachedContent, type AttachedContent } from './attached-content.ts';

/** What everybody can do at one moment, and what rules block meanwhile. */
export type Moment = { readonly access: AccessState; readonly content: AttachedContent };

/** Reads what everybody can do, each path once. */
export async function readMoment(read: ReadPath): Promise<Moment> {
  const known = new Map<string, Promise<unknown>>();
  const readOnce: ReadPath = (path) => {
    const answer = known.get(path) ?? read(path);
    known.set(path, answer);
    return answer;
  };
  return { access: await readAccessState(readOnce), content: await readAttachedContent(readOnce) };
}

function keyOf({ subject, request }: AccessGain): string {
  return `${request} by ${subject.machine?.name ?? subject.groups.join('+')}`;
}

/** What a moment gives on a connection that another one does not, by subject and request; a word that is not blocked is given to all. */
type Excess = { readonly gains: ReadonlyMap<string, string>; readonly missing: readonly string[] };

function excessOver({ access, content }: Moment, moment: Moment, name: string): Excess {
  const { gains } = compareAccess(access, moment.access, { name });
  return {
    gains: new Map(gains.map((gain) => [keyOf(gain), gain.by.join(', ')])),
    missing: access.connections[name] === undefined ? [] : missingContent(name, content, moment.content),
  };
}

/** Lists what people can do at a moment and could do neither before nor after, with the conditions that prevented it. */
export function exposedAt(moment: Moment, before: Moment, after: Moment): readonly string[] {
  return Object.keys(moment.access.connections).flatMap((name) => {
    const sides: Excess[] = [];
    for (const side of [before, after]) {
      const excess = excessOver(side, moment, name);
      if (excess.gains.size + excess.missing.length === 0) return [];
      sides.push(excess);
    }
    // A plan does not judge credentials of native clients apart from native access.
    const possible = compareAccess({ ...moment.access, connections: {} }, moment.access, { name }).gains.filter(
      ({ request }) => request !== requests[3],
    );
    return possible
      .map(keyOf)
      .filter((key) => sides.every(({ gains, missing }) => gains.has(key) || missing.length > 0))
      .map((key) => `${name}: ${key} for ${sides.map(({ gains, missing }) => gains.get(key) ?? missing.join(', ')).join(' and ')}`);
  });
}
