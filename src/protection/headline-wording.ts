import type { ControlType } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { approvalCount } from './posture/compare-postures.ts';
import { controlsOf, type Control, type Posture } from './posture/posture.ts';

/** What is said of one connection and of many; the smaller weight comes first. */
export type Wording = { readonly weight: number; readonly one: string; readonly many: string };

/** The ways that something is said of: what goes both of them is said twice. */
export type WordedVerdict = 'weakens' | 'strengthens' | 'unknown';

/** What is lost, gained, or past comparing, of which connection. */
export type WordingContext = { readonly parts: readonly Control[]; readonly before: Posture; readonly after: Posture };

/** Says what becomes of an aspect, as a verb that follows the number of connections. */
export function wordingFor(aspect: ControlType, way: WordedVerdict, occasion: WordingContext): Wording {
  const { weight, about, loses, gains } = topics[aspect];
  if (way === 'unknown') return { weight, ...verbPhrase('changes', 'change', `${about} in a way that nobody can compare`) };
  // What the other side has of it tells whether all or some of it goes or comes.
  return { weight, ...(way === 'weakens' ? loses(occasion.parts, occasion.after) : gains(occasion.parts, occasion.before)) };
}

type VerbPhrase = Omit<Wording, 'weight'>;
type Verb = (parts: readonly Control[], other: Posture) => VerbPhrase;
type Topic = { readonly weight: number; readonly about: string; readonly loses: Verb; readonly gains: Verb };

function verbPhrase(one: string, many: string, rest: string): VerbPhrase {
  return { one: `${one} ${rest}`, many: `${many} ${rest}` };
}

const guardrails: Topic = {
  weight: 2,
  about: 'guardrail patterns',
  loses: (parts, other) => verbPhrase('loses', 'lose', isWholeRule(parts, other) ? 'a guardrail' : 'guardrail checks'),
  gains: (parts, other) => verbPhrase('gains', 'gain', isWholeRule(parts, other) ? 'a guardrail' : 'guardrail checks'),
};

const topics: Readonly<Record<ControlType, Topic>> = {
  access: {
    weight: 0,
    about: 'access modes',
    loses: (parts) => verbPhrase('opens', 'open', joinNames(parts)),
    gains: (parts) => verbPhrase('closes', 'close', joinNames(parts)),
  },
  review: {
    weight: 1,
    about: 'reviewers',
    loses: (parts, other) => reviewPhrase(parts, other, { one: 'loses', many: 'lose', approval: 'easier' }),
    gains: (parts, other) => reviewPhrase(parts, other, { one: 'gains', many: 'gain', approval: 'harder' }),
  },
  input: guardrails,
  output: guardrails,
  masking: {
    weight: 3,
    about: 'masking',
    loses: (_, other) =>
      controlsOf(other, 'masking').length === 0 ? verbPhrase('loses', 'lose', 'masking') : verbPhrase('masks', 'mask', 'less'),
    gains: (_, other) =>
      controlsOf(other, 'masking').length === 0 ? verbPhrase('gains', 'gain', 'masking') : verbPhrase('masks', 'mask', 'more'),
  },
  redaction: {
    weight: 4,
    about: 'redaction',
    loses: (_, other) =>
      controlsOf(other, 'redaction').length === 0 ? verbPhrase('loses', 'lose', 'redaction') : verbPhrase('redacts', 'redact', 'less'),
    gains: (_, other) =>
      controlsOf(other, 'redaction').length === 0 ? verbPhrase('gains', 'gain', 'redaction') : verbPhrase('redacts', 'redact', 'more'),
  },
  force: {
    weight: 5,
    about: 'who may force-approve',
    loses: () => verbPhrase('can be', 'can be', 'force-approved by more groups'),
    gains: () => verbPhrase('can be', 'can be', 'force-approved by fewer groups'),
  },
  duration: {
    weight: 6,
    about: 'how long access lasts',
    loses: () => verbPhrase('allows', 'allow', 'longer access'),
    gains: () => verbPhrase('allows', 'allow', 'only shorter access'),
  },
  schema: {
    weight: 7,
    about: 'schema access',
    loses: () => verbPhrase('shows', 'show', 'the schema'),
    gains: () => verbPhrase('hides', 'hide', 'the schema'),
  },
  metadata: {
    weight: 8,
    about: 'required metadata',
    loses: () => verbPhrase('asks', 'ask', 'for less metadata'),
    gains: () => verbPhrase('asks', 'ask', 'for more metadata'),
  },
  attributes: {
    weight: 9,
    about: 'attributes',
    loses: () => verbPhrase('loses', 'lose', 'an attribute'),
    gains: () => verbPhrase('gains', 'gain', 'an attribute'),
  },
  requests: {
    weight: 1,
    about: 'access-request rules',
    loses: () => verbPhrase('loses', 'lose', 'an access-request rule'),
    gains: () => verbPhrase('gains', 'gain', 'an access-request rule'),
  },
};

function joinNames(parts: readonly Control[]): string {
  const names = parts.map(({ name }) => name);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((text) => text !== '').join(' and ');
}

/** The whole review, a group, or only how many must agree. */
function reviewPhrase(
  parts: readonly Control[],
  other: Posture,
  { one, many, approval }: VerbPhrase & { readonly approval: string },
): VerbPhrase {
  if (controlsOf(other, 'review').length === 0) return verbPhrase(one, many, 'review');
  return parts.some(({ name }) => name !== approvalCount)
    ? verbPhrase(one, many, 'a reviewer group')
    : verbPhrase('is', 'are', `${approval} to approve`);
}

/** Tells whether a rule is on neither side of the other posture. */
function isWholeRule(parts: readonly Control[], other: Posture): boolean {
  const rules = new Set(parts.flatMap((part) => part.rules ?? []));
  const isThere = (rule: ResourceId): boolean =>
    (['input', 'output'] as const).some((side) => controlsOf(other, side).some((part) => part.rules?.includes(rule)));
  return [...rules].some((rule) => !isThere(rule));
}
