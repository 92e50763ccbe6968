import { bitsOf, createUniverse, patternMatcher, subsetsOf } from './universe.ts';

/**
 * A second opinion about protection. It shares no code with `src/protection`: it lists what a person can do on a connection, one
 * condition after the other, and compares the lists.
 */

/** A JSON object of a gateway, as far as the model reads it. */
type Fields = Readonly<Record<string, unknown>>;

/** An object of a gateway: `Kind/name`, its fields, and the connections that a rule is attached to. */
export type ModelObject = { readonly id: string; readonly spec?: Fields; readonly edges?: Readonly<Record<string, readonly string[]>> };

/** All objects of a gateway by id. */
export type ModelState = Readonly<Record<string, ModelObject>>;

/** The conditions of an action. `approval` is review and forced approval together. */
export const conditions = ['access', 'approval', 'duration', 'metadata', 'input', 'output', 'masking', 'redaction', 'schema'] as const;

export type Condition = (typeof conditions)[number];

/** What meets each condition: a set of approvals, texts, durations…, one bit each. */
type Admitted = Readonly<Partial<Record<Condition, bigint>>>;

/** Everything that one connection allows: one entry for each mode of access, and one for the schema. */
type Allowed = Readonly<Record<Mode | 'browse', Admitted>>;

type Mode = 'connect' | 'exec' | 'runbooks';
const modes: readonly Mode[] = ['connect', 'exec', 'runbooks'];

/** The values that the generator chooses from, and that the universes are complete for. */
export const pools = {
  groups: ['a', 'b', 'c', 'x'],
  words: ['DROP', 'drop', 'DROP TABLE', 'GRANT', 'TRUNCATE'],
  patterns: ['(?i)drop', '^DROP', 'GR.NT', 'DROP|GRANT', 'zzzz', '(?i)drop +table', '[A-Z]{4}'],
  registered: ['PERSON', 'URL', 'EMAIL_ADDRESS'],
  denied: ['E12', 'Ann'],
  expressions: ['E[0-9]+', 'E1[0-9]', 'D[0-9]+', '(?i)e[0-9]+'],
  redacted: ['EMAIL_ADDRESS', 'PERSON'],
  metadata: ['ticket', 'reason'],
  attributes: ['pii', 'ops'],
  durations: [600, 3600, 172_800, 2_592_000],
  thresholds: [0, 0.2, 0.5, 0.8, 1],
  scores: [0, 0.3, 0.5, 0.7, 0.9, 1],
} as const;

const commands = createUniverse(
  [...pools.words.map((word) => `word ${word}`), ...pools.patterns.map((pattern) => `pattern ${pattern}`)],
  (matcher, text) => (matcher.startsWith('word ') ? text.includes(matcher.slice(5)) : patternMatcher(matcher.slice(8)).test(text)),
  {
    fragments: ['DROP', 'drop', 'Drop', ' ', 'TABLE', 'table', 'GRANT', 'GR', 'grant', '-NT', 'TRUNCATE', 'truncate', 'zzzz', 'x', 'AB'],
    longest: 4,
  },
);

/** Texts that a custom entity type finds as a whole: a value that is only partly masked is visible. */
const values = createUniverse(
  [...pools.denied.map((word) => `word ${word}`), ...pools.expressions.map((pattern) => `pattern ${pattern}`)],
  (matcher, text) =>
    matcher.startsWith('word ') ? text === matcher.slice(5) : patternMatcher(matcher.slice(8)).exec(text)?.[0] === text && text !== '',
  { fragments: ['E', 'e', 'D', 'd', '1', '2', '3', 'Ann', 'ann', ' '], longest: 4 },
);

/** Values of registered types with the score that the gateway finds. */
const grid = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const detections = pools.registered.flatMap((type) => grid.map((score) => ({ type, score })));

/** The groups that approve, and one of them that forces the approval. */
const approvals = subsetsOf(pools.groups).flatMap((groups) => [undefined, ...groups].map((forces) => ({ groups, forces })));
const sessions = [1, ...pools.durations, 86_400, 7_776_000].toSorted((left, right) => left - right);
const statements = subsetsOf(pools.metadata);
const every = 1n;

/** What only the gateway knows: its own threshold, and its own longest session. */
export type World = { readonly threshold: number; readonly longest: number };

/** Worlds that differ in all ways that the pools can show. */
export const worlds: readonly World[] = [
  { threshold: 0, longest: 172_800 },
  { threshold: 0.1, longest: 1 },
  { threshold: 0.35, longest: 3600 },
  { threshold: 0.6, longest: 86_400 },
  { threshold: 0.75, longest: 2_592_000 },
  { threshold: 0.95, longest: 600 },
  { threshold: 1, longest: 7_776_000 },
];

/** Subtypes whose port forwards bytes that the gateway cannot read. */
const opaque = new Set(['tcp', 'ssh', 'httpproxy']);

/** Returns what a connection allows; nothing when it does not exist. */
function allowedOn(state: ModelState, id: string, world: World): Allowed {
  const spec = state[id]?.spec;
  if (spec === undefined) return { connect: {}, exec: {}, runbooks: {}, browse: {} };
  const rules = rulesOn(state, id);
  const own = {
    approval: approvalsOf(spec),
    duration: bitsOf(sessions, (seconds) => seconds <= numberOr(spec['access_max_duration'], world.longest)),
    metadata: bitsOf(statements, (given) => texts(spec['mandatory_metadata_fields']).every((field) => given.some((one) => one === field))),
    redaction: redactionOf(spec),
  };
  const content = {
    input: commandsPassing(rules, 'input'),
    output: commandsPassing(rules, 'output'),
    masking: visibleValues(rules, world.threshold),
  };
  const unread = { input: all(commands.texts), output: all(commands.texts), masking: all([...detections, ...values.texts]) };
  const isOpaque = opaque.has(textOf(spec['subtype']));
  const ofMode = (mode: Mode): Admitted => ({
    access: spec[`access_mode_${mode}`] === 'enabled' ? every : 0n,
    ...own,
    ...(mode === 'connect' && isOpaque ? unread : content),
  });
  return {
    connect: ofMode('connect'),
    exec: ofMode('exec'),
    runbooks: ofMode('runbooks'),
    browse: { schema: spec['access_schema'] === 'enabled' ? every : 0n },
  };
}

/** Lists the rules that reach a connection: through an edge, or because both have an attribute. */
function rulesOn(state: ModelState, id: string): readonly ModelObject[] {
  const attributes = texts(state[id]?.spec?.['attributes']);
  return Object.values(state).filter((rule) => {
    if (rule.id.startsWith('Connection/')) return false;
    const isAttached = rule.edges?.['connection_ids']?.includes(id) === true;
    return isAttached || texts(rule.spec?.['attributes']).some((attribute) => attributes.includes(attribute));
  });
}

/** Lists the approvals that let a session begin: enough reviewers, or one group that may force it. Without reviewers all do. */
function approvalsOf(spec: Fields): bigint {
  const reviewers = texts(spec['reviewers']);
  const needed = Math.min(numberOr(spec['min_review_approvals'], reviewers.length), reviewers.length);
  const forcing = texts(spec['force_approve_groups']);
  return bitsOf(approvals, ({ groups, forces }) => {
    if (reviewers.length === 0) return true;
    return groups.filter((group) => reviewers.includes(group)).length >= needed || (forces !== undefined && forcing.includes(forces));
  });
}

function redactionOf(spec: Fields): bigint {
  const hidden = spec['redact_enabled'] === false ? [] : texts(spec['redact_types']);
  return bitsOf(['plain', ...pools.redacted], (type) => !hidden.includes(type));
}

/** Lists the texts that no guardrail blocks. An entry of an unknown type blocks nothing. */
function commandsPassing(rules: readonly ModelObject[], side: 'input' | 'output'): bigint {
  const blocked = rules.filter(({ id }) => id.startsWith('GuardrailRule/')).flatMap(({ spec }) => entries(object(spec?.[side])['rules']));
  return blocked.reduce((passing, entry) => {
    const type = entry['type'];
    const pattern = textOf(entry['pattern_regex']);
    if (type === 'deny_words_list') return texts(entry['words']).reduce((rest, word) => rest & ~commands.bits(`word ${word}`), passing);
    return type === 'pattern_match' && pattern !== '' ? passing & ~commands.bits(`pattern ${pattern}`) : passing;
  }, all(commands.texts));
}

/** Lists the values that no masking rule hides: those of registered types by their score, then those of custom types. */
function visibleValues(rules: readonly ModelObject[], standard: number): bigint {
  const masking = rules.filter(({ id }) => id.startsWith('DataMaskingRule/')).map(({ spec = {} }) => spec);
  const registered = masking.map((spec) => ({
    types: entries(spec['supported_entity_types']).flatMap((group) => texts(group['entity_types'])),
    from: numberOr(spec['score_threshold'], standard),
  }));
  const shown = bitsOf(detections, ({ type, score }) => !registered.some(({ types, from }) => types.includes(type) && score >= from));
  const found = masking.flatMap((spec) =>
    entries(spec['custom_entity_types'])
      .filter((entity) => numberOr(entity['score'], 0) >= numberOr(spec['score_threshold'], standard))
      .flatMap((entity) => [
        ...texts(entity['deny_list']).map((word) => `word ${word}`),
        ...(textOf(entity['regex']) === '' ? [] : [`pattern ${textOf(entity['regex'])}`]),
      ]),
  );
  const clear = found.reduce((rest, matcher) => rest & ~values.bits(matcher), all(values.texts));
  return shown | (clear << BigInt(detections.length));
}

function all(elements: readonly unknown[]): bigint {
  return (1n << BigInt(elements.length)) - 1n;
}

/** The effect of a change on one connection. */
export type ModelVerdict = {
  /**
   * What became possible. Each set stands for actions that only these conditions prevented before, so a report has to name one
   * of them.
   */
  readonly demands: readonly ReadonlySet<Condition>[];
  /** Conditions that surely admit more, whatever the gateway does and whichever modes are open. */
  readonly surelyLost: ReadonlySet<Condition>;
  /** Conditions that admit less in some world. */
  readonly gained: ReadonlySet<Condition>;
};

/** Compares one connection in two states; `predecessor` is the connection that it replaces. */
export function judgeConnection(
  before: ModelState,
  after: ModelState,
  id: string,
  { predecessor = id, possible = worlds }: { readonly predecessor?: string; readonly possible?: readonly World[] } = {},
): ModelVerdict {
  const pairs = possible.map((world) => [allowedOn(before, predecessor, world), allowedOn(after, id, world)] as const);
  const demands = pairs.flatMap(([first, last]) => kinds.flatMap((kind) => demandsOf(first[kind], last[kind])));
  const lost = pairs.map(([first, last]) => conditionsWith(first, last, (was, is) => (is & ~was) !== 0n));
  const gained = pairs.flatMap(([first, last]) => [...conditionsWith(first, last, (was, is) => (was & ~is) !== 0n)]);
  return {
    demands: [...new Map(demands.map((demand) => [[...demand].join(' '), demand])).values()],
    surelyLost: new Set(conditions.filter((condition) => lost.every((one) => one.has(condition)))),
    gained: new Set(gained),
  };
}

const kinds = [...modes, 'browse'] as const;

/** Lists the smallest sets of conditions that prevented an action before and admit it after. */
function demandsOf(before: Admitted, after: Admitted): readonly ReadonlySet<Condition>[] {
  const found = conditions.filter((condition) => after[condition] !== undefined);
  const pairs = found.map((condition) => ({ condition, was: before[condition] ?? 0n, is: after[condition] ?? 0n }));
  if (pairs.some(({ is }) => is === 0n)) return [];
  const always = pairs.filter(({ was, is }) => (was & is) === 0n).map(({ condition }) => condition);
  if (always.length > 0) return [new Set(always)];
  return pairs.filter(({ was, is }) => (is & ~was) !== 0n).map(({ condition }) => new Set([condition]));
}

function conditionsWith(before: Allowed, after: Allowed, test: (was: bigint, is: bigint) => boolean): ReadonlySet<Condition> {
  return new Set(conditions.filter((condition) => kinds.some((kind) => test(before[kind][condition] ?? 0n, after[kind][condition] ?? 0n))));
}

/** Lists what `state` allows on a connection and `wished` forbids, in any world. */
export function excessOf(state: ModelState, wished: ModelState, id: string): readonly string[] {
  return judgeConnection(wished, state, id).demands.map((demand) => [...demand].join(' or '));
}

/** Returns whether anybody can use a connection in any mode. */
export function isOpen(state: ModelState, id: string): boolean {
  return modes.some((mode) => state[id]?.spec?.[`access_mode_${mode}`] === 'enabled');
}

/** Returns whether review, guardrails, masking and redaction prevent nothing on a connection, in any world. */
export function isUnprotected(state: ModelState, id: string): boolean {
  return worlds.every((world) => {
    const { approval, input, output, masking, redaction } = allowedOn(state, id, world).exec;
    const isEverything = approval === all(approvals) && redaction === all(['plain', ...pools.redacted]);
    return isEverything && [input, output].every((one) => one === all(commands.texts)) && masking === all([...detections, ...values.texts]);
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry: unknown) => typeof entry === 'string') : [];
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function object(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function entries(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
