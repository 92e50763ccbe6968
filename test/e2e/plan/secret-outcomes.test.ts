import { expect, test } from 'vitest';
import { asText, type Json, type JsonObject } from '../../../src/model/json.ts';
import { createKey } from '../../server/client.ts';
import { adminToken, auditorToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { secretPage, type Situation, type SecretOutcome } from '../../support/secret-page.ts';
import { config, connection, manifest, useProjects, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();
const makeProject = useProjects();

/** A gateway of one dialect, and a token that may not read its secrets. */
type Side = { readonly url: string; readonly admin: string; readonly auditor: string };

const dialects: Readonly<Record<string, () => Promise<Side>>> = {
  interface: async () => ({
    url: gateway.url(),
    admin: gateway.server().key,
    auditor: await createKey(gateway.call, 'auditor', ['auditor']),
  }),
  hoop: async () => ({ url: (await hoopProject()).url, admin: adminToken, auditor: auditorToken }),
};

const one = { valueFrom: { env: 'OSTIARY_SECRET_ONE' } };
const two = { valueFrom: { env: 'OSTIARY_SECRET_TWO' } };
const file = { valueFrom: { file: 'secret.txt' } };

/** What a form of a secret is at the base and in the pull request; undefined is a manifest without it. */
type Form = { readonly name: string; readonly base: Json | undefined; readonly head: Json | undefined };

const forms: readonly Form[] = [
  { name: '`{ value }`', base: { value: 'canary-old' }, head: { value: 'canary-new' } },
  { name: 'base64', base: 'Y2FuYXJ5LW9sZA==', head: 'Y2FuYXJ5LW5ldw==' },
  { name: 'reference', base: '_envjson:app/db:old', head: '_envjson:app/db:new' },
  { name: '`valueFrom.env`', base: one, head: two },
  { name: 'committed `valueFrom.file`', base: file, head: file },
  { name: '`{ value }` to `valueFrom.env`', base: { value: 'canary-old' }, head: two },
  { name: 'key added', base: undefined, head: { value: 'canary-new' } },
  { name: 'key removed', base: { value: 'canary-old' }, head: undefined },
  { name: '`{ keep: true }`', base: { value: 'canary-old' }, head: { keep: true } },
];

/** Forms that need an object of their own: the whole map, and a field that is one secret. */
const wholes = ['map omitted', '`git_password`'] as const;

const all = [...forms.map(({ name }) => name), ...wholes];

function idOf(index: number): string {
  return `${index === forms.length + 1 ? 'RunbookConfiguration' : 'Connection'}/form-${index}`;
}

const repository = 'https://git.example.com/form.git';

/** Returns an object for each form, and one connection with all forms of keys, which `explain` shows at once. */
function manifestsAt(time: 'base' | 'head'): Files {
  const keyed = forms.flatMap((form, index): readonly (readonly [string, Json])[] => {
    const secret = form[time];
    return secret === undefined ? [] : [[`envvar:KEY_${index}`, secret]];
  });
  const whole: JsonObject = { 'envvar:KEY': one };
  const objects = [
    ...forms.map((form, index) => connection(`form-${index}`, { secret: form[time] === undefined ? {} : { 'envvar:KEY': form[time] } })),
    connection(`form-${forms.length}`, time === 'base' ? { secret: whole } : {}),
    manifest('RunbookConfiguration', `form-${forms.length + 1}`, { git_url: repository, git_password: time === 'base' ? one : two }),
    connection('every-key', { secret: Object.fromEntries(keyed) }),
  ];
  return {
    'secret.txt': time === 'base' ? 'canary-old-file' : 'canary-new-file',
    ...Object.fromEntries(objects.map((text, index) => [`access/${index}.yaml`, text])),
  };
}

type Outcomes = Omit<SecretOutcome, 'form'>;

test('the page of secrets has the outcome of every form, on both dialects', async () => {
  const outcomes = new Map<string, Map<string, readonly SecretOutcome[]>>();
  for (const [dialect, open] of Object.entries(dialects)) {
    const side = await open();
    const text = config(side.url);
    const applied = make({ 'ostiary.yaml': text, ...manifestsAt('base') });
    const env = { ...gitEnv, OSTIARY_SECRET_ONE: 'canary-one', OSTIARY_SECRET_TWO: 'canary-two' };
    const run = async (line: string, token: string, cwd: string): Promise<string> => {
      const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd, env: { ...env, OSTIARY_TOKEN: token } });
      expect([0, 2, 6], `${line}: ${stderr}`).toContain(code);
      expect(stdout).not.toContain('canary');
      return stdout;
    };
    const observe = async (situation: Omit<Situation, 'token'>, folder: string): Promise<void> => {
      for (const [token, flags] of [
        ['readable', '--secrets resolve'],
        ['hidden', '--secrets resolve'],
        ['unresolved', '--secrets unresolved'],
      ] as const) {
        const json = async (line: string): Promise<JsonObject> =>
          JSON.parse(await run(`${line} ${flags} --format json --quiet`, token === 'hidden' ? side.auditor : side.admin, folder));
        const key = JSON.stringify({ token, ...situation });
        const byDialect = outcomes.get(key) ?? new Map<string, readonly SecretOutcome[]>();
        outcomes.set(key, byDialect.set(dialect, await outcomesOf(json)));
      }
    };
    await run('apply --yes --allow plan/too-many-updates=test', side.admin, applied.folder);
    applied.save(manifestsAt('head'));
    await observe({ manifests: 'changed', base: true }, applied.folder);
    await observe({ manifests: 'changed', base: false }, makeProject({ 'ostiary.yaml': text, ...manifestsAt('head') }));
    await run('apply --yes --allow plan/too-many-updates=test', side.admin, applied.folder);
    await observe({ manifests: 'unchanged', base: true }, applied.folder);
    await observe({ manifests: 'unchanged', base: false }, makeProject({ 'ostiary.yaml': text, ...manifestsAt('head') }));
  }
  await expect(secretPage(outcomes)).toMatchFileSnapshot('../../../docs/reference/secrets.md');
}, 600_000);

type ReadJson = (line: string) => Promise<JsonObject>;

async function outcomesOf(json: ReadJson): Promise<readonly SecretOutcome[]> {
  const [plan] = listIn(await json('plan'), 'plans');
  const [drift] = listIn(await json('drift'), 'drifts');
  const listed = listIn(await json('list'), 'objects');
  const drifted = Object(drift?.['plan']);
  const statuses = new Map<string, string>();
  for (const id of ['Connection/every-key', idOf(forms.length), idOf(forms.length + 1)])
    for (const { path, status } of listIn(await json(`explain ${id}`), 'rows')) statuses.set(`${id} ${asText(path)}`, asText(status));
  return all.map((form, index): SecretOutcome => {
    const id = idOf(index);
    const planned = outcomeIn(plan ?? {}, id);
    const found = outcomeIn(drifted, id);
    const [kind, name] = id.split('/');
    const row =
      index < forms.length
        ? `Connection/every-key /secret/envvar:KEY_${index}`
        : `${id} ${index === forms.length ? '/secret/envvar:KEY' : '/git_password'}`;
    const outcome: Outcomes = {
      plan: planned,
      drift: found === 'change' ? 'drift' : found === 'in sync' ? (planned === 'change' ? 'pending' : 'no drift') : found,
      explain: statuses.get(row) ?? 'no row',
      list: asText(listed.find((each) => each['kind'] === kind && each['name'] === name)?.['state']),
    };
    return { form, ...outcome };
  });
}

function listIn(value: JsonObject, name: string): readonly JsonObject[] {
  const list = value[name];
  return Array.isArray(list) ? list.map((each: Json) => Object(each)) : [];
}

/** Returns what a plan says of the secret of an object. */
function outcomeIn(plan: JsonObject, id: string): string {
  const isOfObject = (each: JsonObject): boolean => each['id'] === id;
  if (listIn(plan, 'changes').some((change) => isOfObject(change) && listIn(change, 'fields').length > 0)) return 'change';
  if (listIn(plan, 'notCompared').some(isOfObject)) return 'not compared';
  return listIn(plan, 'unwrittenSecrets').some(isOfObject) ? 'named, not written' : 'in sync';
}
