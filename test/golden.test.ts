import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { Handshake } from '../src/gateway/dialect.ts';
import { readCapabilities } from '../src/gateway/dialects/interface/handshake.ts';
import { preflight as interfacePreflight } from '../src/gateway/dialects/interface/preflight.ts';
import { registry } from '../src/kinds/index.ts';
import { definedFields, type JsonObject } from '../src/model/json.ts';
import { loadManifests } from '../src/manifest/load-manifests.ts';
import { defaultLimits } from '../src/model/config.ts';
import type { Gateway } from '../src/model/gateway.ts';
import type { BaseState, DesiredState } from '../src/model/desired.ts';
import { type Checked, type Diagnostic, formatPosition, sortDiagnostics, type SourceFile } from '../src/model/diagnostic.ts';
import type { LiveState } from '../src/model/live.ts';
import { compilePolicies } from '../src/protection/policy/compile-policies.ts';
import { ruleChecks } from '../src/protection/rule-inspector.ts';
import type { Consent } from '../src/reconcile/prepare/prepare.ts';
import { draftPlan, reviewPlan } from '../src/reconcile/reconcile.ts';
import { diagnosticsText } from '../src/report/text/diagnostics.ts';
import { planObject } from '../src/report/subjects/plan.ts';
import { planJson, planMarkdown, planText } from '../src/report/reports.ts';
import { plainPalette } from '../src/report/wrap.ts';
import type { OutsideReference, Plan, TargetIdentity } from '../src/model/plan/plan.ts';
import type { ResourceId } from '../src/model/resource.ts';
import { compactJson, condensePlan } from './support/compact-json.ts';
import { digestKey } from './support/manifests.ts';
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
  /** What the gateway reports about itself, as `ostiary serve` does; nothing by default. */
  readonly server?: JsonObject;
  /** The gateway objects that refer to a replaced resource. */
  readonly references?: readonly OutsideReference[];
  /** When access ends; without it none has ended. */
  readonly now?: string;
  /** Whether the target reports connections without a manifest. */
  readonly unmanaged?: 'report';
  /** The changes that the gateway accepts only as one write, with its reasons. */
  readonly indivisible?: readonly (readonly [ResourceId, string])[];
};

const root = 'test/golden';

/** The cases whose reports people read: only they keep text and Markdown, and show every sentence of a plan. The others keep what the plan says, once. */
const stories = new Set('001 002 032 039 042 044 048 054 058 062 064 084 086 087 088'.split(' '));
const removedIn = new Map([['Connection/old-db', { id: 'b'.repeat(40), subject: 'Drop the old database' }]] as const);
const terminal = { color: plainPalette, columns: 80 };
const isPlanDocument = new Ajv2020({ strict: true, allErrors: true }).compile<object>(readJson('schemas/documents/plan.schema.json', {}));

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

type GoldenInput = {
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly target: TargetIdentity;
  readonly options: Options;
  readonly own: DesiredState | undefined;
};

function handshakeOf({ server = {} }: Options): Handshake {
  return { serverInfo: { status: 200, body: server, server: '' }, caller: null };
}

/** Runs the pipeline that every command runs; the gateway answers the preflight. */
async function planOver(
  gateway: Gateway,
  desired: DesiredState,
  { live, base, target, options, own }: GoldenInput,
): Promise<Checked<Plan>> {
  const { allow: allowed = [], consent } = options;
  const handshake = handshakeOf(options);
  const { borrowed = [], longestAccess, accessLimits } = readCapabilities(handshake);
  const draft = draftPlan({
    registry,
    target,
    desired,
    live: { ...live, ...(longestAccess === undefined ? {} : { longestAccess }), ...(accessLimits === undefined ? {} : { accessLimits }) },
    base,
    borrowed,
    now: options.now,
    limits: defaultLimits,
    allowed,
    consent: { imports: [], revert: [], prune: false, ...consent },
    reportUnmanaged: options.unmanaged === 'report',
    start: own,
  });
  if (draft.value === undefined) return { diagnostics: draft.diagnostics };
  const { diagnostics: found } = interfacePreflight(draft.value.preflightRequest, handshake, new Map());
  const indivisible = new Map(options.indivisible);
  const preflight = { ...(await gateway.preflight(draft.value.preflightRequest)), diagnostics: found, indivisible };
  const compiled = compilePolicies(desired.policies ?? [], registry);
  if (compiled.diagnostics.length > 0) return { diagnostics: compiled.diagnostics };
  const policies = { rules: compiled.rules, today: '2026-11-22' };
  const { value, diagnostics } = reviewPlan(draft.value, { preflight, policies, rules: ruleChecks() });
  return value === undefined ? { diagnostics } : { value: value.plan, diagnostics };
}

test.each(readdirSync(root).toSorted())('%s', async (name) => {
  const folder = join(root, name);
  const options = readJson<Options>(join(folder, 'options.json'), {});
  const { only = [], overlays = [], agents = ['default', 'prod-agent'] } = options;
  const live = readJson<readonly MemoryResource[]>(join(folder, 'live.json'), []);
  const gateway = memoryGateway({
    registry,
    agents,
    resources: live,
    secrets: options.secrets ?? 'shown',
    references: options.references ?? [],
    dialect: { dialect: 'interface', borrowed: readCapabilities(handshakeOf(options)).borrowed ?? [] },
  });
  const reading = {
    target: 'prod',
    targets: ['prod', 'staging'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    registry,
    digestKey,
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
    ...(options.unresolved === true ? {} : { resolve: (source) => ({ value: `resolved ${JSON.stringify(source)}`, diagnostics: [] }) }),
    ...(only.length === 0 ? {} : { selection: { only } }),
  });
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('incomplete listing');
  const target = { name: 'prod', url: 'https://gateway.example.com', dialect: 'interface' };
  const base = applied === undefined ? undefined : { commit: 'a'.repeat(40), desired: applied, removedIn };
  const plan = loaded.value && (await planOver(gateway, loaded.value, { live: state, base, target, options, own: began }));
  const diagnostics = plan === undefined ? loaded.diagnostics : [...loaded.diagnostics, ...plan.diagnostics];
  const texts = textsOfCase(plan?.value, diagnostics, stories.has(name.slice(0, 3)));
  const expected = join(folder, 'expected');
  expect((existsSync(expected) ? readdirSync(expected) : []).filter((file) => !(file in texts))).toEqual([]);
  for (const [file, text] of Object.entries(texts)) await expect(text).toMatchFileSnapshot(join(process.cwd(), expected, file));
});

/** Returns the files that a case keeps, by name. */
function textsOfCase(plan: Plan | undefined, diagnostics: readonly Diagnostic[], isStory: boolean): Readonly<Record<string, string>> {
  if (plan === undefined) return { 'diagnostics.txt': diagnosticsText(diagnostics, terminal) };
  // Each plan has the same target, and hashes, which only its texts show: they are functions of the rest.
  const { target: _, tree: _tree, digest: _digest, ...document } = planObject(plan);
  const isValid = isPlanDocument(JSON.parse(planJson([plan])));
  expect(isValid ? [] : isPlanDocument.errors).toEqual([]);
  const found = sortDiagnostics(diagnostics).map(({ severity, code, at, resource }) =>
    definedFields({ severity, code, at: at && formatPosition(at), resource }),
  );
  const summary = { ...condensePlan(document), ...(found.length === 0 ? {} : { diagnostics: found }) };
  return {
    'plan.json': `${compactJson(summary)}\n`,
    ...(isStory ? { 'plan.txt': planText([plan], terminal), 'plan.md': planMarkdown([plan]) } : {}),
    ...(isStory && found.length > 0 ? { 'diagnostics.txt': diagnosticsText(diagnostics, terminal) } : {}),
  };
}
