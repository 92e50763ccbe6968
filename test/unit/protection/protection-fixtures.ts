import { registry } from '../../../src/kinds/index.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import type { Change, EdgeChange, FieldChange } from '../../../src/model/plan/plan.ts';
import type { Protection } from '../../../src/model/protection/protection.ts';
import { resourceId, type ResourceId } from '../../../src/model/resource.ts';
import type { PlannedWrites } from '../../../src/protection/posture/diff-postures.ts';
import { protectionOf } from '../../../src/protection/protection.ts';
import { liveOf, stateOf } from '../../support/resources.ts';

/** A live connection, open to connect, with the given fields. */
export function connection(name: string, spec: JsonObject = {}, given: Partial<LiveResource> = {}): LiveResource {
  return liveOf(resourceId('Connection', name), { spec: { access_mode_connect: 'enabled', redact_enabled: true, ...spec }, ...given });
}

/** A live guardrail that blocks words in the input of connections. */
export function guardrail(name: string, words: readonly string[], on: readonly string[], spec: JsonObject = {}): LiveResource {
  const input = { rules: [{ name: 'ddl', type: 'deny_words_list', words }] };
  return liveOf(resourceId('GuardrailRule', name), { spec: { input, ...spec }, edges: { connection_ids: on.map(idOf) } });
}

/** A live masking rule on connections. */
export function masking(name: string, spec: JsonObject, on: readonly string[]): LiveResource {
  return liveOf(resourceId('DataMaskingRule', name), { spec, edges: { connection_ids: on.map(idOf) } });
}

/** Masks registered types. */
export function types(...names: readonly string[]): Json {
  return [{ name: 'GROUP', entity_types: names }];
}

function idOf(name: string): ResourceId {
  return resourceId('Connection', name);
}

/** A change with nothing but fields, written at line 7. */
export function changeOf(id: ResourceId, fields: readonly FieldChange[], given: Partial<Change> = {}): Change {
  const at = { file: 'access.yaml', line: 7, column: 1 };
  return { id, action: 'update', at, needs: [], carried: [], fields, ...given };
}

/** One field from a value to another; undefined is none. */
export function fieldOf(path: string, before: Json | undefined, after: Json | undefined, given: Partial<FieldChange> = {}): FieldChange {
  return { path, before: sideOf(before), after: sideOf(after), ...given };
}

function sideOf(value: Json | undefined): FieldChange['before'] {
  return value === undefined ? { absent: true } : { value };
}

/** What writing the changes and edges means for the connections that are live. */
export function protectionOfWrites(
  live: readonly LiveResource[],
  changes: readonly Change[],
  {
    edges = [],
    dialect = 'interface',
    longestAccess,
  }: { readonly edges?: readonly EdgeChange[]; readonly dialect?: string; readonly longestAccess?: number | undefined } = {},
): Protection {
  const writes: PlannedWrites = { target: { name: 'test', url: 'http://test', dialect }, changes, edges };
  return protectionOf(writes, { ...stateOf(...live), ...(longestAccess === undefined ? {} : { longestAccess }) }, registry);
}

/** The sentences, with whom they go for. */
export function sentences({ headlines }: Protection): readonly string[] {
  return headlines.map(({ direction, text, connections }) => `${direction}: ${text} (${connections.join(', ')})`);
}
