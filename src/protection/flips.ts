import type { BaseState, DesiredState, Sample } from '../model/desired.ts';
import { canonical, type JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Plan } from '../model/plan/plan.ts';
import type { SampleChange } from '../model/protection/protection.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import { kindOf } from '../model/resource.ts';
import type { PlannedWrites } from './diff.ts';
import { patternCache, type Patterns } from './pattern/compile.ts';
import { liveScene, plannedScene, type Scene } from './scene.ts';
import { customTypes, entriesOf, tryGuardrail, tryMasking } from './simulate.ts';

/** Who has samples: the manifests, and those of the base, whose samples may have been taken out together with what they showed. */
export type SampleSources = { readonly desired: DesiredState; readonly base: BaseState | undefined };

/** The plan with the samples that its changes of live rules make come out otherwise. */
export function withFlips(plan: Plan, sources: SampleSources, scenes: { readonly live: LiveState; readonly registry: Registry }): Plan {
  const { protection } = plan;
  const flips = protection === undefined ? [] : flipsOf(plan, sources, scenes);
  return protection === undefined || flips.length === 0 ? plan : { ...plan, protection: { ...protection, flips } };
}

function flipsOf(
  plan: PlannedWrites,
  { desired, base }: SampleSources,
  scenes: { readonly live: LiveState; readonly registry: Registry },
): readonly SampleChange[] {
  const changes = plan.changes.filter((change) => isWritten(change) && change.action !== 'create');
  const wanted = changes
    .map((change) => ({ change, samples: samplesOf(change, desired, base) }))
    .filter(({ samples }) => samples.length > 0);
  if (wanted.length === 0) return [];
  const { live, registry } = scenes;
  const before = liveScene(withNames(live, renamesOf(plan.changes)), registry, plan.target.dialect);
  const after = plannedScene(plan, live, registry);
  const patterns = patternCache();
  return wanted.flatMap(({ change, samples }) => samples.flatMap((sample) => flipOf(change, sample, { before, after, patterns })));
}

type Asked = { readonly sample: Sample; readonly gone: boolean };

/** The samples of the manifest, then those that only the base has. */
function samplesOf({ id, key }: Change, desired: DesiredState, base: BaseState | undefined): readonly Asked[] {
  const own = desired.resources.find((resource) => resource.id === id)?.samples ?? [];
  const former = base?.desired.resources.find((resource) => resource.id === id || resource.key === key)?.samples ?? [];
  const kept = new Set(own.map(({ given }) => textKey(given)));
  return [
    ...own.map((sample) => ({ sample, gone: false })),
    ...former.filter(({ given }) => !kept.has(textKey(given))).map((sample) => ({ sample, gone: true })),
  ];
}

function textKey({ input, output, text }: JsonObject): string {
  return canonical([input ?? null, output ?? null, text ?? null]);
}

type Sides = { readonly before: Scene; readonly after: Scene; readonly patterns: Patterns };

function flipOf(change: Change, { sample, gone }: Asked, { before, after, patterns }: Sides): readonly SampleChange[] {
  const key = liveKeyOf(change);
  const [had, has] = [before.facts.get(key), after.facts.get(key)];
  // What of the live rule cannot be seen cannot be tried.
  if (had === undefined || had.unknown.length > 0) return [];
  const { given, at } = sample;
  const { name } = given;
  const about = { rule: change.id, ...(typeof name === 'string' ? { name } : {}), ...(gone ? { gone: true as const } : { at }) };
  if (kindOf(key) === 'GuardrailRule') {
    const side = typeof given['output'] === 'string' ? 'output' : 'input';
    const text = textAt(given, side);
    const outcome = (spec: JsonObject | undefined): string => (spec === undefined ? 'allowed' : verdictOf(spec, { side, text, patterns }));
    return differing({ ...about, side, text }, outcome(had.spec), outcome(has?.spec));
  }
  const text = textAt(given, 'text');
  const [masked, masks] = [maskingOf(had.spec, text, patterns), maskingOf(has?.spec ?? {}, text, patterns)];
  const types = [...new Set([...masked.keys(), ...masks.keys()])].toSorted();
  return types.flatMap((type) =>
    differing({ ...about, side: 'text', text, type }, masked.get(type) ?? 'in clear', masks.get(type) ?? 'in clear'),
  );
}

function textAt(given: JsonObject, field: string): string {
  const text = given[field];
  return typeof text === 'string' ? text : '';
}

function differing(about: Omit<SampleChange, 'before' | 'after'>, before: string, after: string): readonly SampleChange[] {
  return before === after ? [] : [{ ...about, before, after }];
}

type Trying = { readonly side: 'input' | 'output'; readonly text: string; readonly patterns: Patterns };

function verdictOf(spec: JsonObject, { side, text, patterns }: Trying): string {
  const { hits, doubts } = tryGuardrail(entriesOf(spec, side), text, patterns);
  if (hits.length > 0) return 'blocked';
  return doubts.length > 0 ? 'nobody can tell' : 'allowed';
}

/** What becomes of the text by entity type; what is not in the map stays in clear. */
function maskingOf(spec: JsonObject, text: string, patterns: Patterns): ReadonlyMap<string, string> {
  const { found, doubts } = tryMasking(spec, text, patterns);
  const doubtful = customTypes(spec).filter((type) => doubts.has(type));
  return new Map([...found.map((type) => [type, 'masked'] as const), ...doubtful.map((type) => [type, 'nobody can tell'] as const)]);
}
