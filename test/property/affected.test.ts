import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Checked, SourceFile } from '../../src/model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { compilePolicies } from '../../src/protection/policy/compile-policies.ts';
import { differencesBetweenStates } from '../../src/reconcile/explain/affected-by.ts';
import { digestKey } from '../support/manifests.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { runReconcile } from '../support/run-pipeline.ts';
import { type Manifest, scenario } from '../support/scenario.ts';

const targets = ['a', 'b', 'c'] as const;

type TargetName = (typeof targets)[number];

/** The documents that all targets share, and those of the overlays of each. */
type FleetFiles = { readonly shared: readonly SourceFile[]; readonly overlays: Readonly<Record<TargetName, readonly SourceFile[]>> };

const fileOf = (path: string, document: JsonObject): SourceFile => ({ path, text: `${JSON.stringify(document, null, 1)}\n` });
const documentOf = ({ kind, metadata, spec }: Manifest): JsonObject => ({ apiVersion: 'ostiary/v1', kind, metadata, spec });

const policy = fc.record({
  require: fc.constantFrom('size(connection.reviewers) > 0', 'connection.type == "database"'),
  message: fc.constantFrom('one', 'two'),
});
const accessTest = fc.constantFrom('allowed', 'denied');

function checksOf([asked, wanted]: readonly [{ readonly require: string; readonly message: string }, string]): readonly SourceFile[] {
  const { require, message } = asked;
  const head = { apiVersion: 'ostiary/v1', metadata: { name: 'checked' } };
  return [
    fileOf('access/policy.yaml', { ...head, kind: 'Policy', spec: { require: [require], message, severity: 'warning' } }),
    fileOf('access/test.yaml', { ...head, kind: 'AccessTest', spec: [{ group: 'dba', on: 'c0', expect: wanted }] }),
  ];
}

/** A part of a manifest as an overlay. */
type Part = { readonly target: TargetName; readonly which: number; readonly field: string; readonly value: Json };

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    target: fc.constantFrom(...targets),
    which: fc.nat(),
    field: fc.constant('reviewers'),
    value: fc.subarray(['dba', 'sre', 'ops']),
  }),
  fc.record({
    target: fc.constantFrom(...targets),
    which: fc.nat(),
    field: fc.constant('secret'),
    value: fc.record({ 'envvar:HOST': fc.record({ value: fc.constantFrom('x', 'y') }) }),
  }),
);

function overlaysOf(parts: readonly Part[], manifests: readonly Manifest[]): FleetFiles['overlays'] {
  const connections = manifests.filter(({ kind }) => kind === 'Connection');
  const of = (name: TargetName): readonly SourceFile[] => {
    const merged = new Map<string, Record<string, Json>>();
    for (const { target, which, field, value } of parts) {
      const manifest = connections[which % Math.max(1, connections.length)];
      if (target !== name || manifest === undefined) continue;
      merged.set(manifest.metadata.name, { ...merged.get(manifest.metadata.name), [field]: value });
    }
    return [...merged].map(([one, spec]) =>
      fileOf(`over/${name}/${one}.yaml`, documentOf({ kind: 'Connection', metadata: { name: one }, spec })),
    );
  };
  return { a: of('a'), b: of('b'), c: of('c') };
}

type Edit =
  | { readonly edit: 'spec' | 'targets' | 'order' | 'place' | 'accept'; readonly which: number; readonly target: TargetName }
  | { readonly edit: 'overlay'; readonly part: Part }
  | { readonly edit: 'checks'; readonly checks: Parameters<typeof checksOf>[0] };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ edit: fc.constantFrom('spec', 'targets', 'order', 'place', 'accept'), which: fc.nat(), target: fc.constantFrom(...targets) }),
  fc.record({ edit: fc.constant('overlay'), part }),
  fc.record({ edit: fc.constant('checks'), checks: fc.tuple(policy, accessTest) }),
);

const reversed = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, one]) => [key, reversed(one)]),
      )
    : value;

function plainFile(manifest: Manifest): SourceFile {
  return fileOf(`access/${manifest.kind}-${manifest.metadata.name}.yaml`, documentOf(manifest));
}

/** Returns the file with another text: other fields, for one target, in another order, at another place, or with a comment that accepts findings. */
function edited(kind: Exclude<Edit['edit'], 'overlay' | 'checks'>, manifest: Manifest, target: TargetName): SourceFile {
  const { path, text } = plainFile(manifest);
  const document = documentOf(manifest);
  if (kind === 'order')
    return fileOf(path, Object.fromEntries(Object.entries(document).map(([key, one]) => [key, key === 'spec' ? reversed(one) : one])));
  if (kind === 'place') return { path: `access/moved/${manifest.metadata.name}.yaml`, text: `# moved\n\n${text}` };
  if (kind === 'accept') return { path, text: `# ostiary:ok rule/matches-harmless it is a demo\n${text}` };
  if (kind === 'targets') return fileOf(path, documentOf({ ...manifest, metadata: { ...manifest.metadata, targets: [target] } }));
  const changed = manifest.kind === 'Connection' ? { reviewers: ['changed'] } : { description: 'changed' };
  return fileOf(
    path,
    documentOf(
      manifest.kind === 'RunbookConfiguration'
        ? { ...manifest, spec: { ...manifest.spec, git_user: 'changed' } }
        : { ...manifest, spec: { ...manifest.spec, ...changed } },
    ),
  );
}

function load({ shared, overlays }: FleetFiles, target: TargetName): Checked<DesiredState> {
  return loadManifests({
    files: shared,
    overlays: [overlays[target]],
    target,
    targets,
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: [],
    registry,
    digestKey,
    resolve: (source) => ({ value: JSON.stringify(source), diagnostics: [] }),
  });
}

/** Where something is in files, and the hash of their bytes. */
const places: ReadonlySet<string> = new Set(['at', 'positions', 'position', 'place', 'requirement', 'frame', 'tree']);

/** Returns the plan of a target as a proposal makes it, with its warnings, and without places. */
function planWithoutPlaces(desired: DesiredState, reviewed: DesiredState, live: LiveState): unknown {
  const { rules } = compilePolicies(desired.policies ?? [], registry);
  const base = { commit: 'a'.repeat(40), desired: reviewed, removedIn: new Map() };
  const review = { policies: { rules, today: '2026-11-22' }, proposed: { config: [], reviewed } };
  const planned = runReconcile({ desired, live, base }, review);
  const text = JSON.stringify(planned, (key, value: unknown) => (places.has(key) ? undefined : value));
  return JSON.parse(text.replaceAll(/(?:access|over)\/[\w./-]+:\d+:\d+/g, 'place'));
}

test('a target that is not listed has the same plan, and an edit of one overlay lists at most its target', async () => {
  const seen = { same: 0, overlay: 0, listed: 0 };
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.array(part, { maxLength: 4 }),
      fc.tuple(policy, accessTest),
      edit,
      async ({ manifests, live: found }, parts, checks, change) => {
        const then: FleetFiles = { shared: [...manifests.map(plainFile), ...checksOf(checks)], overlays: overlaysOf(parts, manifests) };
        const now = ((): FleetFiles => {
          if (change.edit === 'checks') return { ...then, shared: [...manifests.map(plainFile), ...checksOf(change.checks)] };
          if (change.edit === 'overlay') return { ...then, overlays: overlaysOf([...parts, change.part], manifests) };
          const at = change.which % manifests.length;
          const shared = manifests.map((one, index) => (index === at ? edited(change.edit, one, change.target) : plainFile(one)));
          return { ...then, shared: [...shared, ...checksOf(checks)] };
        })();
        const { value: live } = await memoryGateway({ registry, agents: ['default', 'other'], resources: found }).readAll([
          ...registry.keys(),
        ]);
        if (live === undefined) throw new Error('incomplete listing');
        for (const target of targets) {
          const [before, after] = [then, now].map((files) => load(files, target).value);
          // What cannot be compared counts as affected.
          if (before === undefined || after === undefined) continue;
          const reasons = differencesBetweenStates(before, after);
          const isElsewhere = change.edit === 'overlay' && target !== change.part.target;
          expect(isElsewhere || change.edit === 'order' || change.edit === 'place' ? reasons : []).toEqual([]);
          const isListed = reasons.length > 0;
          const planFor = (one: DesiredState): unknown => (isListed ? undefined : planWithoutPlaces(one, before, live));
          expect(planFor(after)).toEqual(planFor(before));
          seen.overlay += Number(isElsewhere);
          seen.listed += Number(isListed);
          seen.same += Number(!isListed);
        }
      },
    ),
    { numRuns: runCount(20) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(4);
});
