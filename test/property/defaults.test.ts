import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { acceptLive } from '../../src/manifest/accept/accept-live.ts';
import { loadManifests, type LoadInput } from '../../src/manifest/load-manifests.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Checked, SourceFile } from '../../src/model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { makeManifests } from '../../src/import/make-manifests.ts';
import { runCount } from '../support/property-runs.ts';
import { filesOf } from '../support/desired-state.ts';
import { digestKey } from '../support/manifests.ts';
import { gatewayOf, identity, liveOf, project } from '../support/pull-fixtures.ts';
import { checkedPlan, planOf } from '../support/run-pipeline.ts';
import { scenario, type Manifest } from '../support/scenario.ts';

/** The fields that each folder states, by kind. */
type Defaults = Readonly<Record<'access' | 'access/inner', Readonly<Record<string, JsonObject>>>>;

const choices = fc.array(fc.nat({ max: 7 }), { minLength: 40, maxLength: 40 });

/** Returns fields of some manifests as defaults of both folders; some maps remove a key, some fields are null. */
function defaultsOf(manifests: readonly Manifest[], own: readonly number[]): Defaults {
  const folders: Record<keyof Defaults, Record<string, Record<string, Json>>> = { access: {}, 'access/inner': {} };
  let index = 0;
  const next = (): number => own[index++ % own.length] ?? 0;
  for (const { kind, spec } of manifests) {
    for (const [name, value] of Object.entries(spec)) {
      const choice = next();
      const field = registry.get(kind)?.fields.find((one) => one.name === name);
      if (choice > 2 || field === undefined || field.secret !== undefined || name === 'git_url') continue;
      const folder = folders[choice === 0 ? 'access' : 'access/inner'];
      const isNull = choice === 2 && next() === 0 && !field.required;
      (folder[kind] ??= {})[name] = isNull ? null : isObject(value) && field.shape === 'map' ? { ...value, gone: null } : value;
    }
  }
  return folders;
}

function defaultsFiles(defaults: Defaults): readonly SourceFile[] {
  return Object.entries(defaults).map(([folder, spec]) => ({
    path: `${folder}/_defaults.yaml`,
    text: JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'Defaults', spec }),
  }));
}

/** Puts every second manifest into the inner folder. */
function placed(manifests: readonly Manifest[]): readonly SourceFile[] {
  return filesOf(manifests).map((file, index) =>
    index % 2 === 0 ? file : { ...file, path: file.path.replace('access/', 'access/inner/') },
  );
}

/** Writes the defaults into the manifests, without the product's own merge. */
function writtenOut(manifests: readonly Manifest[], { access, 'access/inner': inner }: Defaults): readonly Manifest[] {
  return manifests.map(({ kind, metadata, spec }, index) => {
    const layers = index % 2 === 0 ? [access[kind] ?? {}, spec] : [access[kind] ?? {}, inner[kind] ?? {}, spec];
    return { kind, metadata, spec: layers.reduce((below, above) => mergeByHand(kind, below, above), {}) };
  });
}

function mergeByHand(kind: string, below: JsonObject, above: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const shape = registry.get(kind)?.fields.find((one) => one.name === name && one.secret === undefined)?.shape;
    const old = below[name];
    if (!isObject(value) || (shape !== 'map' && shape !== 'object')) merged[name] = value;
    else if (shape === 'object') merged[name] = { ...(isObject(old) ? old : {}), ...value };
    else merged[name] = Object.fromEntries(Object.entries({ ...(isObject(old) ? old : {}), ...value }).filter(([, one]) => one !== null));
  }
  return merged;
}

function inputOf(files: readonly SourceFile[]): LoadInput {
  return {
    files,
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    registry,
    digestKey,
  };
}

/** The codes of errors, which have other positions where a default is wrong. */
function errorsOf({ diagnostics }: Checked<unknown>): readonly string[] {
  return [...new Set(diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? [code] : [])))].toSorted();
}

function withoutPlaces(document: JsonObject): unknown {
  return JSON.parse(JSON.stringify(document), (key: string, value: Json) =>
    ['at', 'place', 'places', 'declared', 'digest', 'tree'].includes(key) ? undefined : value,
  );
}

describe('defaults', () => {
  test('plan as the manifests with their values do', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(scenario, choices, async (one, own) => {
        const defaults = defaultsOf(one.manifests, own);
        const [short, long] = [
          loadManifests(inputOf([...defaultsFiles(defaults), ...placed(one.manifests)])),
          loadManifests(inputOf(placed(writtenOut(one.manifests, defaults)))),
        ];
        expect(errorsOf(short)).toEqual(errorsOf(long));
        if (short.value === undefined || long.value === undefined) return;
        const live = await liveOf(gatewayOf({ resources: one.live }));
        const [left, right] = [checkedPlan(short.value, live), checkedPlan(long.value, live)];
        expect(errorsOf(left)).toEqual(errorsOf(right));
        if (left.value === undefined || right.value === undefined) return;
        expect(withoutPlaces(planDocument([left.value]).json())).toEqual(withoutPlaces(planDocument([right.value]).json()));
        compared += 1;
      }),
      { numRuns: runCount(8) },
    );
    expect(compared).toBeGreaterThan(3);
  });

  test('are not edited when drift is accepted: the manifests state what differs', async () => {
    let accepted = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(scenario, choices, async (one, own) => {
        const files = [...defaultsFiles(defaultsOf(one.manifests, own)), ...placed(one.manifests)];
        const { value: desired } = loadManifests(inputOf(files));
        if (desired === undefined) return;
        const live = await liveOf(gatewayOf({ resources: one.live }));
        const base: BaseState = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
        const { value: plan } = checkedPlan(desired, live, base);
        if (plan === undefined) return;
        const result = acceptLive({ ...inputOf(files), live, plan, which: 'drift' });
        expect(result.files.filter(({ path }) => path.endsWith('_defaults.yaml'))).toEqual([]);
        const texts = new Map(result.files.map(({ path, text }) => [path, text]));
        const edited = files.map((file) => ({ ...file, text: texts.get(file.path) ?? file.text }));
        const after = loadManifests(inputOf(edited)).value;
        if (after === undefined) throw new Error('the edited manifests are invalid');
        const left = driftOf(after, live, base);
        const messages = result.diagnostics.map(({ message }) => message).join('\n');
        expect(left.filter((place) => !messages.includes(place))).toEqual([]);
        accepted += result.accepted.length;
        refused += result.diagnostics.filter(({ code }) => code === 'adopt/impossible').length;
      }),
      { numRuns: runCount(4) },
    );
    expect(accepted).toBeGreaterThan(15);
    expect(refused).toBeLessThan(accepted / 4);
  });

  test('are not repeated by a pull, which resets what an object does not have', async () => {
    let pulled = 0;
    await fc.assert(
      fc.asyncProperty(scenario, choices, async (one, own) => {
        const defaults = { ...defaultsOf(one.manifests, own) };
        const files = defaultsFiles(defaults);
        const live = await liveOf(gatewayOf({ resources: one.live }));
        const ids = live.resources.filter(({ managedBy }) => managedBy === undefined).map(({ id }) => id);
        const sources = { files, overlays: [], diagnostics: [] };
        const request = { ids: new Set(ids), managed: [], live, identity, taken: new Set<string>(), secrets: 'keep' as const };
        const { manifests, pulled: result } = makeManifests({ ...request, project: { ...project, sources } });
        const { value: desired, diagnostics } = loadManifests(inputOf([...files, ...manifests]));
        expect(desired === undefined ? errorsOf({ diagnostics }) : ['manifest/none']).toEqual(['manifest/none']);
        if (desired === undefined) return;
        const plan = planOf(desired, live);
        expect(plan.changes.filter(({ action }) => action !== 'blocked')).toEqual([]);
        // Only a value that no manifest can declare is ignored, as without defaults.
        const plain = makeManifests({ ...request, project });
        expect(result.unstated.length).toBeLessThanOrEqual(plain.pulled.unstated.length);
        for (const { said } of manifests) {
          const spec = isObject(said) && isObject(said['spec']) ? said['spec'] : {};
          const kind = isObject(said) && typeof said['kind'] === 'string' ? said['kind'] : '';
          const stated = Object.entries(defaults.access[kind] ?? {}).filter(([name, value]) => value !== null && spec[name] === value);
          expect(stated).toEqual([]);
        }
        pulled += manifests.length;
      }),
      { numRuns: runCount(6) },
    );
    expect(pulled).toBeGreaterThan(25);
  });
});

/** What differs from live outside the manifests, as an impossible adoption names it. */
function driftOf(desired: DesiredState, live: Parameters<typeof planOf>[1], base: BaseState): readonly string[] {
  const { changes, edges } = planOf(desired, live, base);
  const created = new Set<string>(changes.filter(({ action }) => action === 'create').map(({ id }) => id));
  const fields = changes.flatMap(({ id, action, fields: given }) =>
    action === 'create' ? [] : given.filter(({ origin }) => origin === 'drift').map(({ path }) => `${path} of ${id}`),
  );
  const ends = edges.flatMap(({ rule, connection, action, origin }) =>
    origin === 'drift' && ['attach', 'detach', 'held'].includes(action) && !created.has(rule) && !created.has(connection)
      ? [`the attachment of ${rule} to ${connection}`]
      : [],
  );
  return [...fields, ...ends];
}
