// Follows the tutorial up to the first plan of a live gateway on machines that have nothing yet: with the single executable in a chroot without Node, and with
// the packed npm package in a chroot with Node. Prints sizes and times. Needs root on Linux, mmdebstrap, and dist/executable/ostiary (npm run executable).
// It installs from registries and takes about two minutes, so it is run by hand: node test/fresh-machine.js
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const executable = 'dist/executable/ostiary';
const place = mkdtempSync(join(tmpdir(), 'ostiary-fresh-machine-'));
const root = join(place, 'root');

/** Runs a program and returns what it prints. */
function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e8 }).trim();
}

/** Runs a script in the chroot; `isAlone` without the network of this machine. Processes that it leaves behind end with it. */
function inside(script, { isAlone = true } = {}) {
  const begin = Date.now();
  const mounts = [isAlone ? 'ip link set lo up' : ':', 'mount -t proc proc "$0/proc"', 'mount --bind /dev "$0/dev"'];
  const authority = existsSync(join(root, 'etc/authority.pem')) ? ['NODE_EXTRA_CA_CERTS=/etc/authority.pem'] : [];
  const env = ['env', '--ignore-environment', 'HOME=/root', 'PATH=/usr/local/bin:/usr/bin:/bin', 'NO_COLOR=1', ...authority];
  const command = `exec chroot "$0" ${env.join(' ')} bash -euo pipefail -c "$1"`;
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', ...(isAlone ? ['--net'] : [])];
  const shell = ['sh', '-ec', [...mounts, command].join('\n'), root, `cd\n${script}`];
  const { status, stdout, stderr } = spawnSync('unshare', [...namespaces, ...shell], { encoding: 'utf8' });
  return { code: status, stdout, output: stdout + stderr, milliseconds: Date.now() - begin };
}

function insideOrFail(script, options) {
  const result = inside(script, options);
  assert.equal(result.code, 0, `${script}\n${result.output}`);
  return result;
}

/** Returns the commands of the tutorial up to the first plan, as one script; a server runs in the background once it serves. */
function tutorialScript() {
  const page = readFileSync('docs/tutorial.md', 'utf8');
  const lines = [];
  for (const [, kind, body] of page.matchAll(/^```console( server)?\n([\s\S]*?)^```$/gm)) {
    const commands = [...body.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line);
    if (kind === undefined) lines.push(...commands);
    else
      lines.push(
        `(${commands.join('\n')}) > /tmp/server.log 2>&1 &`,
        'until grep -q "serves on" /tmp/server.log; do kill -0 $!; sleep 0.1; done',
      );
    const plan = lines.indexOf('ostiary plan');
    if (plan >= 0) return lines.slice(0, plan + 1).join('\n');
  }
  return assert.fail('the tutorial has no plan');
}

/** Follows the tutorial, and returns the seconds that it takes. */
function followTutorial() {
  const { output, milliseconds } = insideOrFail(`rm -rf access-demo\n${tutorialScript()}`);
  assert.match(output, /^Plan for production: 2 to create\./m);
  return milliseconds / 1000;
}

/** Returns the median time of a start in milliseconds. */
function timeStart() {
  const script = 'for i in 1 2 3 4 5; do a=$(date +%s%N); ostiary --version > /dev/null; echo $((($(date +%s%N) - a) / 1000000)); done';
  const times = insideOrFail(script).stdout.trim().split('\n').map(Number);
  return times.toSorted((left, right) => left - right)[2];
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Adds Node and npm to the chroot, from npm. */
function installNode() {
  const modules = join(place, 'node');
  const packages = [`node-linux-${process.arch}@24`, 'npm@11'];
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', modules, ...packages);
  cpSync(join(modules, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node'), join(root, 'usr/local/bin/node'));
  cpSync(join(modules, 'node_modules', 'npm'), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  // A machine whose network has a certificate authority of its own passes it on.
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  if (authority !== undefined) cpSync(realpathSync(authority), join(root, 'etc/authority.pem'));
  for (const path of ['/etc/resolv.conf', '/etc/hosts']) cpSync(realpathSync(path), join(root, path));
}

function tryExecutable() {
  assert.notEqual(inside('node --version').code, 0, 'there is no Node');
  cpSync(executable, join(root, 'usr/local/bin/ostiary'));
  assert.equal(JSON.parse(insideOrFail('ostiary version --json').stdout).build, 'executable');
  const seconds = followTutorial();
  const size = megabytes(statSync(executable).size);
  process.stdout.write(`executable: ${size}, starts in ${timeStart()} ms, first plan of the tutorial after ${seconds.toFixed(1)} s\n`);
  rmSync(join(root, 'usr/local/bin/ostiary'));
}

function tryPackage() {
  installNode();
  const [{ filename, size }] = JSON.parse(run('npm', 'pack', '--silent', '--ignore-scripts', '--json', '--pack-destination', place));
  cpSync(join(place, filename), join(root, 'root', filename));
  const begin = Date.now();
  insideOrFail(`npm install --global ./${filename}`, { isAlone: false });
  const installed = (Date.now() - begin) / 1000;
  const bytes = Number(run('du', '--summarize', '--bytes', join(root, 'usr/local/lib/node_modules/ostiary')).split('\t')[0]);
  assert.ok(bytes <= 12e6, `the command alone has ${megabytes(bytes)}`);
  // `serve` prints the command that installs the database.
  const { code, output } = inside('OSTIARY_SERVE_KEY=try-me ostiary serve');
  const [install] = /npm install --global \S+(?=[ ,])/.exec(output.replaceAll(',', ' ,')) ?? [];
  assert.ok(code !== 0 && install !== undefined, output);
  insideOrFail(install, { isAlone: false });
  followTutorial();
  const seconds = (Date.now() - begin) / 1000;
  const sizes = `${megabytes(size)} packed, ${megabytes(bytes)} installed in ${installed.toFixed(1)} s`;
  process.stdout.write(`package: ${sizes}, starts in ${timeStart()} ms, first plan of the tutorial after ${seconds.toFixed(1)} s\n`);
}

const missing = ['mmdebstrap', 'unshare', 'ip', 'chroot'].filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
if (process.getuid?.() !== 0 || missing.length > 0) {
  process.stdout.write(`no fresh machine is tried: ${missing.length > 0 ? `${missing.join(', ')} not installed` : 'only root can'}\n`);
} else {
  try {
    mkdirSync(root);
    // The tutorial needs git and curl, the executable needs both libraries.
    run('mmdebstrap', '--quiet', '--variant=minbase', '--include=git,curl,libstdc++6,libatomic1', 'bookworm', root);
    if (existsSync(executable)) tryExecutable();
    else process.stdout.write('there is no executable: npm run executable builds it\n');
    tryPackage();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
