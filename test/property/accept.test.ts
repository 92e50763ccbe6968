import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { acceptLive, type AcceptInput } from '../../src/manifest/accept/accept-live.ts';
import { loadManifests, type LoadInput } from '../../src/manifest/load-manifests.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import type { SourceFile } from '../../src/model/diagnostic.ts';
import { runCount } from '../support/property-runs.ts';
import { digestKey } from '../support/manifests.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runReconcile } from '../support/run-pipeline.ts';
import { scenario, type Manifest, type Scenario } from '../support/scenario.ts';
import { seeds, styledText } from '../support/yaml-document.ts';

type Sources = Pick<LoadInput, 'files' | 'overlays'>;

/** Manifests in many styles, with some fields in an overlay. */
function sourcesOf({ manifests }: Scenario, choices: readonly number[]): Sources {
  const files: SourceFile[] = [];
  const overlays: SourceFile[] = [];
  for (const [index, manifest] of manifests.entries()) {
    const own = [...choices.slice(index), ...choices];
    const { base, overlay } = split(manifest, own);
    files.push({ path: `access/${index}.yaml`, text: styledText(base, own) });
    if (overlay !== undefined) overlays.push({ path: `overlays/${index}.yaml`, text: styledText(overlay, own.toReversed()) });
  }
  return { files, overlays: [overlays] };
}

/** Moves fields to an overlay, and some keys of maps. */
function split(
  { kind, metadata, spec }: Manifest,
  choices: readonly number[],
): { readonly base: JsonObject; readonly overlay?: JsonObject } {
  const head = { apiVersion: 'ostiary/v1', kind };
  if ((choices[0] ?? 0) % 3 !== 1) return { base: { ...head, metadata, spec } };
  const below: Record<string, Json> = {};
  const above: Record<string, Json> = {};
  for (const [index, [name, value]] of Object.entries(spec).entries()) {
    const choice = (choices[index + 1] ?? 0) % 4;
    if (choice === 0 && !/^(?:type|agent_id|access_|git_url)/.test(name)) above[name] = value;
    else if (choice === 1 && name === 'connection_tags' && isObject(value)) {
      const [first, ...others] = Object.entries(value);
      below[name] = Object.fromEntries([...(first === undefined ? [] : [first]), ['gone', 'yes']]);
      above[name] = Object.fromEntries([...others, ['gone', null]]);
    } else {
      below[name] = value;
      if (choice === 2) above[name] = value;
    }
  }
  return { base: { ...head, metadata, spec: below }, overlay: { ...head, metadata: { name: metadata.name }, spec: above } };
}

function inputOf(sources: Sources): LoadInput {
  return {
    ...sources,
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    registry,
    digestKey,
  };
}

function desiredOf(input: LoadInput): DesiredState {
  const { value, diagnostics } = loadManifests(input);
  if (value === undefined) throw new Error(diagnostics.map(({ code, message, at }) => `${at?.file} ${code} ${message}`).join('\n'));
  return value;
}

function planOf(desired: DesiredState, live: LiveState, base?: BaseState): Plan {
  const { value, diagnostics } = runReconcile({ desired, live, base });
  if (value === undefined) throw new Error(diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return value;
}

/** What differs between manifests and live, as far as manifests could say it. */
function rest({ changes, edges }: Plan): readonly string[] {
  const declared = new Set<string>(changes.filter(({ action }) => action === 'create').map(({ id }) => id));
  const fields = changes.flatMap(({ id, action, fields: given }) =>
    action === 'create' ? [] : given.map(({ path }) => `${path} of ${id}`),
  );
  const ends = edges
    .filter(
      ({ rule, connection, action }) => ['attach', 'detach', 'held'].includes(action) && !declared.has(rule) && !declared.has(connection),
    )
    .map(({ rule, connection }) => `the attachment of ${rule} to ${connection}`);
  return [...fields, ...ends];
}

describe('accepting live state', () => {
  for (const which of ['drift', 'all'] as const) {
    it(`leaves no ${which === 'all' ? 'difference' : 'drift'} except what it reports`, async () => {
      let accepted = 0;
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(scenario, seeds, async (one, choices) => {
          const sources = sourcesOf(one, choices);
          const input = inputOf(sources);
          const desired = desiredOf(input);
          const gateway = memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
          const { value: live } = await gateway.readAll([...registry.keys()]);
          if (live === undefined) throw new Error('incomplete listing');
          const base: BaseState = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
          const before = planOf(desired, live, which === 'all' ? undefined : base);
          const given: AcceptInput = { ...input, live, plan: before, which };
          const result = acceptLive(given);
          const texts = new Map(result.files.map(({ path, text }) => [path, text]));
          const change = (file: SourceFile): SourceFile => ({ ...file, text: texts.get(file.path) ?? file.text });
          const after = inputOf({ files: sources.files.map(change), overlays: sources.overlays.map((folder) => folder.map(change)) });
          const left = rest(planOf(desiredOf(after), live, which === 'all' ? undefined : base));
          const messages = result.diagnostics.map(({ message }) => message).join('\n');
          expect(left.filter((place) => !messages.includes(place))).toEqual([]);
          accepted += result.accepted.length;
          refused += result.diagnostics.filter(({ code }) => code === 'adopt/impossible').length;
          const again = acceptLive({ ...after, live, plan: planOf(desiredOf(after), live, which === 'all' ? undefined : base), which });
          expect(again.files).toEqual([]);
        }),
        { numRuns: runCount(2) },
      );
      expect(accepted).toBeGreaterThan(30);
      expect(refused).toBeLessThan(accepted / 5);
    });
  }
});
