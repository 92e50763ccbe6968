// Manifests and the gateway's answer that make them no change, for any number of connections.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const agent = '3e6f0a52-0b63-4d2b-9a7e-6a9f5b1d2c11';
const teams = ['orders', 'payments', 'analytics', 'support', 'platform'];

function uuid(index) {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

function base64(text) {
  return Buffer.from(text).toString('base64');
}

/** One manifest of about 600 bytes. */
export function manifestOf(index) {
  return `apiVersion: ostiary/v1
kind: Connection
metadata:
  name: db-${index}
spec:
  type: database
  subtype: postgres
  agent_id: prod-agent
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  access_max_duration: ${3600 + (index % 10) * 60}
  reviewers: [dba-team, ${teams[index % 5]}-leads]
  redact_types: [EMAIL_ADDRESS, PHONE_NUMBER]
  connection_tags: { env: prod, team: ${teams[index % 5]}, shard: "${index % 100}" }
  secret:
    envvar:HOST: { value: db-${index}.internal }
    envvar:PORT: { value: "5432" }
    envvar:USER: { value: app }
    envvar:PASS: _cloudsecrets:db-${index}:password
`;
}

/** The same connection as the gateway lists it. */
export function wireOf(index) {
  return {
    id: uuid(index),
    name: `db-${index}`,
    type: 'database',
    subtype: 'postgres',
    agent_id: agent,
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'enabled',
    access_max_duration: 3600 + (index % 10) * 60,
    command: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
    connection_tags: { env: 'prod', team: teams[index % 5], shard: String(index % 100) },
    default_database: '',
    force_approve_groups: [],
    guardrail_rules: [],
    issuetracker_issue_template_id: '',
    redact_enabled: true,
    redact_types: ['EMAIL_ADDRESS', 'PHONE_NUMBER'],
    resource_name: `db-${index}`,
    reviewers: ['dba-team', `${teams[index % 5]}-leads`],
    secret: {
      'envvar:HOST': base64(`db-${index}.internal`),
      'envvar:PORT': base64('5432'),
      'envvar:USER': base64('app'),
      'envvar:PASS': `_cloudsecrets:db-${index}:password`,
    },
    tags: [],
    managed_by: '',
    status: 'offline',
  };
}

/** The bodies of a gateway that holds `count` connections and nothing else, by path. */
export function answersFor(count) {
  const connections = Array.from({ length: count }, (_, index) => wireOf(index));
  return {
    '/serverinfo': JSON.stringify({ name: 'ostiary', version: 'bench', role: 'admin', organisation: 'bench' }),
    '/agents': JSON.stringify([{ id: agent, name: 'prod-agent', status: 'online' }]),
    '/connections': JSON.stringify(connections),
    '/guardrails': '[]',
    '/datamasking-rules': '[]',
    '/runbooks/configurations': '[]',
  };
}

/** Writes `count` manifests, one a file, a hundred a folder, each as `textOf` makes it. */
export function writeManifests(folder, count, textOf = manifestOf) {
  for (let index = 0; index < count; index += 1) {
    const shelf = join(folder, 'access', String(Math.floor(index / 100)));
    if (index % 100 === 0) mkdirSync(shelf, { recursive: true });
    writeFileSync(join(shelf, `db-${index}.yaml`), textOf(index));
  }
  return join(folder, 'access');
}

/** Writes a guardrail and a masking rule that are attached to all of `count` connections; a file may have 1 MiB. */
export function writeRules(folder, count) {
  const names = Array.from({ length: count }, (_, index) => `    - db-${index}\n`).join('');
  const rules = [
    ['GuardrailRule', 'no-drop', '  input: { rules: [{ type: pattern_match, pattern_regex: "(?i)drop table" }] }'],
    ['DataMaskingRule', 'emails', '  supported_entity_types: [{ name: mails, entity_types: [EMAIL_ADDRESS] }]'],
  ];
  for (const [kind, name, spec] of rules) {
    const text = `apiVersion: ostiary/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n${spec}\n  connection_ids:\n${names}`;
    writeFileSync(join(folder, `${name}.yaml`), text);
  }
}
