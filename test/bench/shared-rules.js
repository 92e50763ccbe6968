// A gateway whose connections share rules, and manifests that change some of the rules: the fixture of the growth in connections, rules and changed rules.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf, wireOf } from './fixture.js';

/** How rules reach connections, the kind of the rules, and the dialects of gateways that have both; one approval rule may name a connection. */
export const sharedWays = [
  { by: 'selector', kind: 'GuardrailRule', dialects: ['interface', 'hoop'] },
  { by: 'name', kind: 'GuardrailRule', dialects: ['interface', 'hoop'] },
  { by: 'attribute', kind: 'GuardrailRule', dialects: ['hoop'] },
  { by: 'approval', kind: 'AccessRequestRule', dialects: ['hoop'] },
  { by: 'who', kind: 'Attribute', dialects: ['hoop'] },
];

function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}

function ruleName(index) {
  return `rule-${index}`;
}

/** The spec of a rule, and what the gateway has of it beside its attachments; both are JSON. */
function ruleSpec({ by }, index, word) {
  if (by === 'who') return { access_groups: [`group-${index}`, word] };
  if (by !== 'approval') return { input: { rules: [{ type: 'deny_words_list', words: [`BASE ${index}`, `${word} ${index}`] }] } };
  const groups = { approval_required_groups: [`group-${index}`], reviewers_groups: ['dba', word] };
  return { access_type: 'jit', ...groups, min_approvals: word === 'DROP' ? 1 : 2 };
}

function attachment({ by, connections }, index) {
  if (by === 'selector') return { connection_selector: { match_tags: { env: 'prod' } } };
  if (by === 'name') return { connection_ids: range(connections).map((number) => `db-${number}`) };
  if (by === 'approval') return { attributes: [`at-${index}`] };
  return by === 'attribute' ? { attributes: ['shared'] } : {};
}

/** The attributes of each connection: those that attach rules, or that are the rules. */
function attributesOf({ by, rules }, number) {
  if (by === 'attribute') return ['shared'];
  if (by === 'approval') return [`at-${number % rules}`];
  return by === 'who' ? range(rules).map(ruleName) : undefined;
}

/** Writes the manifests: `connections` that share `rules`, of which `changed` differ from the gateway. */
export function writeShared(folder, scene) {
  const { kind, connections, rules, changed } = scene;
  const access = join(folder, 'access');
  mkdirSync(access, { recursive: true });
  const more = (number) => {
    const attributes = attributesOf(scene, number);
    return attributes === undefined ? '' : `  attributes: ${JSON.stringify(attributes)}\n`;
  };
  for (let first = 0; first < connections; first += 50) {
    const texts = range(Math.min(50, connections - first)).map((index) => `${manifestOf(first + index)}${more(first + index)}`);
    writeFileSync(join(access, `connections-${first}.yaml`), texts.join('---\n'));
  }
  for (const index of range(rules)) {
    const spec = { ...ruleSpec(scene, index, index < changed ? 'TRUNCATE' : 'DROP'), ...attachment(scene, index) };
    const document = { apiVersion: 'ostiary/v1', kind, metadata: { name: ruleName(index) }, spec };
    writeFileSync(join(access, `${ruleName(index)}.yaml`), JSON.stringify(document));
  }
  return access;
}

const id = (prefix, index) => `${prefix}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** The lists of a gateway of the interface that has the objects before the change. */
export function sharedAnswers(scene) {
  const connections = range(scene.connections).map((index) => wireOf(index));
  const all = connections.map((one) => one.id);
  const ids = range(scene.rules).map((index) => id(2, index));
  const rules = ids.map((own, index) => ({
    id: own,
    name: ruleName(index),
    ...ruleSpec(scene, index, 'DROP'),
    connection_ids: all,
    managed_by: '',
  }));
  return {
    '/connections': JSON.stringify(connections.map((one) => ({ ...one, guardrail_rules: ids }))),
    '/guardrails': JSON.stringify(rules),
  };
}

/** Fills an empty model of the public gateway with the objects before the change. */
export async function fillShared(root, token, scene) {
  const send = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${root}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const listed = await fetch(`${root}/agents`, { headers: { authorization: `Bearer ${token}` } });
  const [{ id: agent }] = await listed.json();
  if (scene.by === 'who') await send('/plugins', { name: 'access_control', connections: [] });
  const rows = range(scene.rules);
  const labels = new Set(scene.by === 'who' ? [] : rows.flatMap((index) => attributesOf(scene, index) ?? []));
  for (const name of labels) await send('/attributes', { name });
  if (scene.by === 'who')
    for (const index of rows) {
      const { access_groups: groups } = ruleSpec(scene, index, 'DROP');
      await send('/attributes', { name: ruleName(index), access_control_group_names: groups });
    }
  const ids = [];
  for (const index of range(scene.connections)) {
    const { id: _, guardrail_rules: __, managed_by: ___, status: ____, agent_id: _____, ...rest } = wireOf(index);
    const attributes = attributesOf(scene, index);
    ids.push((await send('/connections', { ...rest, agent_id: agent, ...(attributes === undefined ? {} : { attributes }) })).id);
  }
  const attached =
    scene.by === 'approval' ? { connection_names: [], force_approval_groups: [] } : scene.by === 'attribute' ? {} : { connection_ids: ids };
  const path = { GuardrailRule: '/guardrails', AccessRequestRule: '/access-requests/rules' }[scene.kind];
  for (const index of path === undefined ? [] : rows) {
    const { connection_selector: _, connection_ids: __, ...named } = attachment(scene, index);
    await send(path, { name: ruleName(index), ...ruleSpec(scene, index, 'DROP'), ...named, ...attached });
  }
}

const usual = { connections: 1000, rules: 40, changed: 40 };

/** The sizes of a plan: each of connections, rules and changed rules at three, the others as usual. */
const growth = [
  ...[500, 1000, 2000].map((connections) => ({ ...usual, connections })),
  ...[20, 40, 80].map((rules) => ({ ...usual, rules, changed: 20 })),
  ...[10, 20, 40].map((changed) => ({ ...usual, changed })),
];

/** The largest plan, whose time and memory have an aim. */
const largest = { connections: 2000, rules: 200, changed: 200 };

const few = { connections: 500, rules: 20, changed: 20 };

/** Attributes that grant groups are fewer: a connection with hundreds of them is of no use to anyone. */
const fewRules = [
  ...[250, 500, 1000].map((connections) => ({ ...few, connections })),
  ...[10, 20, 40].map((rules) => ({ ...few, rules, changed: 10 })),
  ...[5, 10, 20].map((changed) => ({ ...few, changed })),
];

/** Adds a row for each way, dialect and size: the time and the peak memory of a plan that changes rules which all connections share. */
export async function sharedRows({ full, folder, run, cli, serve, stop, row }) {
  const codes = ['plan/too-many-updates', 'plan/too-many-lose-protection', 'plan/window'];
  const allowed = codes.flatMap((code) => ['--allow', `${code}=bench`]);
  for (const { dialects, ...way } of sharedWays) {
    const sizes = way.by === 'who' ? fewRules : [...growth, largest];
    for (const dialect of dialects) {
      for (const size of full ? sizes : sizes.filter((one, index) => index < 2 || one === largest)) {
        const scene = { ...way, ...size };
        const place = join(folder, ['shared', way.by, dialect, ...Object.values(size)].join('-'));
        const access = writeShared(place, scene);
        const { url, child, token } = await serve(dialect, scene, place);
        const args = ['plan', access, '--url', url, '--dialect', dialect, '--quiet', '--cache', join(place, 'cache'), ...allowed];
        const { wall, cpu, memory } = run([cli, ...args], { env: { OSTIARY_TOKEN: token } });
        await stop(child);
        const isLargest = size === largest;
        row(
          `plan that changes ${size.changed} of ${size.rules} rules on ${size.connections} connections, by ${way.by}, ${dialect}`,
          `${(wall / 1000).toFixed(1)} s (CPU ${(cpu / 1000).toFixed(1)} s), ${memory.toFixed(0)} MiB`,
          isLargest ? '< 10 s, 600 MiB' : '',
          !isLargest || (wall < 10_000 && memory < 600),
        );
      }
    }
  }
}
