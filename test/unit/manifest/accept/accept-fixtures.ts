import { registry } from '../../../../src/kinds/index.ts';
import { acceptLive, type AcceptResult } from '../../../../src/manifest/accept/accept-live.ts';
import { loadManifests, type LoadInput } from '../../../../src/manifest/load-manifests.ts';
import type { BaseState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { digestKey } from '../../../support/manifests.ts';
import { memoryGateway, type MemoryGateway } from '../../../support/memory-gateway.ts';
import { applyPlan, planAgainst, planOf, runReconcile } from '../../../support/run-pipeline.ts';
import { sources } from '../manifest-fixtures.ts';

type Files = Readonly<Record<string, string>>;

function inputOf(files: Files, overlays: Files): LoadInput {
  return {
    files: sources(files),
    overlays: [sources(overlays)],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: [],
    resolve: () => ({ value: 'sesame', diagnostics: [] }),
    registry,
    digestKey,
  };
}

const agent = { registry, agents: ['default', 'other'] };

/** Applies manifests, changes the gateway by `changeLive` (which also `shows` more fields), and accepts the drift. Returns the texts of the changed files. */
export async function acceptDrift(
  files: Files,
  byHand: (gateway: MemoryGateway) => void,
  overlays: Files = {},
  { shows = {}, watches = false }: { readonly shows?: JsonObject; readonly watches?: boolean } = {},
): Promise<AcceptResult & { readonly texts: Files; readonly left: readonly string[] }> {
  const input = inputOf(files, overlays);
  const { value: desired, diagnostics } = loadManifests(input);
  if (desired === undefined) throw new Error(diagnostics.map(({ message, at }) => `${at?.file}:${at?.line} ${message}`).join('\n'));
  const gateway = memoryGateway(agent);
  await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
  byHand(gateway);
  const base: BaseState = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
  const { live: read } = await planAgainst(gateway, desired);
  const live = { ...read, resources: read.resources.map((resource) => ({ ...resource, spec: { ...resource.spec, ...shows } })) };
  const drift = runReconcile({ desired, live, base }).value;
  if (drift === undefined) throw new Error('no plan');
  const result = acceptLive({ ...input, live, plan: drift, ...(watches ? { watch: drift.unwatched } : {}) });
  const texts = Object.fromEntries(result.files.map(({ path, text }) => [path, text]));
  const after = loadManifests(inputOf({ ...files, ...pick(texts, files) }, { ...overlays, ...pick(texts, overlays) }));
  if (after.value === undefined) throw new Error(after.diagnostics.map(({ message }) => message).join('\n'));
  const next = planOf(after.value, live);
  const left = next.changes.flatMap(({ id, action, fields }) => (action === 'create' ? [id] : fields.map(({ path }) => `${id} ${path}`)));
  return { ...result, texts, left: [...left, ...next.edges.map(({ action, rule }) => `${action} ${rule}`)] };
}

function pick(texts: Files, files: Files): Files {
  return Object.fromEntries(Object.entries(texts).filter(([path]) => Object.hasOwn(files, path)));
}

/** Changes fields of a live object outside Ostiary. */
export function change(
  id: ResourceId,
  spec: JsonObject,
  edges?: Readonly<Record<string, readonly ResourceId[]>>,
): (gateway: MemoryGateway) => void {
  return (gateway) => {
    const found = gateway.state()[id];
    if (found === undefined) throw new Error(`there is no ${id}`);
    gateway.put({ ...found, spec: { ...found.spec, ...spec }, ...(edges === undefined ? {} : { edges }) });
  };
}

export { commentedConnection as orders } from '../../../support/manifests.ts';

/** A rule with a selector, and entries in both layouts. */
export const rule = `apiVersion: ostiary/v1
kind: GuardrailRule
metadata: { name: no-drop }
spec:
  connection_selector: { match_tags: { env: prod } }   # all of production
  input:
    rules:
      # Tables stay.
      - name: drop
        type: deny_words_list
        words: [DROP, TRUNCATE]
      - { name: grant, type: deny_words_list, words: [GRANT] }
`;
