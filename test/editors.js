// Opens documents of a new project in the real yaml-language-server, as editors do: node test/editors.js PATH-OF-YAML-LANGUAGE-SERVER
import { strict as assert } from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const project = mkdtempSync(join(tmpdir(), 'ostiary-editors-'));
execFileSync(process.execPath, [resolve('dist/cli.js'), 'init', '--quiet', project]);
const program = process.argv[2] ?? 'node_modules/yaml-language-server/bin/yaml-language-server';
const server = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
server.on('exit', () => {
  if (!isDone) throw new Error('the language server ended');
});
const limit = setTimeout(() => {
  throw new Error('the language server did not answer within 3 minutes');
}, 180_000);
let isDone = false;

/** Waiting requests by number, and waiting readers of diagnostics by document. */
const waiting = new Map();
let unread = Buffer.alloc(0);
let last = 0;

function send(message) {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function request(method, params) {
  last += 1;
  const answer = new Promise((done) => waiting.set(last, done));
  send({ id: last, method, params });
  return answer;
}

/** Answers the server's questions, and passes on what it answers and publishes. */
function receive({ id, method, params, result, error }) {
  if (method === 'workspace/configuration') {
    const yaml = { validate: true, hover: true, completion: true, schemaStore: { enable: false } };
    send({ id, result: params.items.map(({ section }) => (section === 'yaml' ? yaml : null)) });
  } else if (method !== undefined && id !== undefined) send({ id, result: null });
  else if (method === 'textDocument/publishDiagnostics') waiting.get(params.uri)?.(params.diagnostics);
  else if (id !== undefined) waiting.get(id)?.(error === undefined ? result : assert.fail(JSON.stringify(error)));
}

server.stdout.on('data', (chunk) => {
  unread = Buffer.concat([unread, chunk]);
  for (;;) {
    const end = unread.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/.exec(unread.subarray(0, Math.max(end, 0)).toString())?.[1]);
    if (end < 0 || unread.length < end + 4 + length) return;
    const body = unread.subarray(end + 4, end + 4 + length).toString();
    unread = unread.subarray(end + 4 + length);
    receive(JSON.parse(body));
  }
});

/** Opens a text with a cursor (^) as a new file of a folder, and compares what the editor shows with what it is expected to show. */
async function check(folder, marked, { completes = [], not = [], shows = '', errors = [] }) {
  const before = marked.slice(0, marked.indexOf('^')).split('\n');
  const uri = pathToFileURL(join(project, folder, `edited-${(last += 1)}.yaml`)).href;
  const found = new Promise((done) => waiting.set(uri, done));
  send({
    method: 'textDocument/didOpen',
    params: { textDocument: { uri, languageId: 'yaml', version: 1, text: marked.replace('^', '') } },
  });
  const reported = (await found).map(({ range, message }) => `${range.start.line + 1}:${range.start.character + 1} ${message}`);
  const place = { textDocument: { uri }, position: { line: before.length - 1, character: before.at(-1).length } };
  const labels = ((await request('textDocument/completion', place))?.items ?? []).map(({ label }) => label);
  const text = ((await request('textDocument/hover', place))?.contents?.value ?? '').replaceAll('\\', '');
  const missing = completes.filter((label) => !labels.includes(label));
  assert.deepEqual({ missing, labels: missing.length > 0 ? labels : [] }, { missing: [], labels: [] }, marked);
  assert.deepEqual(
    not.filter((label) => labels.includes(label)),
    [],
    marked,
  );
  assert.ok(text.includes(shows), `${marked}\n\nThe hover text is: ${text}`);
  assert.deepEqual(new Set(reported), new Set(errors), marked);
}

try {
  const rootUri = pathToFileURL(project).href;
  const capabilities = { workspace: { configuration: true }, textDocument: { hover: { contentFormat: ['plaintext'] } } };
  await request('initialize', { processId: process.pid, rootUri, capabilities });
  send({ method: 'initialized', params: {} });
  const read = (path) => readFileSync(join(project, path), 'utf8');

  /** Checks a manifest after one line of it was replaced. */
  const editsOf = (text) => (line, by, expected) =>
    check(
      'access',
      text.replace(line, () => by),
      expected,
    );
  const connection = read('access/example-db.yaml');
  const inConnection = editsOf(connection);
  await inConnection('reviewers:', 'review^ers:', { shows: 'Groups that must approve before a user can execute. Omitted: [].' });
  await inConnection('  secret:', '  ^\n  secret:', { completes: ['command', 'access_max_duration'], not: ['managed_by', 'reviewers'] });
  await inConnection('subtype: postgres', 'subtype: ^mysql', { completes: ['postgres', 'ssh'] });
  await inConnection('access_mode_exec: enabled', 'access_mode_exec: ^disabled', { completes: ['enabled', 'disabled'] });
  await inConnection('reviewers:', 'reviewer:^', { errors: ['16:3 Property reviewer is not allowed.'] });
  await inConnection('subtype: postgres', 'subtype: 5^', { errors: ['8:12 Incorrect type. Expected one of string, null.'] });
  await inConnection('  agent_id: default\n', '^', { errors: ['6:1 Missing property "agent_id".'] });

  const rule = read('access/no-drop.yaml');
  const inRule = editsOf(rule);
  const sample = '- { input: SELECT 1, expect: allowed }';
  await inRule('type: pattern_match', 'type: ^pattern_match', { completes: ['deny_words_list', 'pattern_match'] });
  await inRule('pattern_regex', 'pattern_re^gex', { shows: 'A blocked pattern (RE2).' });
  await inRule(sample, '- input: SELECT 1\n    expect: ^allowed', {
    completes: ['blocked', 'allowed'],
    shows: 'The expected result.',
  });
  await inRule(sample, '- { input: SELECT 1, expects: allowed }^', {
    errors: ['15:5 Missing property "expect".', '15:24 Property expects is not allowed.'],
  });
  await inRule('description: Blocks', 'description: [Blocks]^ #', { errors: ['7:16 Incorrect type. Expected one of string, null.'] });

  const config = read('ostiary.yaml');
  const inConfig = (by, expected) =>
    check(
      '.',
      config.replace('prune: true', () => by),
      expected,
    );
  await inConfig('pru^ne: true', { shows: 'Whether apply deletes' });
  await inConfig('^', { completes: ['limits', 'dialect', 'overlays'], not: ['url'] });
  await inConfig('dialect: ^hoop', { completes: ['auto', 'interface', 'hoop'] });
  const line = config.slice(0, config.indexOf('prune: true')).split('\n').length;
  await inConfig('prunes: 5^', { errors: [`${line}:5 Property prunes is not allowed.`] });
  await inConfig('prune: 5^', { errors: [`${line}:12 Incorrect type. Expected "boolean".`] });

  const policy = `# yaml-language-server: $schema=../schemas/policy.schema.json
apiVersion: ostiary/v1
kind: Policy
metadata: { name: reviewed }
spec:
  require: [size(connection.reviewers) > 0]
`;
  await check('access', `${policy}  ^\n`, { completes: ['match', 'severity', 'waivers'] });
  await check('access', `${policy}  severity: ^error\n`, { completes: ['error', 'warning'], shows: 'refuses the plan' });
  await check('access', `${policy}  waive: []^\n`, { errors: ['7:3 Property waive is not allowed.'] });
  await check('access', `${policy}  waivers: 5^\n`, { errors: ['7:12 Incorrect type. Expected "array".'] });

  const defaults = `# yaml-language-server: $schema=../schemas/defaults.schema.json
apiVersion: ostiary/v1
kind: Defaults
spec:
  Connection:
    agent_id: default
`;
  await check('access', `${defaults}    ^\n`, { completes: ['reviewers', 'access_mode_exec'], not: ['secret', 'managed_by'] });
  await check('access', `${defaults}    access_mode_exec: ^disabled\n`, {
    completes: ['enabled', 'disabled'],
    shows: 'Ad hoc executions.',
  });
  await check('access', `${defaults}    secret: {}^\n`, { errors: ['7:5 Property secret is not allowed.'] });
  await check('access', `${defaults}    reviewers: 5^\n`, { errors: ['7:16 Incorrect type. Expected one of array, null.'] });
  process.stdout.write('yaml-language-server completes, explains and checks every kind of document\n');
} finally {
  isDone = true;
  clearTimeout(limit);
  server.kill();
  rmSync(project, { recursive: true, force: true });
}
