import { type BaseState, desiredById, desiredByKey, type DesiredState, type Sample } from '../../model/desired.ts';
import { canonical, type JsonObject } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { SampleChange } from '../../model/protection/protection.ts';
import { kindOf } from '../../model/resource.ts';
import type { PlannedWrites } from '../posture/diff-postures.ts';
import { patternCache, type PatternCompiler } from '../pattern/compile.ts';
import { liveSnapshot, plannedSnapshot, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { customTypes, guardrailEntries, simulateGuardrail, simulateMasking } from './simulate.ts';

/** The sources of samples: the manifests and the base, because a change may remove a sample together with the entry it tests. */
type SampleSources = { readonly desired: DesiredState; readonly base: BaseState | undefined };

/** Returns the samples whose result changes because a plan changes live rules. */
export function findSampleChanges(
  plan: PlannedWrites,
  { desired, base }: SampleSources,
  snapshots: { readonly live: LiveState; readonly registry: Registry },
): readonly SampleChange[] {
  const changes = plan.changes.filter((change) => isWritten(change) && change.action !== 'create');
  const wanted = changes
    .map((change) => ({ change, samples: samplesOf(change, desired, base) }))
    .filter(({ samples }) => samples.length > 0);
  if (wanted.length === 0) return [];
  const { live, registry } = snapshots;
  const before = liveSnapshot(withNames(live, renamesOf(plan.changes)), registry, plan.target.dialect);
  const after = plannedSnapshot(plan, live, registry);
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
  const about = { rule: change.id, ...(typeof name === 'string' ? { name } : {}), ...(gone ? { gone: true as const } : { at }) };
  if (kindOf(key) === 'GuardrailRule') {
    const side = typeof given['output'] === 'string' ? 'output' : 'input';
    const text = textAt(given, side);
    const outcome = (spec: JsonObject | undefined): string =>
      spec === undefined ? 'allowed' : guardrailOutcome(spec, { side, text, patterns });
    return changeIfDifferent({ ...about, side, text }, outcome(had.spec), outcome(has?.spec));
  }
  const text = textAt(given, 'text');
  const [masked, masks] = [maskingOutcomes(had.spec, text, patterns), maskingOutcomes(has?.spec ?? {}, text, patterns)];
  const types = [...new Set([...masked.keys(), ...masks.keys()])].toSorted();
  return types.flatMap((type) =>
    changeIfDifferent({ ...about, side: 'text', text, type }, masked.get(type) ?? 'in clear', masks.get(type) ?? 'in clear'),
  );
}

function textAt(given: JsonObject, field: string): string {
  const text = given[field];
  return typeof text === 'string' ? text : '';
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
