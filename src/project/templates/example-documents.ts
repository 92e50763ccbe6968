import { schemaPath } from './schema-files.ts';

/** A document of each kind, below `kind`: valid, and with the fields that most manifests state. */
const bodies: Readonly<Record<string, string>> = {
  Connection: `metadata:
  name: example-db
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: disabled
  access_mode_exec: enabled
  access_mode_runbooks: enabled
  access_schema: enabled
  connection_tags: { env: dev }
  guardrail_rules: [no-drop]
  reviewers: [dba-team]
  secret:
    envvar:HOST: { value: db.internal }
    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_EXAMPLE_DB_PASS } }
`,
  GuardrailRule: `metadata:
  name: no-drop
spec:
  description: Blocks statements that drop or truncate a table.
  input:
    rules:
      - name: ddl
        type: pattern_match
        pattern_regex: (?i)\\b(drop|truncate)\\s+table\\b
tests:
  - { input: DROP TABLE orders, expect: blocked }
  - { input: SELECT 1, expect: allowed }
`,
  DataMaskingRule: `metadata:
  name: mask-personal-data
spec:
  description: Masks names and e-mail addresses in every answer of production.
  connection_selector:
    match_tags: { env: prod }
  supported_entity_types:
    - name: PERSONAL
      entity_types: [PERSON, EMAIL_ADDRESS]
`,
  RunbookConfiguration: `metadata:
  name: runbooks
spec:
  git_url: https://git.example.com/platform/runbooks.git
  git_user: ostiary
  git_password: { valueFrom: { env: OSTIARY_SECRET_RUNBOOKS } }
`,
  AccessRequestRule: `metadata:
  name: production-needs-approval
spec:
  # jit: native access. command: each command. jit_command: both.
  access_type: jit_command
  connection_selector:
    match_tags: { env: prod }
  approval_required_groups: [developers]
  reviewers_groups: [dba-team]
  min_approvals: 1
`,
  Attribute: `metadata:
  name: payments
spec:
  description: What the payments team can use. A connection has it with attributes - [payments].
  access_groups: [payments]
`,
  RunbookRule: `metadata:
  name: support-runbooks
spec:
  runbooks:
    - { repository: git.example.com/platform/runbooks, name: support/ }
  connections: [orders-db]
  user_groups: [support]
`,
  Policy: `metadata:
  name: production-has-a-reviewer
spec:
  match:
    tags: { env: prod }
  require:
    - size(connection.reviewers) > 0
  message: production needs at least one reviewing group
`,
  AccessTest: `metadata:
  name: contractors
spec:
  - { group: contractors, on: { match_tags: { env: prod } }, expect: denied }
  - { group: developers, on: [orders-db], verb: exec, expect: { approval: { from: [dba-team] } } }
  - { group: others, on: [orders-db], expect: denied }
`,
  Defaults: `spec:
  Connection:
    agent_id: default
    reviewers: [dba-team]
`,
  Config: `manifests: [access/]
targets:
  production:
    url: https://gateway.example.com/api
    token: { env: OSTIARY_TOKEN }
    prune: true
`,
};

/** The kinds that have an example. */
export const exampleKinds: readonly string[] = Object.keys(bodies);

/** Returns a document of a kind as YAML text. */
export function exampleDocument(kind: string): string {
  return `apiVersion: ostiary/v1\nkind: ${kind}\n${bodies[kind] ?? ''}`;
}

/** The manifests of a new project, which fit together: the path of each file, and its text with the schema for editors. */
export const firstManifests: readonly (readonly [path: string, text: string])[] = [
  ['access/example-db.yaml', exampleFile('Connection')],
  ['access/no-drop.yaml', exampleFile('GuardrailRule')],
];

function exampleFile(kind: string): string {
  return `# yaml-language-server: $schema=../${schemaPath(kind)}\n${exampleDocument(kind)}`;
}
