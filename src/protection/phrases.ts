import type { ControlType } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { approvals } from './compare.ts';
import { partsOf, type Part, type Posture } from './posture.ts';

/** What is said of one connection and of many; the smaller weight comes first. */
export type Words = { readonly weight: number; readonly one: string; readonly many: string };

/** The ways that something is said of: what goes both of them is said twice. */
export type Sure = 'weakens' | 'strengthens' | 'unknown';

/** What is lost, gained, or past comparing, of which connection. */
export type Occasion = { readonly parts: readonly Part[]; readonly before: Posture; readonly after: Posture };

/** Says what becomes of an aspect, as a verb that follows the number of connections. */
export function wordsFor(aspect: ControlType, way: Sure, occasion: Occasion): Words {
  const { weight, about, loses, gains } = topics[aspect];
  if (way === 'unknown') return { weight, ...said('changes', 'change', `${about} in a way that nobody can compare`) };
  // What the other side has of it tells whether all or some of it goes or comes.
  return { weight, ...(way === 'weakens' ? loses(occasion.parts, occasion.after) : gains(occasion.parts, occasion.before)) };
}

type Saying = Omit<Words, 'weight'>;
type Verb = (parts: readonly Part[], other: Posture) => Saying;
type Topic = { readonly weight: number; readonly about: string; readonly loses: Verb; readonly gains: Verb };

function said(one: string, many: string, rest: string): Saying {
  return { one: `${one} ${rest}`, many: `${many} ${rest}` };
}

const guardrails: Topic = {
  weight: 2,
  about: 'guardrail patterns',
  loses: (parts, other) => said('loses', 'lose', isWhole(parts, other) ? 'a guardrail' : 'guardrail checks'),
  gains: (parts, other) => said('gains', 'gain', isWhole(parts, other) ? 'a guardrail' : 'guardrail checks'),
};

const topics: Readonly<Record<ControlType, Topic>> = {
  access: {
    weight: 0,
    about: 'access modes',
    loses: (parts) => said('opens', 'open', listed(parts)),
    gains: (parts) => said('closes', 'close', listed(parts)),
  },
  review: {
    weight: 1,
    about: 'reviewers',
    loses: (parts, other) => reviewed(parts, other, { one: 'loses', many: 'lose', approval: 'easier' }),
    gains: (parts, other) => reviewed(parts, other, { one: 'gains', many: 'gain', approval: 'harder' }),
  },
  input: guardrails,
  output: guardrails,
  masking: {
    weight: 3,
    about: 'masking',
    loses: (_, other) => (partsOf(other, 'masking').length === 0 ? said('loses', 'lose', 'masking') : said('masks', 'mask', 'less')),
    gains: (_, other) => (partsOf(other, 'masking').length === 0 ? said('gains', 'gain', 'masking') : said('masks', 'mask', 'more')),
  },
  redaction: {
    weight: 4,
    about: 'redaction',
    loses: (_, other) =>
      partsOf(other, 'redaction').length === 0 ? said('loses', 'lose', 'redaction') : said('redacts', 'redact', 'less'),
    gains: (_, other) =>
      partsOf(other, 'redaction').length === 0 ? said('gains', 'gain', 'redaction') : said('redacts', 'redact', 'more'),
  },
  force: {
    weight: 5,
    about: 'who may force-approve',
    loses: () => said('can be', 'can be', 'force-approved by more groups'),
    gains: () => said('can be', 'can be', 'force-approved by fewer groups'),
  },
  duration: {
    weight: 6,
    about: 'how long access lasts',
    loses: () => said('allows', 'allow', 'longer access'),
    gains: () => said('allows', 'allow', 'only shorter access'),
  },
  schema: {
    weight: 7,
    about: 'schema access',
    loses: () => said('shows', 'show', 'the schema'),
    gains: () => said('hides', 'hide', 'the schema'),
  },
  metadata: {
    weight: 8,
    about: 'required metadata',
    loses: () => said('asks', 'ask', 'for less metadata'),
    gains: () => said('asks', 'ask', 'for more metadata'),
  },
  attributes: {
    weight: 9,
    about: 'attributes',
    loses: () => said('loses', 'lose', 'an attribute'),
    gains: () => said('gains', 'gain', 'an attribute'),
  },
  requests: {
    weight: 1,
    about: 'access-request rules',
    loses: () => said('loses', 'lose', 'an access-request rule'),
    gains: () => said('gains', 'gain', 'an access-request rule'),
  },
};

function listed(parts: readonly Part[]): string {
  const names = parts.map(({ name }) => name);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((text) => text !== '').join(' and ');
}

/** The whole review, a group, or only how many must agree. */
function reviewed(parts: readonly Part[], other: Posture, { one, many, approval }: Saying & { readonly approval: string }): Saying {
  if (partsOf(other, 'review').length === 0) return said(one, many, 'review');
  return parts.some(({ name }) => name !== approvals) ? said(one, many, 'a reviewer group') : said('is', 'are', `${approval} to approve`);
}

/** Tells whether a rule is on neither side of the other posture. */
function isWhole(parts: readonly Part[], other: Posture): boolean {
  const rules = new Set(parts.flatMap((part) => part.rules ?? []));
  const isThere = (rule: ResourceId): boolean =>
    (['input', 'output'] as const).some((side) => partsOf(other, side).some((part) => part.rules?.includes(rule)));
  return [...rules].some((rule) => !isThere(rule));
}
