import { makeManifests, type PullManifests } from '../../src/import/make-manifests.ts';
import type { PullProject } from '../../src/import/pull-project.ts';
import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load-manifests.ts';
import { defaultLimits, type Target } from '../../src/model/config.ts';
import type { GatewayIdentity } from '../../src/model/gateway.ts';
import { type DesiredState, emptyState } from '../../src/model/desired.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { PulledSecrets } from '../../src/model/result/outcome.ts';
import { digestKey } from './manifests.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from './memory-gateway.ts';
import { createTestContext } from './cli-context.ts';

/** A project with one target and a gateway in memory, for the tests of pull. */
const target: Target = {
  name: 'test',
  url: 'http://memory.test',
  dialect: 'auto',
  auth: 'auto',
  token: { env: 'OSTIARY_TOKEN' },
  secretPrefixes: ['OSTIARY_SECRET_'],
  manifests: ['/project/access'],
  overlays: [],
  limits: defaultLimits,
  prune: false,
  reportUnmanaged: false,
  watchAccess: true,
  expire: 'report',
  readConcurrency: 16,
  released: [],
  allowedValues: {},
};
export const empty: DesiredState = emptyState;
const { context } = createTestContext({ cwd: '/project' });
export const project: PullProject = {
  context,
  root: '/project',
  folder: '/project/access',
  config: { root: '/project', targets: [target], notices: [] },
  target,
  configInForce: undefined,
  newConfig: undefined,
  sources: { files: [], overlays: [], diagnostics: [] },
  declared: empty,
};

export const identity: GatewayIdentity = { url: target.url, dialect: 'interface', role: 'admin' };

export async function liveOf(gateway: MemoryGateway): Promise<LiveState> {
  const { value } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error('incomplete listing');
  return value;
}

export function made(live: LiveState, secrets: PulledSecrets): PullManifests {
  const ours = live.resources.filter(({ managedBy }) => managedBy === undefined).map(({ id }) => id);
  return makeManifests({
    ids: new Set(ours),
    managed: [],
    live,
    project,
    identity,
    taken: new Set(),
    secrets,
  });
}

/** Returns the desired state of the manifests, with every variable as on the gateway. */
export function desiredOf({ manifests, drafts }: PullManifests, live: LiveState): DesiredState {
  const values = new Map(drafts.secrets.variables.map(({ name, id, path }) => [name, valueAt(live, keyIn(drafts.drafts, id), path)]));
  const { value, diagnostics } = loadManifests({
    files: manifests,
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:', '_envjson:'],
    resolve: (source) => ({ value: values.get('env' in source ? source.env : '') ?? '', diagnostics: [] }),
    registry,
    digestKey,
  });
  if (value !== undefined) return value;
  if (manifests.length === 0) return empty;
  throw new Error(diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
}

function keyIn(drafts: PullManifests['drafts']['drafts'], id: string): string {
  return drafts.find((one) => one.id === id)?.key ?? id;
}

function valueAt(live: LiveState, id: string, path: string): string {
  const secret = live.resources.find((one) => one.id === id)?.secrets[path];
  const text = secret?.state === 'value' ? secret.reveal() : '';
  return path.split('/').length > 2 ? Buffer.from(text, 'base64').toString('utf8') : text;
}

export function gatewayOf(options: Partial<MemoryOptions>): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], ...options });
}
