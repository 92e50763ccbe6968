import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { Gateway, DialectFields, WriteRequest } from '../../src/model/gateway.ts';
import type { LiveResource } from '../../src/model/live.ts';
import { normalizeObject } from '../../src/model/spec/normalize.ts';
import { kindOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { seal } from '../../src/model/secret.ts';
import { exampleWrites, wholeSpec } from './examples.ts';

/** A gateway under test. */
export type Subject = {
  readonly gateway: Gateway;
  /** Creates an object that another manager manages. */
  readonly createManaged: (request: WriteRequest) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The differences between gateways. */
export type Traits = {
  readonly speech: DialectFields;
  /** The manager of the objects that `createManaged` creates. */
  readonly manager: string;
  /** Writes against an outdated read are refused, and so are edges to managed objects. */
  readonly strict: boolean;
  /** Names that connections may have. */
  readonly names: readonly string[];
  /** Access control is on, so that every connection has a list of groups. */
  readonly isControlled?: true;
};

export const interfaceTraits: Traits = {
  speech: { dialect: 'interface' },
  manager: 'platform',
  strict: true,
  names: ['with space', 'ünïcödé 名前', '100% %2F', 'a?b#c&d=e', 'quo"te\'s', '..', '\\', 'con:trol;'],
};

const kinds = [...registry.keys()];
const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };

/** Tests the contract of the gateway port. */
export function gatewayContract(title: string, makeSubject: () => Promise<Subject>, traits: Traits = interfaceTraits): void {
  const { connection, guardrail, masking, runbooks } = writer(traits.speech);
  describe(`the gateway contract: ${title}`, () => {
    let subject: Subject;
    let gateway: Gateway;
    beforeAll(async () => {
      subject = await makeSubject();
      gateway = subject.gateway;
    });
    afterAll(() => subject.close());

    async function all(): Promise<readonly LiveResource[]> {
      const { value, diagnostics } = await gateway.readAll(kinds);
      expect(diagnostics).toEqual([]);
      return value?.resources ?? [];
    }

    async function read(id: ResourceId): Promise<LiveResource> {
      const listed = (await all()).find((resource) => resource.id === id);
      const fresh = listed === undefined ? undefined : await gateway.readOne(listed);
      if (fresh === undefined) throw new Error(`${id} is not there`);
      return fresh;
    }

    it('identifies itself', async () => {
      const { url, dialect, borrowed, role } = await gateway.identify();
      expect(url).toMatch(/^http:/);
      expect({ dialect, borrowed, role }).toEqual({ borrowed: undefined, ...traits.speech, role: 'admin' });
    });

    it('lists the agents that manifests may refer to', async () => {
      const { value } = await gateway.readAll([]);
      expect(value?.lookups['Agent']?.map((agent) => agent.name)).toEqual(expect.arrayContaining(['default', 'prod-agent']));
    });

    const examples = [...registry.values()].flatMap((kind) =>
      exampleWrites(kind, traits.speech).map((request) => {
        const isOpen = traits.isControlled === true && request.spec['access_groups'] === null;
        const spec = isOpen ? { ...request.spec, access_groups: [] } : request.spec;
        return [request.id, { kind, request: { ...request, spec } }] as const;
      }),
    );

    it.each(examples)('creates, reads, replaces and deletes %s', async (id, { kind, request }) => {
      const created = await gateway.create(request);
      expect(created.id).toBe(id);
      expect(created.spec).toEqual(request.spec);
      const fresh = await read(id);
      expect(fresh).toMatchObject({ uid: created.uid, spec: request.spec, edges: request.edges, unknown: [] });
      expect(
        normalizeObject(
          kind.fields.filter((field) => Object.hasOwn(fresh.spec, field.name)),
          fresh.spec,
        ),
      ).toEqual(fresh.spec);
      for (const [path, secret] of Object.entries(request.secrets)) expect(holds(fresh, path, secret.reveal())).toBe(true);
      expect(Object.keys(fresh.secrets).toSorted()).toEqual(Object.keys(request.secrets).toSorted());
      expect(Object.keys(fresh)).not.toContain('managedBy');

      const same = await gateway.update(fresh, { ...request, secrets: {} });
      expect(same).toMatchObject({ spec: request.spec, uid: created.uid });
      await gateway.remove(same);
      expect(await gateway.readOne(same)).toBeUndefined();
      expect((await all()).map((resource) => resource.id)).not.toContain(id);
      await gateway.remove(same);
      expect(await refusal(gateway.update(same, request))).toBe('api/not-found');
    });

    it('changes the stated values and carries the others', async () => {
      const request = connection('carried', { reviewers: ['dba'], connection_tags: { env: 'prod' } });
      const fresh = await gateway.create({ ...request, secrets: { '/secret/envvar:A': seal('inline', 'QQ==') } });
      const updated = await gateway.update(fresh, { ...request, spec: { reviewers: ['sre', 'dba'] } });
      expect(updated.spec).toEqual({ ...fresh.spec, reviewers: ['dba', 'sre'] });
      expect(holds(updated, '/secret/envvar:A', 'QQ==')).toBe(true);
    });

    const hasAccessGroups = traits.isControlled === true || traits.speech.borrowed?.includes('Connection.access_groups') === true;
    it.runIf(hasAccessGroups)('distinguishes everybody, groups and only admins, in every order', async () => {
      const request = connection('reached');
      let fresh = await gateway.create({ ...request, spec: { ...request.spec, access_groups: [] } });
      expect((await read(fresh.id)).spec['access_groups']).toEqual([]);
      const lists = [null, ['payments', 'sre'], [], ['sre'], ['dba', 'payments'], null];
      for (const groups of lists.filter((one) => traits.isControlled !== true || one !== null)) {
        fresh = await gateway.update(fresh, { ...request, spec: { access_groups: groups } });
        expect([fresh, await read(fresh.id)].map(({ spec }) => spec['access_groups'])).toEqual([groups, groups]);
        fresh = await gateway.update(fresh, { ...request, spec: { tags: [] } });
        expect(fresh.spec['access_groups']).toEqual(groups);
      }
    });

    it('refuses to create a name twice', async () => {
      await gateway.create(guardrail('twice'));
      expect(await refusal(gateway.create(guardrail('twice')))).toBe('api/conflict');
    });

    it.runIf(traits.strict)('rejects an update or delete after another write', async () => {
      const first = await gateway.create(guardrail('moved'));
      const stale = await read(first.id);
      const second = await gateway.update(stale, { ...guardrail('moved'), spec: { description: 'second' } });
      expect(second.version).not.toBe(stale.version);
      expect(await refusal(gateway.update(stale, guardrail('moved')))).toBe('api/moved');
      expect(await refusal(gateway.remove(stale))).toBe('api/moved');
      expect((await read(first.id)).spec['description']).toBe('second');
    });

    it('lists the versions that reads of single objects show, and checks them, or lists none', async () => {
      await gateway.create(guardrail('versioned'));
      const listed = (await all()).filter(({ version }) => version !== undefined);
      const alone = await Promise.all(listed.map(({ id }) => read(id)));
      expect(alone.map(({ version }) => version)).toEqual(listed.map(({ version }) => version));
      const checked = await Promise.all(listed.map((one) => gateway.checksVersions(one)));
      expect(checked.filter((checks) => !checks)).toEqual([]);
    });

    it('keeps secrets that a write omits, sets and removes others', async () => {
      const paths = { a: '/secret/envvar:A', b: '/secret/filesystem:B.pem', c: '/secret/envvar:C' };
      const request = connection('secrets');
      const secrets = { [paths.a]: seal('inline', 'QQ=='), [paths.b]: seal('inline', '_cloudsecrets:b:b') };
      const fresh = await gateway.create({ ...request, secrets });
      const updated = await gateway.update(fresh, { ...request, secrets: { [paths.c]: seal('inline', 'Qw==') }, dropped: [paths.a] });
      expect(Object.keys(updated.secrets).toSorted()).toEqual([paths.c, paths.b].toSorted());
      expect([holds(updated, paths.b, '_cloudsecrets:b:b'), holds(updated, paths.c, 'Qw==')]).toEqual([true, true]);
      expect(JSON.stringify(updated)).not.toContain('Qw==');
    });

    it('keeps, sets and removes single secrets', async () => {
      const request = runbooks('secrets');
      const fresh = await gateway.create({
        ...request,
        secrets: { '/git_password': seal('inline', 'one'), '/ssh_keypass': seal('inline', 'two') },
      });
      const updated = await gateway.update(fresh, {
        ...request,
        secrets: { '/git_password': seal('inline', 'three') },
        dropped: ['/ssh_keypass'],
      });
      expect(Object.keys(updated.secrets)).toEqual(['/git_password']);
      expect(holds(await read(fresh.id), '/git_password', 'three')).toBe(true);
    });

    it('shows a guardrail edge from both sides, whichever wrote it', async () => {
      const here = await gateway.create(connection('edge-connection'));
      const rule = await gateway.create({ ...guardrail('edge-rule'), edges: { connection_ids: [here.id] } });
      expect(rule.edges).toEqual({ connection_ids: [here.id] });
      const seen = await read(here.id);
      expect(seen.edges).toEqual({ guardrail_rules: [rule.id] });
      const kept = await gateway.update(seen, { ...connection('edge-connection'), edges: {} });
      expect(kept.edges).toEqual({ guardrail_rules: [rule.id] });
      await gateway.update(kept, { ...connection('edge-connection'), edges: { guardrail_rules: [] } });
      expect((await read(rule.id)).edges).toEqual({ connection_ids: [] });
      await gateway.update(await read(here.id), { ...connection('edge-connection'), edges: { guardrail_rules: [rule.id] } });
      expect((await read(rule.id)).edges).toEqual({ connection_ids: [here.id] });
    });

    it('keeps masking edges through a replacement of the connection, and drops them with it', async () => {
      const here = await gateway.create(connection('masked'));
      const rule = await gateway.create({ ...masking('mask'), edges: { connection_ids: [here.id] } });
      await gateway.update(await read(here.id), { ...connection('masked'), spec: { reviewers: ['dba'] } });
      expect((await read(rule.id)).edges).toEqual({ connection_ids: [here.id] });
      await gateway.remove(await read(here.id));
      expect((await read(rule.id)).edges).toEqual({ connection_ids: [] });
    });

    it('refuses an edge to a missing object, and writes nothing', async () => {
      const request = { ...guardrail('dangling'), edges: { connection_ids: [resourceId('Connection', 'nowhere')] } };
      expect(await refusal(gateway.create(request))).toMatch(/^api\/(unknown-reference|refused)$/);
      expect((await all()).map(({ id }) => id)).not.toContain(request.id);
    });

    it('never writes a managed object', async () => {
      const request = connection('managed');
      await subject.createManaged(request);
      const fresh = await read(request.id);
      expect(fresh.managedBy).toBe(traits.manager);
      expect(await refusal(gateway.update(fresh, request))).toBe('api/conflict');
      expect(await refusal(gateway.remove(fresh))).toBe('api/conflict');
      if (!traits.strict) return;
      expect(await refusal(gateway.create({ ...guardrail('on-managed'), edges: { connection_ids: [fresh.id] } }))).toBe('api/conflict');
      expect((await all()).map(({ id }) => id)).not.toContain('GuardrailRule/on-managed');
    });

    it.each(traits.names)('accepts the name %j', async (name) => {
      for (const request of [connection(name), guardrail(`${name}/slash`), masking(`${name}/slash`)]) {
        const { id, uid } = await gateway.create(request);
        expect(id).toBe(request.id);
        const fresh = await read(id);
        expect(fresh.uid).toBe(uid);
        await gateway.remove(fresh);
      }
    });

    it('renames renamable kinds, and no others', async () => {
      const rule = await gateway.create(guardrail('before'));
      const renamed = await gateway.update(rule, guardrail('after'));
      expect([renamed.id, renamed.uid]).toEqual(['GuardrailRule/after', rule.uid]);
      expect((await all()).map(({ id }) => id)).not.toContain(rule.id);
      const here = await gateway.create(connection('fixed'));
      expect(await refusal(gateway.update(here, connection('other')))).toBe('api/refused');
    });

    it('reads the requested kinds', async () => {
      const { value } = await gateway.readAll(['GuardrailRule']);
      expect([...new Set(value?.resources.map(({ id }) => kindOf(id)))]).toEqual(['GuardrailRule']);
    });
  });
}

type Stated = Parameters<typeof wholeSpec>[2];

/** Requests as a planner for the gateway makes them. */
function writer(
  speech: DialectFields,
): Readonly<Record<'connection' | 'guardrail' | 'masking' | 'runbooks', (name: string, stated?: Stated) => WriteRequest>> {
  const request = (kind: string, name: string, stated: Stated): WriteRequest => {
    const found = registry.get(kind);
    if (found === undefined) throw new Error(`no kind ${kind}`);
    const spec = wholeSpec(found, name, stated, speech);
    return { id: resourceId(kind, found.identity(name, stated)), spec, secrets: {}, dropped: [], edges: {} };
  };
  return {
    connection: (name, stated = {}) => request('Connection', name, { type: 'custom', agent_id: 'default', ...modes, ...stated }),
    guardrail: (name) => request('GuardrailRule', name, { input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] } }),
    masking: (name) => request('DataMaskingRule', name, { score_threshold: 0.5 }),
    runbooks: (name) => request('RunbookConfiguration', name, { git_url: `https://git.test/${name}.git`, git_user: 'ops' }),
  };
}

function holds(resource: LiveResource, path: string, value: string): boolean {
  const secret = resource.secrets[path];
  return secret?.state === 'value' && secret.equals(seal('expected', value));
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => 'it succeeded',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
  return error.code;
}
