// Removes safety checks from a copy of the sources, one at a time; a test has to fail for each.
// npm run torture:checks [-- PART…]; a part of the name of a check chooses it.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recordChecks } from './record-checks.js';

const managed = '  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);\n';

const bearer = "    const token = keyFromHeaders(c.req.header('Authorization'), undefined);\n";
const body =
  '    const body = await readBody(c.env.incoming, { limit: smallBodyBytes, missing: {} });\n    requireNoProblems(validate(body));\n';
/** Each check: what it guards, its file below src (or above it), its text, what replaces it, the tests of which one fails without it, and a text that goes first. */
export const checks = [
  ['managed objects are not deleted', 'apply/execute-step.ts', `${managed}  const obstacles`, '  const obstacles', ['unit/apply']],
  ['managed objects are not written', 'apply/execute-step.ts', `${managed}  const seen`, '  const seen', ['unit/apply']],
  ['an object is read again and compared before it is deleted', 'apply/execute-step.ts', 'obstacles.length > 0', 'false', ['unit/apply']],
  [
    'an object is read again and compared before it is updated',
    'apply/execute-step.ts',
    'if (changed.length > 0)',
    'if (false)',
    ['unit/apply'],
  ],
  [
    'managed objects are not planned',
    'reconcile/diff/diff-states.ts',
    'if (draft.managedBy !== undefined) {',
    'if (false) {',
    ['golden.test.ts'],
  ],
  [
    'managed objects are not pruned',
    'reconcile/diff/removed-objects.ts',
    'if (live.managedBy !== undefined) return',
    'if (false) return',
    ['golden.test.ts'],
  ],
  ['metadata.protect keeps an object', 'reconcile/diff/removed-objects.ts', 'return base.protect ?', 'return false ?', ['golden.test.ts']],
  [
    'a write names the version that was read',
    'gateway/write/write.ts',
    'const ifMatch = fresh?.version === undefined ? {} :',
    'const ifMatch = true ? {} :',
    ['unit/gateway/write', 'contract/gateway.test.ts'],
  ],
  [
    'a new name does not make a second object',
    'reconcile/guard/guard.ts',
    'if (predecessor === undefined) return undefined;',
    'if (predecessor !== null) return undefined;',
    ['golden.test.ts'],
  ],
  [
    'accepted drift is planned',
    'reconcile/reconcile.ts',
    'input.filter === undefined ? diffAccepted(prepared, diff) :',
    'input.filter === null ? diffAccepted(prepared, diff) :',
    ['golden.test.ts'],
  ],
  [
    'accepted drift has risks for --max-risk',
    'model/plan/plan.ts',
    '[...changes, ...unwritten, ...accepted].flatMap',
    '[...changes, ...unwritten].flatMap',
    ['unit/reconcile/accepted'],
  ],
  [
    'accepted drift counts for the limit on lost protection',
    'reconcile/guard/guard.ts',
    'losing: new Set([...losses.losing, ...losing])',
    'losing: losses.losing',
    ['unit/reconcile/accepted'],
  ],
  [
    'accepted drift is part of the digest',
    'reconcile/guard/guard.ts',
    'digest: digestWithAccepted(diff.digest, assessment.accepted)',
    'digest: diff.digest',
    ['unit/reconcile/accepted'],
  ],
  [
    'accepted drift of secrets has one digest for all tokens',
    'reconcile/saved-plan/plan-digest.ts',
    'edges.length > 0 || drift.fields.length === 0 || changesMore(drift)',
    'edges.length >= 0 || changesMore(drift)',
    ['e2e/plan/accepted-drift.test.ts'],
  ],
  [
    'accepted drift is a difference for exit codes and outputs',
    'model/plan/plan.ts',
    'plan.accepted.length > 0 ||',
    '',
    ['e2e/plan/accepted-drift.test.ts', 'e2e/action/accepted-drift.test.ts'],
  ],
  [
    'accepted drift is in the first line',
    'report/wording/summary.ts',
    'counts.accepted !== undefined || unwrittenParts(plan).length > 0',
    'unwrittenParts(plan).length > 0',
    ['golden.test.ts'],
  ],
  [
    'a secret that changed without a write is in the first line',
    'report/wording/summary.ts',
    '...(unwrittenSecrets.length === 0 ? [] : [unwrittenSecretsText(unwrittenSecrets.length)]),',
    '',
    ['unit/report/wording/summary.test.ts', 'property/invisible-changes.test.ts'],
  ],
  [
    'accepted drift has headlines and lost protection',
    'reconcile/assess/assess.ts',
    'const protection = withAcceptedLosses(stated.protection, headlines, losing);',
    'const { protection } = stated;',
    ['unit/reconcile/accepted'],
  ],
  [
    'accepted drift that redirects inherited credentials is found',
    'gateway/dialects/rest.ts',
    '[...plan.changes, ...accepted].some(',
    'plan.changes.some(',
    ['unit/gateway/inherited-reads.test.ts'],
  ],
  [
    'manifests of another checkout below the config are not read',
    'disk/walk.ts',
    "if (folder !== top && entries.some(({ name }) => name === '.git') && !isSubmodule(folder.real)) {",
    'if (false) {',
    ['e2e/git/other-checkouts.test.ts'],
  ],
  [
    'a link does not lead into another checkout',
    'disk/walk.ts',
    'const staysInCheckout = into === undefined || from !== undefined;',
    'const staysInCheckout = true;',
    ['e2e/git/other-checkouts.test.ts'],
  ],
  [
    'a config lists no other checkout',
    'project/listed-checkouts.ts',
    'checkout === undefined',
    'true',
    ['e2e/git/other-checkouts.test.ts'],
  ],
  ['HEAD below another .git stays', 'project/checkout.ts', 'checkout === undefined', 'true', ['e2e/git/other-checkouts.test.ts']],
  ['what is no submodule stays', 'project/checkout.ts', '!isSubmodule(folder)', 'false', ['e2e/git/other-checkouts.test.ts']],
  [
    'the file of a secret is in no other checkout',
    'disk/secret-file.ts',
    'findOtherCheckout(realRoot, real) !== undefined',
    'false',
    ['e2e/git/other-checkouts.test.ts'],
  ],
  [
    'PostgreSQL elsewhere needs TLS',
    'server/store/plaintext-hosts.ts',
    '!isThisMachine(host)',
    'false',
    ['server/store/plaintext-hosts.test.ts'],
  ],
  ['serve warns of no TLS', 'commands/serve.ts', 'hosts.length > 0', 'hosts.length < 0', ['e2e/serve/serve.test.ts']],
  [
    'a pipeline of a merge request on GitLab has no token that may write',
    '../examples/gitlab/.gitlab-ci.yml',
    '    - ostiary validate',
    '    - echo "$OSTIARY_NOTES"\n    - ostiary validate',
    ['e2e/git/gitlab.test.ts'],
  ],
  [
    'the job that publishes a release runs no script of a package',
    '../.github/workflows/release.yml',
    '      - run: printenv GH_TOKEN',
    '      - run: npm ci\n      - run: printenv GH_TOKEN',
    ['e2e/action/workflows.test.ts'],
  ],
  ['npm runs no script when it publishes', '../.github/publish.js', "      '--ignore-scripts',\n", '', ['e2e/action/workflows.test.ts']],
  [
    '--max-risk refuses riskier plans',
    'protection/risk/risk-codes.ts',
    'if (!isRiskierThan(one.risk.class, most)) continue;',
    'continue;',
    ['unit/protection/risk', 'e2e/plan/max-risk.test.ts'],
  ],
  [
    'limits refuse mass changes',
    'reconcile/guard/guard.ts',
    'refusals: [...limits.refusals, ...refusals]',
    'refusals: [...refusals]',
    ['golden.test.ts'],
  ],
  [
    'drift that is stricter is held',
    'protection/stricter-drift.ts',
    "return (verdict) => verdict === 'stricter' ||",
    'return (verdict) =>',
    ['golden.test.ts'],
  ],
  [
    'a connection is closed before its rules change',
    'reconcile/schedule/schedule-steps.ts',
    'if (deleted.length === 0) return',
    'if (deleted.length >= 0) return',
    ['unit/reconcile/schedule', 'golden.test.ts', 'property/deletions.test.ts'],
  ],
  [
    'a window between two writes is named',
    'reconcile/schedule/schedule-writes.ts',
    'return singleWrites.length === 0',
    'return singleWrites.length >= 0',
    ['unit/reconcile/schedule', 'hoop/exposure-windows.test.ts'],
  ],
  [
    'a saved plan has its digest',
    'reconcile/saved-plan/saved-plan.ts',
    'if (plan.digest !== digestWithAccepted(digestOf(plan.target, plan.changes, plan.edges, saved), accepted))',
    'if (digestOf === undefined)',
    ['e2e/plan/saved-plan.test.ts'],
  ],
  [
    'a saved plan has its checksum',
    'reconcile/saved-plan/saved-plan.ts',
    'if (saved.checksum !== checksumOf(unsealed(document)))',
    'if (checksumOf === undefined)',
    ['e2e/plan/saved-plan.test.ts'],
  ],
  [
    'another plan than the reviewed one is refused',
    'reconcile/saved-plan/saved-plan-checks.ts',
    'if (wanted === digest) return undefined;',
    'if (wanted !== noDigest) return undefined;',
    ['unit/reconcile/saved-plan'],
  ],
  [
    'an older commit is not applied',
    'reconcile/guard/record-refusals.ts',
    'if (fork === undefined) {',
    "if (here === '') {",
    ['e2e/git/git.test.ts', 'e2e/apply/removals.test.ts'],
  ],
  ...recordChecks,
  [
    'git uses the repository that Ostiary found',
    'git/git-environment.ts',
    '...(gitFolder === undefined ? {} : { GIT_DIR: gitFolder, GIT_WORK_TREE: folder })',
    '...(gitFolder === undefined ? {} : {})',
    ['unit/git/', 'git/programs.test.ts', 'e2e/git/planted-repositories.test.ts'],
  ],
  [
    'a folder that looks like a repository is none',
    'git/git-environment.ts',
    "  'safe.bareRepository=explicit',\n",
    '',
    ['git/programs.test.ts', 'unit/git/', 'e2e/git/planted-repositories.test.ts'],
  ],
  [
    'git runs no program for a protocol',
    'git/git-environment.ts',
    "GIT_ALLOW_PROTOCOL: protocols.join(':'),",
    '',
    ['unit/git/', 'git/programs.test.ts', 'e2e/git/planted-repositories.test.ts'],
  ],
  [
    'git runs no hook',
    'git/git-environment.ts',
    "  'core.hooksPath=/dev/null',\n",
    '',
    ['unit/git/', 'git/programs.test.ts', 'e2e/git/planted-repositories.test.ts'],
  ],
  [
    'the search for the config ends at the repository',
    'disk/find-config.ts',
    'isRepositoryTop(folder) ||',
    '',
    ['unit/disk/find-config.test.ts'],
  ],
  [
    'the config of another user is ignored',
    'disk/find-config.ts',
    'if (owner === undefined) {',
    'if (owner !== null) {',
    ['unit/disk/find-config.test.ts'],
  ],
  [
    'a message that may repeat a secret is not shown',
    'gateway/http/failure.ts',
    'if (mayRevealSecret(line, secrets)) return undefined;',
    '',
    ['unit/gateway/http'],
  ],
  [
    'an error in YAML quotes nothing below secret',
    'manifest/secrets/mask-secrets.ts',
    'const first = keys.find(({ name }) => !shown.has(name));',
    'const first = keys.find(() => false);',
    ['unit/manifest/secrets'],
  ],
  ['the body of a heartbeat is read after its token', 'server/agents/agents.openapi.ts', bearer, body + bearer, ['server/agents'], body],
  [
    'files of the database are closed to others',
    'server/store/database-folder.ts',
    'await chmod(path, stats.mode & 0o700);',
    '',
    ['server/store', 'server/process'],
  ],
  [
    'a folder that others can write is refused',
    'server/store/database-folder.ts',
    'if ((mode & 0o022) !== 0) throw',
    'if (mode < 0) throw',
    ['server/store', 'e2e/git/private-files.test.ts'],
  ],
  [
    'the audit log is a chain',
    'server/audit/audit-chain.ts',
    'if (hash !== nextHash(last.hash, text)) throw',
    'if (hash === null) throw',
    ['server/audit/audit-chain.test.ts'],
  ],
  [
    'a folder serves one process',
    'server/store/folder-lock.ts',
    'if (await isAlive(holder.pid, holder.start)) throw',
    'if (holder.pid < 0) throw',
    ['server/process/folder-lock.test.ts'],
  ],
  [
    'runbooks come from public addresses',
    'git/check-host.ts',
    'return addressClass(address) === undefined ||',
    "return addressClass(address) !== '' ||",
    ['git/address.test.ts', 'git/private-addresses.test.ts'],
  ],
  [
    'a list with holes proves nothing',
    'gateway/live/whole-list.ts',
    'return rows.length === total ? checkRows(read, rows) :',
    'return rows.length >= 0 ? checkRows(read, rows) :',
    ['unit/gateway/live'],
  ],
  [
    'an answer has a bound of memory',
    'gateway/http/client.ts',
    'if (!memory.take(text)) return',
    'if (text.length < 0) return',
    ['unit/gateway/http/client.test.ts'],
  ],
];

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Copies everything that tests read; the packages are linked. */
function copySources() {
  const copy = mkdtempSync(join(tmpdir(), 'ostiary-checks-'));
  const left = new Set(['.git', '.ostiary', 'node_modules', 'dist']);
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(path.slice(root.length + 1)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs tests of the copy, up to the first that fails; returns its file and its name, and how many ran. */
async function runTests(copy, tests) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const paths = tests.map((path) => `test/${path}`);
  const flags = ['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const options = { cwd: copy, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } };
  await run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...flags, ...paths], options).catch(() => undefined);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const results = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ status, fullName, file: name.slice(copy.length + 6) })),
  );
  const ran = results.filter(({ status }) => status === 'passed' || status === 'failed').length;
  // A file that cannot be loaded has no results, and must not count as a test that noticed.
  if (ran === 0) throw new Error(`none of ${paths.join(', ')} ran a test`);
  return { failed: results.find(({ status }) => status === 'failed'), ran };
}

/** Removes one check, runs its tests, and puts it back. */
async function removeCheck(copy, [, file, from, to, tests, first = '']) {
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  for (const part of [from, first]) if (!text.includes(part)) throw new Error(`${file} does not contain ${JSON.stringify(part)}`);
  writeFileSync(
    path,
    text.replace(first, '').replace(from, () => to),
  );
  try {
    return await runTests(copy, tests);
  } finally {
    writeFileSync(path, text);
  }
}

/** Removes the chosen checks one by one; returns the exit code. */
async function removeChecks(parts) {
  const chosen = checks.filter(([name]) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const copy = copySources();
  const killers = new Set();
  let survived = 0;
  try {
    for (const check of chosen) {
      const [name] = check;
      const { failed, ran } = await removeCheck(copy, check);
      if (failed === undefined) survived += 1;
      else killers.add(failed.file);
      process.stdout.write(
        `${String(name)}: ${failed === undefined ? `NOT NOTICED by ${ran} tests` : `${failed.file}: ${failed.fullName}`}\n`,
      );
    }
    // A test that fails in any case proves nothing.
    const { failed } = await runTests(copy, [...killers]);
    if (failed !== undefined) throw new Error(`with all checks, ${failed.file} fails: ${failed.fullName}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  process.stdout.write(`${chosen.length} safety checks removed one by one, ${survived} not noticed\n`);
  return survived === 0 && chosen.length > 0 ? 0 : 1;
}

// The tests of the architecture read the list.
if (process.argv[1] === import.meta.filename) process.exitCode = await removeChecks(process.argv.slice(2));
