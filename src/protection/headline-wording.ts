import type { ControlType } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { approvalCount } from './controls/compare-review.ts';
import { controlTable } from './controls/control-table.ts';
import { controlsOf, type Control, type Posture } from './controls/control.ts';
import { isSameEnforcement } from './controls/enforcement.ts';

const longest = 60;

/** Cuts a text to 60 characters. */
export function cutText(text: string): string {
  const characters = Array.from(text.slice(0, 4 * longest));
  return characters.length > longest ? `${characters.slice(0, longest - 3).join('')}...` : text;
}

/** Cuts a text to 60 characters and puts it in quotes, without escaping. */
export function shortText(text: string): string {
  return `"${cutText(text)}"`;
}

/** The wording for one connection and for several. A smaller weight is printed first. */
export type Wording = { readonly weight: number; readonly one: string; readonly many: string };

/** The verdicts that have a wording; a mixed difference has two phrases. */
export type WordedVerdict = 'weakens' | 'strengthens' | 'unknown';

/** The controls that the phrase is about, and the postures of the connection. */
export type WordingContext = { readonly controls: readonly Control[]; readonly before: Posture; readonly after: Posture };

/** Returns the verb phrase for a changed control type; it follows the number of connections. */
export function wordingFor(aspect: ControlType, way: WordedVerdict, context: WordingContext): Wording {
  const { weight, about, loses, gains } = topics[aspect];
  const enforcement = enforcementPhrase(aspect, way, context);
  if (enforcement !== undefined) return { weight, ...enforcement };
  if (way === 'unknown') return { weight, ...verbPhrase('changes', 'change', `${about} in a way that cannot be compared`) };
  // The controls on the other side decide whether all or some of them were lost or gained.
  return { weight, ...(way === 'weakens' ? loses(context.controls, context.after) : gains(context.controls, context.before)) };
}

/** Returns the phrase for a type that enforces a control otherwise than the type before. */
function enforcementPhrase(aspect: ControlType, way: WordedVerdict, { before, after }: WordingContext): VerbPhrase | undefined {
  const isConditioned = controlTable.some(({ type, conditions }) => type === aspect && conditions !== undefined);
  const [first, last] = [before.enforcement, after.enforcement];
  if (!isConditioned || isSameEnforcement(first, last)) return undefined;
  const what = topics[aspect].enforced ?? topics[aspect].about;
  if (way === 'unknown') return verbPhrase('changes', 'change', `to a type that may enforce ${what} otherwise`);
  const isMissing = controlsOf(way === 'weakens' ? before : after, aspect).length === 0;
  if (isMissing || first.kind === last.kind) return undefined;
  return way === 'weakens'
    ? verbPhrase('no longer enforces', 'no longer enforce', what)
    : verbPhrase('starts', 'start', `to enforce ${what}`);
}

type VerbPhrase = Omit<Wording, 'weight'>;
type PhraseBuilder = (controls: readonly Control[], other: Posture) => VerbPhrase;
type Topic = {
  readonly weight: number;
  readonly about: string;
  /** What a type enforces, if that is not the topic. */
  readonly enforced?: string;
  readonly loses: PhraseBuilder;
  readonly gains: PhraseBuilder;
};

function verbPhrase(one: string, many: string, rest: string): VerbPhrase {
  return { one: `${one} ${rest}`, many: `${many} ${rest}` };
}

const guardrails: Topic = {
  weight: 2,
  about: 'guardrail patterns',
  enforced: 'guardrails',
  loses: (controls, other) => verbPhrase('loses', 'lose', isWholeRule(controls, other) ? 'a guardrail' : 'guardrail checks'),
  gains: (controls, other) => verbPhrase('gains', 'gain', isWholeRule(controls, other) ? 'a guardrail' : 'guardrail checks'),
};

const topics: Readonly<Record<ControlType, Topic>> = {
  access: {
    weight: 0,
    about: 'access modes',
    loses: (controls) => verbPhrase('opens', 'open', joinNames(controls)),
    gains: (controls) => verbPhrase('closes', 'close', joinNames(controls)),
  },
  review: {
    weight: 1,
    about: 'reviewers',
    loses: (controls, other) => reviewPhrase(controls, other, { one: 'loses', many: 'lose', approval: 'easier' }),
    gains: (controls, other) => reviewPhrase(controls, other, { one: 'gains', many: 'gain', approval: 'harder' }),
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

function joinNames(controls: readonly Control[]): string {
  const names = controls.map(({ name }) => name);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((text) => text !== '').join(' and ');
}

/** Returns the phrase for review: all of it, a group, or only the number of approvals. */
function reviewPhrase(
  controls: readonly Control[],
  other: Posture,
  { one, many, approval }: VerbPhrase & { readonly approval: string },
): VerbPhrase {
  if (controlsOf(other, 'review').length === 0) return verbPhrase(one, many, 'review');
  return controls.some(({ name }) => name !== approvalCount)
    ? verbPhrase(one, many, 'a reviewer group')
    : verbPhrase('is', 'are', `${approval} to approve`);
}

/** Returns whether one of the rules is missing completely from the other posture. */
function isWholeRule(controls: readonly Control[], other: Posture): boolean {
  const rules = new Set(controls.flatMap((control) => control.rules ?? []));
  const isThere = (rule: ResourceId): boolean =>
    (['input', 'output'] as const).some((side) => controlsOf(other, side).some((control) => control.rules?.includes(rule)));
  return [...rules].some((rule) => !isThere(rule));
}
