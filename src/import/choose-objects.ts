import { runPool, type TrackSteps } from '../model/concurrency.ts';
import { UsageError } from '../model/errors.ts';
import type { Gateway } from '../model/gateway.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { ResourceId } from '../model/resource.ts';
import { findUnmatchedTerms, isPartial, type ResourceSelection, selectionMatcher, tagTextsOf } from '../model/resource-selection.ts';
import type { SkippedObject } from '../model/result/outcome.ts';
import { didYouMean } from '../model/diagnostic.ts';
import { needsSecrets } from '../reconcile/prepare/verified-secrets.ts';
import type { PullProject } from './pull-project.ts';

/** Returns the selected live ids; undefined without a selection. Throws UsageError for a term that matches no live object. */
export function selectLive(selection: ResourceSelection, { resources }: LiveState): ReadonlySet<string> | undefined {
  if (!isPartial(selection)) return undefined;
  const [unmatched] = findUnmatchedTerms(selection, resources);
  if (unmatched === undefined) {
    const matches = selectionMatcher(selection);
    return new Set(resources.filter(matches).map(({ id }) => id));
  }
  const { option, text } = unmatched;
  const isTag = option === '--tag';
  const form = isTag ? 'expected KEY=VALUE' : 'use KIND/NAME or a pattern; run ostiary get connections or ostiary get rules for the names';
  throw new UsageError(
    `${option}: the gateway has no ${isTag ? 'connection with the tag ' : ''}"${text}"`,
    didYouMean(text, isTag ? tagTextsOf(resources) : resources.map(({ id }) => id)) ?? form,
  );
}

/** The live objects that get a manifest, and the managed ones that do not. */
type ChosenObjects = {
  readonly ids: ReadonlySet<ResourceId>;
  readonly live: readonly LiveResource[];
  readonly managed: readonly SkippedObject[];
};

/** Chooses the live objects that get a manifest: those of `asked` (all if undefined) without a manifest and without a manager. */
export function chooseObjects(
  { resources }: LiveState,
  declared: ReadonlySet<string>,
  asked: ReadonlySet<string> | undefined,
): ChosenObjects {
  const wanted = resources.filter(({ id }) => asked?.has(id) !== false && !declared.has(id));
  const live = wanted.filter(({ managedBy }) => managedBy === undefined);
  const managed = wanted.flatMap(({ id, managedBy }): readonly SkippedObject[] =>
    managedBy === undefined ? [] : [{ id, why: 'managed', reason: `managed by ${managedBy}` }],
  );
  return { ids: new Set(live.map(({ id }) => id)), live, managed };
}

/** Returns the live objects whose manifests declare secrets: secrets may have been added or removed on the gateway. */
export function objectsWithDeclaredSecrets(
  { resources }: LiveState,
  { declared }: PullProject,
  asked: ReadonlySet<string> | undefined,
): readonly LiveResource[] {
  const manifests = new Map(declared.resources.map((one) => [one.key, one]));
  return resources.filter((live) => {
    const manifest = asked?.has(live.id) === false ? undefined : manifests.get(live.id);
    return manifest !== undefined && needsSecrets(manifest, live);
  });
}

/** Where and how objects are read one at a time. */
export type DetailReads = { readonly gateway: Pick<Gateway, 'readOne'>; readonly concurrency: number; readonly track: TrackSteps };

/** Reads the parts of the chosen objects that the bulk read leaves out, one object at a time; drops objects that are gone. */
export async function readDetails(
  state: LiveState,
  chosen: readonly LiveResource[],
  { gateway, concurrency, track }: DetailReads,
): Promise<LiveState> {
  const incomplete = chosen.filter(({ leftOut = [] }) => leftOut.length > 0);
  if (incomplete.length === 0) return state;
  const read = new Map<ResourceId, LiveResource | undefined>();
  await track(incomplete.length, (step) =>
    runPool(incomplete, concurrency, async (one) => {
      read.set(one.id, await gateway.readOne(one));
      step();
    }),
  );
  return { ...state, resources: state.resources.flatMap((one) => (read.has(one.id) ? (read.get(one.id) ?? []) : [one])) };
}
