import { registry } from '../../src/kinds/index.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { FieldRule, Registry } from '../../src/model/kind.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { InheritedKeys, LiveResource, LiveState } from '../../src/model/live.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { seal } from '../../src/model/secret.ts';
import { type Plan, planRisks } from '../../src/model/plan/plan.ts';
import { desiredState } from './desired-state.ts';
import { liveOf } from './resources.ts';
import { reviewOf, runReconcile, type TestInput } from './run-pipeline.ts';
import type { Manifest } from './scenario.ts';

/** A connection that is open to connect, with the given fields. */
export function connectionManifest(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Manifest {
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
  const required = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled' };
  return { kind: 'Connection', metadata: { ...metadata, name }, spec: { ...required, ...modes, ...spec } };
}

/** A guardrail with these entries in its input. */
export function guardrailManifest(name: string, rules: readonly JsonObject[], spec: JsonObject = {}, metadata: JsonObject = {}): Manifest {
  return { kind: 'GuardrailRule', metadata: { ...metadata, name }, spec: { input: { rules }, ...spec } };
}

/** A guardrail entry that blocks words. */
export function words(...list: readonly string[]): JsonObject {
  return { name: 'words', type: 'deny_words_list', words: list };
}

/** A guardrail entry that blocks a pattern. */
export function pattern(text: string): JsonObject {
  return { name: 'pattern', type: 'pattern_match', pattern_regex: text };
}

/** A masking rule. */
export function maskingManifest(name: string, spec: JsonObject, metadata: JsonObject = {}): Manifest {
  return { kind: 'DataMaskingRule', metadata: { ...metadata, name }, spec };
}

/** Registered types, in one group. */
export function registered(...types: readonly string[]): JsonObject {
  return { supported_entity_types: [{ name: 'GROUP', entity_types: types }] };
}

const lookups = { Agent: ['default', 'other'].map((name) => ({ uid: name, name })) };

/** Returns the live state after the manifests are applied: every field has a value, and rules hold their edges. */
export function liveAs(desired: DesiredState): LiveState {
  const resources = desired.resources.map((resource): LiveResource => {
    const kind = registry.get(kindOf(resource.id));
    const empty = Object.fromEntries((kind?.fields ?? []).map((field) => [field.name, field.empty]));
    const secrets = Object.entries(resource.secrets).flatMap(([path, secret]) =>
      secret.state === 'value' ? [[path, seal('live', secret.reveal())] as const] : [],
    );
    const ends = desired.edges.filter(({ rule }) => rule === resource.id).map(({ connection }) => idOf(nameOf(connection)));
    return liveOf(resource.key, {
      spec: { ...empty, ...kind?.createDefaults(nameOf(resource.id)), ...resource.spec },
      secrets: Object.fromEntries(secrets),
      edges: ends.length === 0 ? {} : { [kind?.fields.find(({ edge }) => edge === 'rule')?.name ?? '']: ends },
    });
  });
  return { resources, lookups };
}

function withoutDialect(field: FieldRule): FieldRule {
  const { dialect: _, borrowed: __, ...rest } = field;
  return rest;
}

/** The kinds with the fields of all dialects, so that one table of risks covers them all. */
export const allFields: Registry = new Map(
  [...registry].map(([name, kind]) => [name, { ...kind, dialect: 'interface', fields: kind.fields.map(withoutDialect) }]),
);

type PlanOptions = {
  readonly withBase?: boolean;
  readonly prune?: boolean;
  /** The keys of the secrets of resources, by resource; by default no resource has secrets. */
  readonly inherited?: InheritedKeys | undefined;
};

/** Plans from the live state of the first manifests to the second, with risks; the first are the base unless `withBase` is false. */
export function planWithRisks(
  before: readonly Manifest[],
  after: readonly Manifest[],
  { withBase = true, prune = false, inherited }: PlanOptions = {},
): Plan {
  const desired = desiredState(after);
  const applied = before.length === 0 ? undefined : desiredState(before);
  const base = withBase ? applied : undefined;
  const live = applied === undefined ? { resources: [], lookups } : liveAs(applied);
  const planned: TestInput = {
    registry: allFields,
    desired,
    live,
    base: base === undefined ? undefined : { commit: 'a'.repeat(40), desired: base, removedIn: new Map() },
    consent: { imports: [], revert: [], prune },
  };
  const { preflight } = reviewOf();
  const { value, diagnostics } = runReconcile(planned, inherited === undefined ? {} : { preflight: { ...preflight, inherited } });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

/** `class code` of all risks of a plan, sorted. */
export function riskTexts(made: Pick<Plan, 'changes' | 'unwritten'> & Partial<Pick<Plan, 'accepted'>>): readonly string[] {
  return planRisks({ accepted: [], ...made })
    .map(({ risk }) => `${risk.class} ${risk.code.slice('risk/'.length)}`)
    .toSorted();
}

/** The id of a connection. */
export function idOf(name: string): ResourceId {
  return resourceId('Connection', name);
}
