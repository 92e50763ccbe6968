import { addAgent } from './agents.ts';
import { ensureAttributes } from './attribute-links.ts';
import type { ModelContext } from './call.ts';
import { Clock } from './clock.ts';
import { defaultTags } from './default-tags.ts';
import { repositoryOf } from './git-url.ts';
import type { HiddenSeed, HoopOptions } from './options.ts';
import { Random } from './random.ts';
import { seedRulepacks } from './rulepacks.ts';
import { Store } from './store.ts';
import { addIdentity } from './users.ts';

const demo = 'https://github.com/hoophq/demo-runbooks';

/** Creates the state of a gateway after its first start, with the objects of the options. */
export function createModelContext(options: HoopOptions): ModelContext {
  const random = new Random(options.random ?? 1);
  const context: ModelContext = {
    store: new Store(),
    settings: {
      licence: options.licence ?? 'oss',
      provider: options.provider === undefined ? 'alcatraz' : options.provider,
      hideRoleInfo: false,
      roles: { admin: 'admin', auditor: 'auditor' },
      authConfig: {},
      mcpAuth: {},
      profile: null,
      supportChat: false,
      rulepacks: true,
      flags: new Map(),
      apiKey: options.apiKey ?? null,
      listeners: false,
      serverInfo: {},
      licenseInfo: {},
    },
    clock: new Clock(),
    random,
    organisation: { id: options.organisation?.id ?? random.uuid(), name: options.organisation?.name ?? 'default' },
    version: options.version ?? 'unknown',
    apiUrl: options.apiUrl ?? 'http://127.0.0.1:8009',
    repositories: new Map(Object.entries(options.repositories ?? {}).map(([url, files]) => [repositoryOf(url), files])),
  };
  for (const { name, token, groups, id } of options.keys ?? [])
    addIdentity(context, { kind: 'key', name, email: name, token, groups, ...(id === undefined ? {} : { id }) });
  for (const { email, name = email, token, groups, id } of options.users ?? [])
    addIdentity(context, { kind: 'user', name, email, token, groups, ...(id === undefined ? {} : { id }) });
  for (const agent of options.agents ?? [])
    addAgent(context, { name: agent.name, mode: agent.mode ?? 'standard', online: agent.online ?? false });
  seedTags(context);
  if (options.runbooks !== 'none') seedRunbooks(context);
  seedHidden(context, options.hidden ?? {});
  if (options.rulepacks === 'default') seedRulepacks(context);
  return context;
}

function seedTags({ store, random, clock }: ModelContext): void {
  for (const [key, values] of Object.entries(defaultTags))
    for (const value of values) {
      const now = clock.now();
      store.tags.push({ id: random.uuid(), key, value, createdAt: now, updatedAt: now });
    }
}

function seedRunbooks({ store, random, clock }: ModelContext): void {
  const now = clock.now();
  const repository = {
    gitUrl: demo,
    gitUser: '',
    gitPassword: '',
    sshKey: '',
    sshUser: '',
    sshKeypass: '',
    sshKnownHosts: '',
    gitHookTtl: 0,
    branch: 'main',
  };
  store.runbooks = { id: random.uuid(), repositories: new Map([[repositoryOf(demo), repository]]), createdAt: now, updatedAt: now };
}

/** The objects that rulepacks own. */
function seedHidden(context: ModelContext, { guardrails = [], maskings = [], attributes = [] }: HiddenSeed): void {
  const { store, random, clock } = context;
  const owned = (name: string): { readonly id: string; readonly name: string; readonly managedBy: null; readonly hidden: true } => ({
    id: random.uuid(),
    name,
    managedBy: null,
    hidden: true,
  });
  for (const name of attributes) store.attributes.set(name, { ...owned(name), description: null, createdAt: clock.now() });
  for (const { name, input, attributes: carried = [] } of guardrails) {
    const now = clock.now();
    const row = { ...owned(name), description: '', input: input ?? null, output: null, createdAt: now, updatedAt: now };
    store.guardrails.set(row.id, row);
    ensureAttributes(context, carried);
    for (const attribute of carried) store.guardrailAttributes.add(attribute, name);
  }
  for (const { name, attributes: carried = [] } of maskings) {
    const row = { ...owned(name), description: '', supported: [], custom: [], score: null, updatedAt: clock.now() };
    store.maskings.set(row.id, row);
    ensureAttributes(context, carried);
    for (const attribute of carried) store.maskingAttributes.add(attribute, name);
  }
}
