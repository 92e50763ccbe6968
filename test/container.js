// Builds the image of the Dockerfile without a registry and tries it: its base images are made of Debian packages and of Node from npm, its steps run in
// a chroot, and `serve` and the command run as the user of the image on a read-only root file system. Needs root on Linux, buildah and mmdebstrap.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const key = 'an-admin-key';
const place = mkdtempSync(join(tmpdir(), 'ostiary-container-'));
const storage = ['--root', join(place, 'images'), '--runroot', join(place, 'run')];

/** Runs a program and returns what it prints. */
function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e8 }).trim();
}

function buildah(command, ...args) {
  return run('buildah', ...storage, command, ...args);
}

/** Commits an image whose files are copied, each to its path, on top of another image. */
function makeImage(name, from, files, settings = []) {
  const container = buildah('from', from);
  for (const [path, source] of files) buildah('add', '--quiet', container, source, path);
  if (settings.length > 0) buildah('config', ...settings, container);
  buildah('commit', '--quiet', '--rm', container, name);
}

/** Makes the base images that the Dockerfile names by arguments. */
function makeBaseImages() {
  const debian = join(place, 'debian.tar');
  const withoutDocs = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  run('mmdebstrap', '--quiet', '--variant=minbase', ...withoutDocs, 'bookworm', debian);
  const modules = join(place, 'node');
  const packages = [`node-linux-${process.arch}@24`, 'npm@11'];
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', modules, ...packages);
  // A machine whose network has a certificate authority of its own passes it on to the build, not to the image.
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  const settings = authority === undefined ? [] : ['--env', 'NODE_EXTRA_CA_CERTS=/etc/authority.pem'];
  makeImage('localhost/base', 'scratch', [['/', debian]]);
  makeImage(
    'localhost/node',
    'localhost/base',
    [
      ['/usr/local/bin/', join(modules, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')],
      ['/usr/local/lib/npm', join(modules, 'node_modules', 'npm')],
      ...(authority === undefined ? [] : [['/etc/authority.pem', realpathSync(authority)]]),
    ],
    settings,
  );
  const links = buildah('from', 'localhost/node');
  for (const name of ['npm', 'npx'])
    buildah('run', '--isolation', 'chroot', links, 'ln', '-s', `../lib/npm/bin/${name}-cli.js`, `/usr/local/bin/${name}`);
  buildah('commit', '--quiet', '--rm', links, 'localhost/node');
}

/** Builds the image with every step of the Dockerfile, and returns its settings and its mounted files. */
function buildImage() {
  const bases = ['NODE_IMAGE=localhost/node', 'BASE_IMAGE=localhost/base'].flatMap((one) => ['--build-arg', one]);
  const cache = `${run('npm', 'config', 'get', 'cache')}:/root/.npm`;
  const flags = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', '--pull-never', '--volume', cache];
  buildah('build', ...flags, ...bases, '--quiet', '--tag', 'localhost/ostiary', '.');
  const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/ostiary')).Docker;
  return { config, root: buildah('mount', buildah('from', '--pull-never', 'localhost/ostiary')) };
}

/** Starts what keeps the namespaces of the container: its own network, and its root file system, read-only but for the volumes. */
async function openContainer(root, volumes) {
  const mounts = [
    'ip link set lo up',
    'mount --bind "$0" "$0"',
    'mount -o remount,bind,ro "$0"',
    'mount -t proc proc "$0/proc"',
    'mount --bind /dev "$0/dev"',
    ...Object.entries(volumes).map(([path, folder]) => `mount --bind '${folder}' "$0${path}"`),
    'echo ready',
    'exec sleep infinity',
  ];
  const holder = spawn('unshare', ['--mount', '--net', 'sh', '-ec', mounts.join('\n'), root], { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(String((await once(holder.stdout, 'data'))[0]), 'ready\n');
  return holder;
}

/** Returns the command line that runs a program in the container as its user, with its variables, in its folder. */
function commandLine({ config, root, holder }, words, env) {
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const inside = ['env', '--ignore-environment', `--chdir=${config.WorkingDir}`, ...variables, ...words];
  return ['nsenter', `--target=${holder.pid}`, '--mount', '--net', 'chroot', `--userspec=${config.User}`, root, ...inside];
}

async function tryImage({ config, root }) {
  assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/);
  const [user = 0] = config.User.split(':').map(Number);
  const volumes = Object.fromEntries(['/data', '/project'].map((path) => [path, join(place, path)]));
  assert.ok('/data' in config.Volumes);
  for (const folder of Object.values(volumes)) {
    mkdirSync(folder);
    chownSync(folder, user, user);
  }
  const holder = await openContainer(root, volumes);
  const inside = (words, env = {}) => {
    const [program, ...args] = commandLine({ config, root, holder }, words, env);
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    return { code: status, stdout, output: stdout + stderr };
  };
  const expectOutput = (line, expected, env) => {
    const { code, output } = inside([...config.Entrypoint, ...line.split(' ')], env);
    assert.ok(code === 0 && output.includes(expected), `${line} ends with ${code}: ${output}`);
  };
  try {
    assert.notEqual(inside(['touch', '/written']).code, 0, 'the root file system is read-only');
    const { stdout } = inside(['sh', '-c', 'git --version; ssh -V 2>&1; id -u']);
    assert.match(stdout, new RegExp(`^git version.*\\nOpenSSH.*\\n${user}\\n$`));
    const [, ...health] = config.Healthcheck.Test;
    assert.equal(inside(health).code, 1, 'the health check fails before the start');

    const serve = [...config.Entrypoint, 'serve', '--host', '0.0.0.0', '--quiet'];
    const [program, ...args] = commandLine({ config, root, holder }, serve, { OSTIARY_SERVE_KEY: key });
    const begin = Date.now();
    const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    while (inside(health).code !== 0) {
      assert.equal(server.exitCode, null, 'serve runs');
      await setTimeout(200);
    }
    const seconds = (Date.now() - begin) / 1000;
    const env = { OSTIARY_TOKEN: key, OSTIARY_SECRET_EXAMPLE_DB_PASS: 'secret' };
    const url = '--url http://127.0.0.1:8009';
    expectOutput('init', 'ostiary.yaml');
    expectOutput('validate', 'Valid.');
    expectOutput(`plan ${url}`, '2 to create', env);
    expectOutput(`apply --yes ${url}`, '2 created', env);
    expectOutput(`plan --detailed-exitcode ${url}`, 'No changes.', env);
    const startOfCommand = Date.now();
    expectOutput('version --json', '"version"');
    const milliseconds = Date.now() - startOfCommand;
    server.kill('SIGTERM');
    assert.deepEqual(await once(server, 'exit'), [0, null]);
    const size = Number(run('du', '--summarize', '--block-size=1000000', '--one-file-system', root).split('\t')[0]);
    process.stdout.write(`the image works: ${size} MB, healthy after ${seconds.toFixed(1)} s, version after ${milliseconds} ms\n`);
  } finally {
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  }
}

/** The exit code for an image that cannot be tried here. */
const notTried = 77;

const missing = ['buildah', 'mmdebstrap', 'unshare', 'nsenter', 'ip'].filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
);
if (process.getuid?.() !== 0 || missing.length > 0) {
  process.stdout.write(`the image is not tried: ${missing.length > 0 ? `${missing.join(', ')} not installed` : 'only root can'}\n`);
  process.exitCode = notTried;
} else {
  try {
    makeBaseImages();
    await tryImage(buildImage());
  } finally {
    if (existsSync(join(place, 'images'))) buildah('umount', '--all');
    rmSync(place, { recursive: true, force: true });
  }
}
