import { registeredTypes } from '../controls/rule-rows.ts';
import type { DesiredResource, Sample } from '../../model/desired.ts';
import { type JsonObject, textsIn } from '../../model/json.ts';
import { kindOf } from '../../model/resource.ts';
import { suggest } from '../../model/diagnostic.ts';
import type { RuleSampleResults, SampleResult } from '../../model/protection/protection.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { customTypes, guardrailEntries, simulateGuardrail, simulateMasking, type GuardrailHit, type GuardrailResult } from './simulate.ts';

/** Simulates a rule on its samples; returns undefined for kinds without samples. */
export function trySamples(resource: DesiredResource, patterns: PatternCompiler): RuleSampleResults | undefined {
  const kind = kindOf(resource.id);
  const spec = resource.written ?? resource.spec;
  const samples = resource.samples ?? [];
  const rule = { rule: resource.id, at: resource.locate('') };
  if (kind === 'GuardrailRule') {
    const hit = new Set<string>();
    const trials = samples.map((sample) => tryOnGuardrail(sample, spec, { patterns, hit }));
    return { ...rule, trials, untried: untriedEntries(spec, hit), notSimulated: [] };
  }
  if (kind !== 'DataMaskingRule') return undefined;
  const found = new Set<string>();
  const trials = samples.map((sample) => tryOnMasking(sample, spec, { patterns, found }));
  return { ...rule, trials, untried: customTypes(spec).filter((name) => !found.has(name)), notSimulated: registeredTypes(spec) };
}

/** Returns the position and name of a sample result. */
function headOf({ given, at }: Sample): Pick<SampleResult, 'at' | 'name'> {
  const { name } = given;
  return { at, ...(typeof name === 'string' ? { name } : {}) };
}

type GuardrailContext = { readonly patterns: PatternCompiler; readonly hit: Set<string> };

function tryOnGuardrail(sample: Sample, spec: JsonObject, { patterns, hit }: GuardrailContext): SampleResult {
  const { given } = sample;
  const side = typeof given['output'] === 'string' ? 'output' : 'input';
  const text = textOf(given[side]);
  const by = given['expect'] === 'blocked' && typeof given['by'] === 'string' ? given['by'] : undefined;
  const entries = guardrailEntries(spec, side);
  const verdict = simulateGuardrail(entries, text, patterns);
  for (const { entry } of verdict.hits) hit.add(`${side} ${entry}`);
  const names = entries.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const expected = `${textOf(given['expect'])}${by === undefined ? '' : ` by ${by}`}`;
  const found = foundText(verdict, by, side);
  return {
    ...headOf(sample),
    side,
    text,
    expected,
    found,
    ...evaluateSample({ expects: textOf(given['expect']), by, side, names }, verdict),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
  return { outcome: 'failed', why, ...(hint === undefined ? {} : { hint }) };
}

function unknownEntry(by: string | undefined, side: string, names: readonly string[]): string | undefined {
  if (by === undefined || names.includes(by)) return undefined;
  const near = suggest(by, names);
  return near === undefined ? `unknown entry "${by}" of ${side}` : `did you mean "${near}"?`;
}

function untriedEntries(spec: JsonObject, hit: ReadonlySet<string>): readonly string[] {
  return (['input', 'output'] as const).flatMap((side) =>
    guardrailEntries(spec, side).flatMap(({ name }, entry) => {
      if (hit.has(`${side} ${entry}`)) return [];
      return [`${side}.rules[${entry}]${typeof name === 'string' ? ` (${name})` : ''}`];
    }),
  );
}

type MaskingContext = { readonly patterns: PatternCompiler; readonly found: Set<string> };

/** Simulates a masking rule on a sample. Registered types cannot be simulated; all others must match the sample exactly. */
function tryOnMasking(sample: Sample, spec: JsonObject, { patterns, found: everFound }: MaskingContext): SampleResult {
  const { given } = sample;
  const text = textOf(given['text']);
  const wanted = textsIn(given['finds']);
  const { found, below, uncertain: doubts } = simulateMasking(spec, text, patterns);
  for (const name of found) everFound.add(name);
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
