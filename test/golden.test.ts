import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { registry } from '../src/kinds/index.ts';
import { loadManifests } from '../src/manifest/load-manifests.ts';
import { defaultLimits } from '../src/model/config.ts';
import type { DesiredState } from '../src/model/desired.ts';
import { inherited } from '../src/reconcile/prepare/inherit.ts';
import { referenceRefusals, withReferences } from '../src/reconcile/guard/named-elsewhere.ts';
import { labelOwn, ownChanges } from '../src/reconcile/diff/own.ts';
import { plan, type Consent } from '../src/reconcile/diff/plan.ts';
import { refuse } from '../src/reconcile/guard/refusals.ts';
import { assess } from '../src/protection/assess.ts';
import { withSampleChanges } from '../src/protection/samples/sample-changes.ts';
import { diagnosticsText } from '../src/report/text/diagnostics.ts';
import { planJson } from '../src/report/reports.ts';
import { planMarkdown } from '../src/report/reports.ts';
import { planText } from '../src/report/reports.ts';
import { plainPalette } from '../src/report/text/terminal.ts';
import type { OutsideReference } from '../src/model/plan/plan.ts';
import type { SourceFile } from '../src/model/source.ts';
import { compactJson } from './support/compact-json.ts';
import { memoryGateway } from './support/memory-gateway.ts';
import type { MemoryResource } from './support/memory-store.ts';

/** What a golden folder may say beside its manifests (and those that were applied, `base`, or that a pull request `began` with): `options.json` with the run's flags, `live.json` with the gateway. */
type Options = {
  readonly only?: readonly string[];
  readonly allow?: readonly { readonly code: string; readonly reason: string }[];
  readonly overlays?: readonly string[];
  readonly agents?: readonly string[];
  /** Whether the token sees secret values. */
  readonly secrets?: 'shown' | 'hidden-kept';
  /** Leave the sources of secrets alone. */
  readonly unresolved?: boolean;
  /** What the user asked for beyond the manifests. */
  readonly consent?: Partial<Consent>;
  /** What the gateway tells of things of its own that name what is replaced. */
  readonly references?: readonly OutsideReference[];
};

const root = 'test/golden';

/** Cases that keep `plan.json` byte for byte, as people and programs get it; the others keep the same content in fewer lines. */
const full = new Set(['001', '008', '010', '019', '020', '032', '039', '042', '045', '048', '053', '054']);
const removedIn = new Map([['Connection/old-db', { id: 'b'.repeat(40), subject: 'Drop the old database' }]] as const);
const terminal = { color: plainPalette, columns: 80 };

function filesBelow(folder: string): readonly SourceFile[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  return names
    .toSorted()
    .map((name) => ({ path: relative(join(folder, '..'), join(folder, name)), text: readFileSync(join(folder, name), 'utf8') }));
}

function readJson<T>(path: string, otherwise: T): T {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : otherwise;
}

test.each(readdirSync(root).toSorted())('%s', async (name) => {
  const folder = join(root, name);
  const {
    only = [],
    allow = [],
    overlays = [],
    agents = ['default', 'prod-agent'],
    ...more
  } = readJson<Options>(join(folder, 'options.json'), {});
  const live = readJson<readonly MemoryResource[]>(join(folder, 'live.json'), []);
  const gateway = memoryGateway({ registry, agents, resources: live, secrets: more.secrets ?? 'shown' });
  const reading = {
    target: 'prod',
    targets: ['prod', 'staging'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    registry,
  };
  const earlier = (part: string): DesiredState | undefined => {
    if (!existsSync(join(folder, part))) return undefined;
    const { value, diagnostics } = loadManifests({ ...reading, files: filesBelow(join(folder, part)), overlays: [] });
    if (value === undefined) throw new Error(diagnosticsText(diagnostics, terminal));
    return value;
  };
  const [applied, began] = [earlier('base'), earlier('began')];
  const loaded = loadManifests({
    ...reading,
    files: filesBelow(join(folder, 'manifests')),
    overlays: overlays.map((overlay) => filesBelow(join(folder, overlay))),
    ...(more.unresolved === true ? {} : { resolve: (source) => ({ value: `resolved ${JSON.stringify(source)}`, diagnostics: [] }) }),
    ...(only.length === 0 ? {} : { selection: { only } }),
  });
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('the list is not whole');
  const target = { name: 'prod', url: 'https://gateway.example.com', dialect: 'interface' };
  const base = applied === undefined ? undefined : { commit: 'a'.repeat(40), desired: applied, removedIn };
  const heirs = loaded.value === undefined ? undefined : inherited(loaded.value, state, { registry, base });
  const planned =
    heirs === undefined
      ? undefined
      : plan(
          {
            target,
            desired: heirs.desired,
            live: state,
            base,
            limits: defaultLimits,
            allowed: allow,
            consent: { adopt: [], revert: [], prune: false, ...more.consent },
          },
          registry,
        );
  const own = began === undefined || loaded.value === undefined ? undefined : ownChanges(loaded.value, began, registry);
  const listed = planned?.value && withReferences(planned.value, more.references ?? []);
  const told =
    listed === undefined || heirs === undefined
      ? undefined
      : withSampleChanges(
          assess(refuse(listed, referenceRefusals(listed, heirs.desired), allow), {
            desired: heirs.desired,
            live: state,
            base: base?.desired,
            registry,
          }),
          { desired: heirs.desired, base },
          { live: state, registry },
        );
  const shown = told === undefined || own === undefined ? told : labelOwn(told, own);
  const diagnostics = [...loaded.diagnostics, ...(heirs?.diagnostics ?? []), ...(planned?.diagnostics ?? [])];
  const texts = {
    ...(diagnostics.length === 0 ? {} : { 'diagnostics.txt': diagnosticsText(diagnostics, terminal) }),
    ...(shown === undefined
      ? {}
      : {
          'plan.txt': planText([shown], terminal),
          'plan.md': planMarkdown([shown]),
          ...(full.has(name.slice(0, 3))
            ? { 'plan.json': planJson([shown]) }
            : { 'plan.compact.json': `${compactJson(JSON.parse(planJson([shown])))}\n` }),
        }),
  };
  for (const [file, text] of Object.entries(texts)) await expect(text).toMatchFileSnapshot(`golden/${name}/expected/${file}`);
});
