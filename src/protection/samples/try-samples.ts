import { type BaseState, type DesiredResource, type DesiredState, type Sample, desiredById, desiredByKey } from '../../model/desired.ts';
import { suggest, didYouMean } from '../../model/diagnostic.ts';
import { asText, type JsonObject, canonical, textsIn } from '../../model/json.ts';
import { type Change, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { RuleSampleResults, SampleChange, SampleResult } from '../../model/protection/protection.ts';
import { kindOf } from '../../model/resource.ts';
import { guardrailEntries, registeredTypes } from '../controls/rule-rows.ts';
import { type PatternCompiler, patternCache } from '../pattern/compile.ts';
import type { PlannedWrites, PlanSnapshots } from '../posture/diff-postures.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { type GuardrailHit, type GuardrailResult, customTypes, simulateGuardrail, simulateMasking } from './simulate.ts';

/** The sources of samples: the manifests and the base, because a change may remove a sample together with the entry it tests. */
type SampleSources = { readonly desired: DesiredState; readonly base: BaseState | undefined };

/** Returns the samples whose result changes because a plan changes live rules. */
export function findSampleChanges(
  plan: PlannedWrites,
  { desired, base }: SampleSources,
  { before, after }: Pick<PlanSnapshots, 'before' | 'after'>,
): readonly SampleChange[] {
  const changes = plan.changes.filter((change) => isWritten(change) && change.action !== 'create');
  const wanted = changes
    .map((change) => ({ change, samples: samplesOf(change, desired, base) }))
    .filter(({ samples }) => samples.length > 0);
  if (wanted.length === 0) return [];
  const patterns = patternCache();
  return wanted.flatMap(({ change, samples }) => samples.flatMap((sample) => changesOfSample(change, sample, { before, after, patterns })));
}

type SampleToTry = { readonly sample: Sample; readonly gone: boolean };

/** Lists the samples of the manifest, then those that only the base has. */
function samplesOf({ id, key }: Change, desired: DesiredState, base: BaseState | undefined): readonly SampleToTry[] {
  const own = desiredById(desired.resources).get(id)?.samples ?? [];
  const applied = base?.desired.resources ?? [];
  const former = (desiredById(applied).get(id) ?? desiredByKey(applied).get(key ?? id))?.samples ?? [];
  const kept = new Set(own.map(({ given }) => textKey(given)));
  return [
    ...own.map((sample) => ({ sample, gone: false })),
    ...former.filter(({ given }) => !kept.has(textKey(given))).map((sample) => ({ sample, gone: true })),
  ];
}

function textKey({ input, output, text }: JsonObject): string {
  return canonical([input ?? null, output ?? null, text ?? null]);
}

type Sides = { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot; readonly patterns: PatternCompiler };

function changesOfSample(change: Change, { sample, gone }: SampleToTry, { before, after, patterns }: Sides): readonly SampleChange[] {
  const key = liveKeyOf(change);
  const [had, has] = [before.resources.get(key), after.resources.get(key)];
  // A live rule that is not completely readable cannot be simulated.
  if (had === undefined || had.unknown.length > 0) return [];
  const { given, at } = sample;
  const { name } = given;
  const about = { rule: change.id, name: typeof name === 'string' ? name : undefined, gone: gone || undefined, at: gone ? undefined : at };
  if (kindOf(key) === 'GuardrailRule') {
    const side = typeof given['output'] === 'string' ? 'output' : 'input';
    const text = asText(given[side]);
    const outcome = (spec: JsonObject | undefined): string =>
      spec === undefined ? 'allowed' : guardrailOutcome(spec, { side, text, patterns });
    return changeIfDifferent({ ...about, side, text }, outcome(had.spec), outcome(has?.spec));
  }
  const text = asText(given['text']);
  const [masked, masks] = [maskingOutcomes(had.spec, text, patterns), maskingOutcomes(has?.spec ?? {}, text, patterns)];
  const types = [...new Set([...masked.keys(), ...masks.keys()])].toSorted();
  return types.flatMap((type) =>
    changeIfDifferent({ ...about, side: 'text', text, type }, masked.get(type) ?? 'in clear', masks.get(type) ?? 'in clear'),
  );
}

function changeIfDifferent(about: Omit<SampleChange, 'before' | 'after'>, before: string, after: string): readonly SampleChange[] {
  return before === after ? [] : [{ ...about, before, after }];
}

type GuardrailTrial = { readonly side: 'input' | 'output'; readonly text: string; readonly patterns: PatternCompiler };

function guardrailOutcome(spec: JsonObject, { side, text, patterns }: GuardrailTrial): string {
  const { hits, uncertain: doubts } = simulateGuardrail(guardrailEntries(spec, side), text, patterns);
  if (hits.length > 0) return 'blocked';
  return doubts.length > 0 ? 'unknown' : 'allowed';
}

/** Returns the outcome of a text by entity type; a type that is not in the map stays unmasked. */
function maskingOutcomes(spec: JsonObject, text: string, patterns: PatternCompiler): ReadonlyMap<string, string> {
  const { found, uncertain: doubts } = simulateMasking(spec, text, patterns);
  const doubtful = customTypes(spec).filter((type) => doubts.has(type));
  return new Map([...found.map((type) => [type, 'masked'] as const), ...doubtful.map((type) => [type, 'unknown'] as const)]);
}

/** Simulates a rule on its samples; returns undefined for kinds without samples. */
export function trySamples(resource: DesiredResource, patterns: PatternCompiler): RuleSampleResults | undefined {
  const kind = kindOf(resource.id);
  const spec = resource.written ?? resource.spec;
  const samples = resource.samples ?? [];
  const rule = { rule: resource.id, at: resource.locate('') };
  if (kind === 'GuardrailRule') {
    return { ...rule, trials: samples.map((sample) => tryOnGuardrail(sample, spec, patterns)), notSimulated: [] };
  }
  if (kind !== 'DataMaskingRule') return undefined;
  return { ...rule, trials: samples.map((sample) => tryOnMasking(sample, spec, patterns)), notSimulated: registeredTypes(spec) };
}

/** Returns the position and name of a sample result. */
function headOf({ given, at }: Sample): Pick<SampleResult, 'at' | 'name'> {
  const { name } = given;
  return { at, name: typeof name === 'string' ? name : undefined };
}

function tryOnGuardrail(sample: Sample, spec: JsonObject, patterns: PatternCompiler): SampleResult {
  const { given } = sample;
  const side = typeof given['output'] === 'string' ? 'output' : 'input';
  const text = asText(given[side]);
  const by = given['expect'] === 'blocked' && typeof given['by'] === 'string' ? given['by'] : undefined;
  const entries = guardrailEntries(spec, side);
  const verdict = simulateGuardrail(entries, text, patterns);
  const names = entries.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const expected = `${asText(given['expect'])}${by === undefined ? '' : ` by ${by}`}`;
  const found = foundText(verdict, by, side);
  return {
    ...headOf(sample),
    side,
    text,
    expected,
    found,
    ...evaluateSample({ expects: asText(given['expect']), by, side, names }, verdict),
  };
}

/** Formats the result of a guardrail; the entry that the sample names comes first. */
function foundText({ hits, uncertain: doubts }: GuardrailResult, by: string | undefined, side: string): string {
  const [first] = hits.toSorted((one, other) => Number(other.name === by) - Number(one.name === by));
  if (first !== undefined) return `blocked by ${entryName(first, side)} (${first.part})`;
  return doubts.length === 0 ? 'allowed' : 'unknown';
}

function entryName({ entry, name }: Pick<GuardrailHit, 'entry' | 'name'>, side: string): string {
  return name ?? `${side}.rules[${entry}]`;
}

type Expectation = {
  readonly expects: string;
  readonly by: string | undefined;
  readonly side: string;
  readonly names: readonly string[];
};
type SampleOutcome = Pick<SampleResult, 'outcome' | 'why' | 'hint'>;

function evaluateSample({ expects, by, side, names }: Expectation, { hits, uncertain: doubts }: GuardrailResult): SampleOutcome {
  const inDoubt = doubts.filter(({ name }) => by === undefined || name === by);
  const isBlocked = by === undefined ? hits.length > 0 : hits.some(({ name }) => name === by);
  if (expects === 'blocked' && isBlocked) return { outcome: 'passed' };
  if (expects === 'allowed' && hits.length > 0) return failed(`it is blocked by ${entryName(hits[0] ?? { entry: 0 }, side)}`);
  const broken = inDoubt.find((doubt) => doubt.broken);
  if (broken !== undefined) return failed(`unknown because of ${entryName(broken, side)}: ${broken.why}`);
  const [doubt] = inDoubt;
  if (doubt !== undefined) return { outcome: 'not-simulated', why: `${entryName(doubt, side)}: ${doubt.why}` };
  if (expects === 'allowed') return { outcome: 'passed' };
  if (by === undefined || hits.length === 0) return failed('it is allowed', unknownEntry(by, side, names));
  return failed(`it is blocked by ${hits.map((hit) => entryName(hit, side)).join(', ')}, not by ${by}`, unknownEntry(by, side, names));
}

function failed(why: string, hint?: string): SampleOutcome {
  return { outcome: 'failed', why, hint };
}

function unknownEntry(by: string | undefined, side: string, names: readonly string[]): string | undefined {
  if (by === undefined || names.includes(by)) return undefined;
  return didYouMean(by, names) ?? `unknown entry "${by}" of ${side}`;
}

/** Simulates a masking rule on a sample. Registered types cannot be simulated; all others must match the sample exactly. */
function tryOnMasking(sample: Sample, spec: JsonObject, patterns: PatternCompiler): SampleResult {
  const { given } = sample;
  const text = asText(given['text']);
  const wanted = textsIn(given['finds']);
  const { found, below, uncertain: doubts } = simulateMasking(spec, text, patterns);
  const registered = registeredTypes(spec);
  const custom = customTypes(spec);
  const sought = wanted.filter((name) => !registered.includes(name) || custom.includes(name));
  const lacking = sought.filter((name) => !found.includes(name) && !doubts.has(name));
  const surplus = found.filter((name) => !wanted.includes(name));
  const unsure = wanted.filter((name) => !sought.includes(name));
  const trial = { ...headOf(sample), side: 'text', text, expected: listText(wanted), found: listText(found) } as const;
  const reasons = [
    ...lacking.map((name) => `${name} is not found${reasonFor(name, { below, custom })}`),
    ...surplus.map((name) => `${name} is also found`),
  ];
  const hint = lacking.flatMap((name) => (custom.includes(name) ? [] : (suggest(name, [...custom, ...registered]) ?? [])))[0];
  if (reasons.length > 0) return { ...trial, ...failed(reasons.join('; '), hint === undefined ? undefined : `did you mean "${hint}"?`) };
  const doubtful = [...doubts].map(([name, why]) => `${name}: ${why}`);
  const untold = [...unsure.map((name) => `only the gateway detects ${name}`), ...doubtful];
  return untold.length === 0 ? { ...trial, outcome: 'passed' } : { ...trial, outcome: 'not-simulated', why: untold.join('; ') };
}

function reasonFor(name: string, { below, custom }: { readonly below: readonly string[]; readonly custom: readonly string[] }): string {
  if (below.includes(name)) return ' because its score is below the threshold';
  return custom.includes(name) ? '' : ', as the rule has no such entity type';
}

function listText(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
