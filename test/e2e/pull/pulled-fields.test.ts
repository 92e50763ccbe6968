import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { type DialectFields, hasField } from '../../../src/model/gateway.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Kind } from '../../../src/model/kind.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { neededFields } from '../../support/manifests.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { config, connection, guardrail, manifest, useProjects, writeFiles } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeProject = useProjects();

/** What objects of a kind have, and one value of each field that they do not have, or another one. */
type Samples = { readonly spec: (name: string) => JsonObject; readonly patches: (name: string) => Readonly<Record<string, JsonObject>> };

const template = '2f3b1d0e-5a7c-4b1e-9d3f-0a1b2c3d4e5f';
const words = (...names: readonly string[]): JsonObject => ({
  rules: names.map((name) => ({ name, type: 'deny_words_list', words: [name] })),
});
const books = (name: string): JsonObject => ({ repository: 'git.example.com/ops/runbooks', name });

const samples: Readonly<Record<string, Samples>> = {
  AccessRequestRule: {
    spec: (name) => ({ access_type: 'jit', connection_names: [`of-${name}`], reviewers_groups: ['dba', 'sre'], min_approvals: 1 }),
    patches: (name) => ({
      description: { description: 'why' },
      connection_names: { connection_names: [`of-${name}`, `more-${name}`] },
      access_type: { access_type: 'command' },
      attributes: { attributes: ['of-rule'] },
      approval_required_groups: { approval_required_groups: ['sre'] },
      reviewers_groups: { reviewers_groups: ['dba', 'security'] },
      min_approvals: { min_approvals: 2 },
      all_groups_must_approve: { all_groups_must_approve: true, min_approvals: null },
      force_approval_groups: { force_approval_groups: ['sre'] },
      skip_review_groups: { skip_review_groups: ['sre'] },
      access_max_duration: { access_max_duration: 3600 },
    }),
  },
  Attribute: { spec: () => ({}), patches: () => ({ description: { description: 'why' }, access_groups: { access_groups: ['sre'] } }) },
  Connection: {
    spec: (name) => ({ ...neededFields, type: 'custom', resource_name: name }),
    patches: () => ({
      type: { type: 'application' },
      subtype: { subtype: 'ssh' },
      agent_id: { agent_id: 'prod-agent' },
      access_mode_connect: { access_mode_connect: 'disabled' },
      access_mode_exec: { access_mode_exec: 'disabled' },
      access_mode_runbooks: { access_mode_runbooks: 'enabled' },
      access_schema: { access_schema: 'disabled' },
      access_groups: { access_groups: ['sre'] },
      access_max_duration: { access_max_duration: 3600 },
      command: { command: ['sh'] },
      connection_tags: { connection_tags: { env: 'prod' } },
      force_approve_groups: { force_approve_groups: ['sre'] },
      issuetracker_issue_template_id: { issuetracker_issue_template_id: template },
      redact_types: { redact_types: ['EMAIL_ADDRESS'] },
      resource_name: { resource_name: 'shared' },
      guardrail_rules: { guardrail_rules: ['extra'] },
      reviewers: { reviewers: ['dba'] },
      secret: { secret: { 'envvar:PASS': { value: 'canary' } } },
      tags: { tags: ['old'] },
      attributes: { attributes: ['of-connection'] },
      mandatory_metadata_fields: { mandatory_metadata_fields: ['ticket'] },
      min_review_approvals: { min_review_approvals: 1 },
      slack_channels: { slack_channels: ['C1'] },
    }),
  },
  DataMaskingRule: {
    spec: () => ({ supported_entity_types: [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }] }),
    patches: () => ({
      description: { description: 'why' },
      connection_ids: { connection_ids: ['extra'] },
      score_threshold: { score_threshold: 0.5 },
      supported_entity_types: { supported_entity_types: [{ name: 'CONTACT', entity_types: ['PERSON'] }] },
      custom_entity_types: { custom_entity_types: [{ name: 'EMP', regex: 'E[0-9]+', score: 0.5 }] },
      attributes: { attributes: ['of-masking'] },
    }),
  },
  GuardrailRule: {
    spec: () => ({}),
    patches: () => ({
      description: { description: 'why' },
      connection_ids: { connection_ids: ['extra'] },
      input: { input: words('drop') },
      output: { output: words('drop') },
      attributes: { attributes: ['of-guardrail'] },
    }),
  },
  RunbookConfiguration: {
    spec: (name) => ({ git_url: `https://git.example.com/${name}.git` }),
    patches: () => ({
      git_hook_ttl: { git_hook_ttl: 60 },
      git_user: { git_user: 'bot' },
      ssh_user: { ssh_user: 'bot' },
      ssh_known_hosts: { ssh_known_hosts: 'git.example.com ssh-ed25519 AAAA' },
    }),
  },
  RunbookRule: {
    spec: (name) => ({ runbooks: [books('ops/')], connections: [`of-${name}`], user_groups: ['sre'] }),
    patches: (name) => ({
      description: { description: 'why' },
      connections: { connections: [`of-${name}`, `more-${name}`] },
      runbooks: { runbooks: [books('dev/')] },
      user_groups: { user_groups: ['dba'] },
    }),
  },
};

/** One object before and after a change by hand of one of its fields. */
type HandEdit = { readonly kind: string; readonly name: string; readonly before: JsonObject; readonly after: JsonObject };

/** Returns whether a field never changes alone: the kind derives it, or the object is another one with another value. */
function isBound({ derived, identity }: Kind, field: string): boolean {
  return field in derived({}) || identity('', { [field]: 'https://git.example.com/other.git' }) !== identity('', {});
}

/** Lists a change to a value and one back from it for each field, but for secrets that a manifest cannot state as absent. */
function editsOf(kind: Kind, speech: DialectFields): readonly HandEdit[] {
  const { spec, patches }: Samples = samples[kind.name] ?? { spec: () => ({}), patches: () => ({}) };
  const fields = kind.fields.filter(
    (field) => field.secret !== 'plain' && field.manifestOnly !== true && !isBound(kind, field.name) && hasField(speech, kind.name, field),
  );
  return fields.flatMap(({ name: field, implied, empty }) =>
    [true, false].map((isAdded) => {
      const name = `${kind.name}-${field}-${isAdded ? 'added' : 'removed'}`.toLowerCase().replaceAll('_', '-');
      const patch = patches(name)[field];
      if (patch === undefined) throw new Error(`there is no value of ${kind.name}.${field}`);
      const without = { [field]: implied === undefined ? empty : [], ...spec(name) };
      const value = { ...spec(name), ...patch };
      return { kind: kind.name, name, ...(isAdded ? { before: without, after: value } : { before: value, after: without }) };
    }),
  );
}

/** How to reach a gateway of each dialect, and what it has. */
const sides = {
  async hoop() {
    const { url, model } = await hoopProject({ agents: [{ name: 'default' }, { name: 'prod-agent' }] });
    model.store.jiraTemplates.add(template);
    return { url, token: adminToken, borrowed: [] };
  },
  async interface() {
    const borrowed = ['Connection.access_groups', 'Connection.min_review_approvals'];
    return { url: gateway.url(), token: gateway.server().key, borrowed };
  },
};

const allowed = ['plan/access-control-on', 'plan/window', 'plan/too-many-updates'].flatMap((code) => ['--allow', `${code}=by hand`]);

test.each(['hoop', 'interface'] as const)(
  '%s: a plan lists each field that changed by hand after a pull, before the first apply',
  async (dialect) => {
    const { url, token, borrowed } = await sides[dialect]();
    const [hand, pulled] = [makeProject({ 'ostiary.yaml': config(url) }), makeProject({})];
    const run = (folder: string, ...args: readonly string[]): ReturnType<typeof runInFolder> =>
      runInFolder(folder, args, { OSTIARY_TOKEN: token });
    const kinds = [...registry.values()].filter((kind) => kind.dialect === undefined || kind.dialect === dialect);
    const edits = kinds.flatMap((kind) => editsOf(kind, { dialect, borrowed }));
    const ends = [
      'extra',
      ...edits.flatMap(({ name }) => (/^(?:accessrequest|runbook)rule/.test(name) ? [`of-${name}`, `more-${name}`] : [])),
    ];
    const others = [guardrail('extra'), ...ends.map((name) => connection(name, { access_groups: [] }))];
    const apply = async (side: 'before' | 'after'): Promise<void> => {
      const manifests = [...edits.map((edit) => manifest(edit.kind, edit.name, edit[side])), ...others];
      writeFiles(hand, { 'access/all.yaml': manifests.join('---\n') });
      const { code, stdout, stderr } = await run(hand, 'apply', '--yes', ...allowed);
      expect([code, code === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
    };
    await apply('before');
    expect(await run(pulled, 'pull', '--url', url)).toMatchObject({ code: 0 });
    expect(await run(pulled, 'plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
    await apply('after');
    const [plan] = JSON.parse((await run(pulled, 'plan', '--format', 'json')).stdout).plans;
    const attached = plan.edges.flatMap(({ rule, connection: end }: Record<string, string>) => [rule, end]);
    const listed = new Set([...[...plan.changes, ...plan.notCompared].map(({ id }: Record<string, string>) => id), ...attached]);
    expect(edits.map(({ kind, name }) => `${kind}/${name}`).filter((id) => !listed.has(id))).toEqual([]);
    expect(edits.length).toBeGreaterThan(2 * kinds.length);
  },
);
