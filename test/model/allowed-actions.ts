import {
  entriesOf,
  fieldsOf,
  numberOr,
  reaching,
  textOf,
  textsOf,
  type Fields,
  type ModelObject,
  type ModelState,
} from './gateway-objects.ts';
import { pools } from './pools.ts';
import { bitsOf, createUniverse, patternMatcher, subsetsOf } from './universe.ts';
import { isModeOpen, type Mode } from './open-modes.ts';
import { type Checks, commandChecks, nativeChecks, type Ways } from './sessions.ts';
import type { World } from './worlds.ts';

/** The conditions of an action. `approval` is review, forced approval and access-request rules together. */
export const conditions = ['access', 'approval', 'duration', 'metadata', 'input', 'output', 'masking', 'redaction', 'schema'] as const;

export type Condition = (typeof conditions)[number];

/** What meets each condition: a set of approvals, texts, durations…, one bit each. */
export type Admitted = Readonly<Partial<Record<Condition, bigint>>>;

export const actionKinds: readonly ['connect', 'exec', 'runbooks', 'browse'] = ['connect', 'exec', 'runbooks', 'browse'];

/** Everything that one connection allows: one entry for each mode of access, and one for the schema. */
export type Allowed = Readonly<Record<(typeof actionKinds)[number], Admitted>>;

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

/** The groups that approve in every way that they may, by force included. */
const approvals = subsetsOf(pools.groups);
const sessions = [1, ...pools.durations, 86_400, 7_776_000].toSorted((left, right) => left - right);
const statements = subsetsOf(pools.metadata);
const every = 1n;

function all(elements: readonly unknown[]): bigint {
  return (1n << BigInt(elements.length)) - 1n;
}

/** What passes by each way, of which sessions check all, some, or none. */
function passingBy(bits: bigint, total: bigint, ways: Ways): bigint {
  return byWay(
    ways.map((isChecked) => (isChecked ? bits : total)),
    total,
  );
}

function byWay(passing: readonly bigint[], total: bigint): bigint {
  const width = BigInt(total.toString(2).length);
  return passing.reduce((rest, bits) => (rest << width) | bits, 0n);
}

const everyText = all(commands.texts);
const everyValue = all([...detections, ...values.texts]);
const redactable = ['plain', ...pools.redacted];
const everyType = all(redactable);

/** What is the same in all worlds, for one connection. */
type Reading = {
  readonly spec: Fields;
  readonly approval: bigint;
  readonly metadata: bigint;
  readonly redaction: bigint;
  readonly input: bigint;
  readonly output: bigint;
  readonly masking: readonly ModelObject[];
};

const readings = new WeakMap<ModelState, Map<string, Reading | undefined>>();

function read(state: ModelState, id: string): Reading | undefined {
  const known = readings.get(state) ?? new Map<string, Reading | undefined>();
  readings.set(state, known);
  if (!known.has(id)) known.set(id, readConnection(state, id));
  return known.get(id);
}

function readConnection(state: ModelState, id: string): Reading | undefined {
  const spec = state[id]?.spec;
  if (spec === undefined) return undefined;
  const guardrails = reaching(state, 'GuardrailRule', id);
  return {
    spec,
    approval: reviewersPass(spec),
    metadata: bitsOf(statements, (given) =>
      textsOf(spec['mandatory_metadata_fields']).every((field) => given.some((one) => one === field)),
    ),
    redaction: redactionOf(spec),
    input: commandsPassing(guardrails, 'input'),
    output: commandsPassing(guardrails, 'output'),
    masking: reaching(state, 'DataMaskingRule', id),
  };
}

const known = new WeakMap<ModelState, Map<string, Map<World, Allowed>>>();

/** Returns what a connection allows; nothing when it does not exist. Each is computed once, because several laws ask for it. */
export function allowedOn(state: ModelState, id: string, world: World): Allowed {
  const byId = known.get(state) ?? new Map<string, Map<World, Allowed>>();
  const byWorld = byId.get(id) ?? new Map<World, Allowed>();
  const allowed = byWorld.get(world) ?? computeAllowed(state, id, world);
  known.set(state, byId.set(id, byWorld.set(world, allowed)));
  return allowed;
}

function computeAllowed(state: ModelState, id: string, world: World): Allowed {
  const found = read(state, id);
  if (found === undefined) return { connect: {}, exec: {}, runbooks: {}, browse: {} };
  const { spec, approval, metadata, redaction, input, output } = found;
  // It limits native sessions; a command takes as long as it takes.
  const duration = bitsOf(sessions, (seconds) => seconds <= numberOr(spec['access_max_duration'], world.longest));
  const masking = visibleValues(found.masking, world.threshold);
  const isBlocking = input !== everyText || output !== everyText;
  const contentOf = ({ refuses, ...checks }: Checks): Admitted => ({
    ...(refuses && isBlocking
      ? { input: 0n, output: 0n }
      : { input: passingBy(input, everyText, checks.input), output: passingBy(output, everyText, checks.output) }),
    masking: passingBy(masking, everyValue, checks.masking),
    redaction: passingBy(redaction, everyType, checks.redaction),
  });
  const ofMode = (mode: Mode): Admitted => ({
    access: isModeOpen(spec, mode, world.gateway !== undefined) ? every : 0n,
    approval,
    duration: mode === 'connect' ? duration : bitsOf(sessions, () => true),
    metadata,
    ...contentOf(mode === 'connect' ? nativeChecks(spec, world) : commandChecks(world)),
  });
  return {
    connect: ofMode('connect'),
    exec: ofMode('exec'),
    runbooks: ofMode('runbooks'),
    browse: { schema: spec['access_schema'] === 'enabled' ? every : 0n },
  };
}

/** Lists the approvals with enough reviewers, or with a group that may force them. Without reviewers all are enough. */
function reviewersPass(spec: Fields): bigint {
  const reviewers = textsOf(spec['reviewers']);
  const needed = Math.min(numberOr(spec['min_review_approvals'], reviewers.length), reviewers.length);
  const forcing = textsOf(spec['force_approve_groups']);
  return bitsOf(approvals, (groups) => {
    if (reviewers.length === 0) return true;
    return groups.filter((group) => reviewers.includes(group)).length >= needed || groups.some((group) => forcing.includes(group));
  });
}

function redactionOf(spec: Fields): bigint {
  const hidden = spec['redact_enabled'] === false ? [] : textsOf(spec['redact_types']);
  return bitsOf(redactable, (type) => !hidden.includes(type));
}

/** Returns the values that a redaction hides whatever masking does: it needs no score. */
export function hiddenByRedaction({ redaction }: Admitted): bigint {
  const isHidden = (type: string): boolean => {
    const index = redactable.indexOf(type);
    return redaction !== undefined && index >= 0 && (redaction & (1n << BigInt(index))) === 0n;
  };
  const hidden = bitsOf(detections, ({ type }) => isHidden(type));
  return byWay([hidden, hidden, hidden], everyValue);
}

/** Lists the texts that no guardrail blocks. An entry of an unknown type blocks nothing. */
function commandsPassing(rules: readonly ModelObject[], side: 'input' | 'output'): bigint {
  const blocked = rules.flatMap(({ spec }) => entriesOf(fieldsOf(spec?.[side])['rules']));
  return blocked.reduce((passing, entry) => {
    const type = entry['type'];
    const pattern = textOf(entry['pattern_regex']);
    if (type === 'deny_words_list') return textsOf(entry['words']).reduce((rest, word) => rest & ~commands.bits(`word ${word}`), passing);
    return type === 'pattern_match' && pattern !== '' ? passing & ~commands.bits(`pattern ${pattern}`) : passing;
  }, all(commands.texts));
}

/** Lists the values that no masking rule hides: those of registered types by their score, then those of custom types. */
function visibleValues(rules: readonly ModelObject[], standard: number): bigint {
  const masking = rules.map(({ spec = {} }) => spec);
  const registered = masking.map((spec) => ({
    types: entriesOf(spec['supported_entity_types']).flatMap((group) => textsOf(group['entity_types'])),
    from: numberOr(spec['score_threshold'], standard),
  }));
  const shown = bitsOf(detections, ({ type, score }) => !registered.some(({ types, from }) => types.includes(type) && score >= from));
  const found = masking.flatMap((spec) =>
    entriesOf(spec['custom_entity_types'])
      .filter((entity) => numberOr(entity['score'], 0) >= numberOr(spec['score_threshold'], standard))
      .flatMap((entity) => [
        ...textsOf(entity['deny_list']).map((word) => `word ${word}`),
        ...(textOf(entity['regex']) === '' ? [] : [`pattern ${textOf(entity['regex'])}`]),
      ]),
  );
  const clear = found.reduce((rest, matcher) => rest & ~values.bits(matcher), all(values.texts));
  return shown | (clear << BigInt(detections.length));
}
