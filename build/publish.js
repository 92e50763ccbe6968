// Publishes the release of the version in package.json: its tag, the floating tag of its major version, the release on GitHub with its
// files, among them the package, the image on ghcr.io. Nothing is published on npm: `private` in package.json forbids it. The first folder that is given has the executables, and gets all other files; the second
// one has an archive of the image for each platform. A step that was done before is left out, so that a failed job can run again. `--dry-run` makes the files and prints the other commands; it needs no credentials.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from './read-arguments.js';

const {
  values: { 'dry-run': isDry },
  positionals: [folder = '', images = ''],
} = readArguments({ 'dry-run': false }, { words: 2, usage: 'run node build/publish.js FOLDER IMAGES [--dry-run]' });
const { GITHUB_REPOSITORY: repository = '', GITHUB_SERVER_URL: server = 'https://github.com' } = process.env;
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const tag = `v${version}`;
const isPrerelease = version.includes('-');
const [major = ''] = version.split('.');
const floating = `v${major}`;

/** Runs a program and returns what it prints. */
function read(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}

/** Returns whether a program succeeds; its output is dropped. */
function succeeds(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Prints a command, and runs it unless this is a dry run. */
function run(program, ...args) {
  process.stdout.write(`${isDry ? 'would run' : 'runs'}: ${[program, ...args].join(' ')}\n`);
  if (!isDry) execFileSync(program, args, { stdio: 'inherit' });
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(3);
}

/** Returns the commit of the release; makes the tag if there is none yet. */
function taggedCommit() {
  if (!succeeds('git', 'rev-parse', '--verify', `refs/tags/${tag}`)) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(new URL('release.js', import.meta.url))], { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
  if (read('git', 'rev-parse', `${tag}^1`) !== read('git', 'rev-parse', 'HEAD'))
    fail(`the tag ${tag} is of another commit: raise the version in package.json`);
  return read('git', 'rev-parse', `${tag}^{commit}`);
}

/** Returns the numbers of a tag such as v1.2.3. */
function numbers(text) {
  return text.slice(1).split('.').map(Number);
}

/** Compares two tags by their numbers. */
function order(left, right) {
  return numbers(left).reduce((found, part, index) => found || part - numbers(right)[index], 0);
}

/** Returns whether none of the releases that match is newer. */
function isNewest(pattern) {
  const others = read('git', 'tag', '--list', pattern)
    .split('\n')
    .filter((one) => /^v\d+\.\d+\.\d+$/.test(one));
  return !isPrerelease && others.every((one) => order(one, tag) <= 0);
}

/** Packs the package with its repository, and without scripts and tools for developers: npm warns users of such scripts. */
function pack(draft) {
  const staged = join(draft, 'package');
  mkdirSync(staged);
  for (const path of ['dist', 'schemas', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    if (existsSync(path)) cpSync(path, join(staged, path), { recursive: true });
  const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'));
  const where = { type: 'git', url: `git+${server}/${repository}.git` };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify({ ...manifest, repository: where }, null, 2)}\n`);
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder, staged], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(folder, `${name}-${version}.tgz`);
}

function checksum(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Packs the example workflows with the repository, the commit and the checksums of this release in place of the zeros. */
function packWorkflows(draft, commit, tarball) {
  cpSync('examples', join(draft, 'examples'), { recursive: true, filter: (path) => !path.endsWith('.js') });
  for (const path of readdirSync(join(draft, 'examples'), { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.yml'))) {
    const file = join(draft, 'examples', path);
    const text = readFileSync(file, 'utf8').replaceAll(/^ *# acme\/ostiary and the zeros .*\n/gm, '');
    const pinned = text
      .replaceAll(/acme\/ostiary@0{40} # v[\d.]+/g, `${repository}@${commit} # ${tag}`)
      .replaceAll(/https:\/\/github\.com\/acme\/ostiary\/releases\/download\/v[\d.]+/g, `${server}/${repository}/releases/download/${tag}`)
      .replaceAll(/\bostiary-[\d.]+\.tgz/g, basename(tarball))
      .replaceAll(/\b0{64} {2}([\w.-]+)/g, (_, one) => `${checksum(join(folder, one))}  ${one}`);
    writeFileSync(file, pinned);
  }
  const archive = join(folder, `${name}-examples-${version}.tar.gz`);
  execFileSync('tar', ['-czf', archive, '-C', draft, 'examples']);
  return archive;
}

/** Pushes the image of each platform, and joins them under the version and, for the newest release, under `latest`. */
function publishImages(names) {
  const image = `ghcr.io/${repository.toLowerCase()}`;
  const archives = readdirSync(images).toSorted();
  const parts = archives.map((archive) => `${image}:${version}-${archive.replace(/\.tar$/, '')}`);
  for (const [index, archive] of archives.entries()) {
    run('docker', 'load', '--input', join(images, archive));
    run('docker', 'tag', `ostiary:${archive.replace(/\.tar$/, '')}`, parts[index]);
    run('docker', 'push', parts[index]);
  }
  run('docker', 'buildx', 'imagetools', 'create', ...names.flatMap((one) => ['--tag', `${image}:${one}`]), ...parts);
}

/** Returns the section of the changelog about this version. */
function notes() {
  const [, ...sections] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const section = sections.find((one) => new RegExp(`^\\[?${version.replaceAll('.', '\\.')}(?![\\w.-])`).test(one)) ?? '';
  return section.slice(section.indexOf('\n') + 1).trim();
}

if (!existsSync(folder) || !existsSync(images))
  fail('the folder of the executables or of the images is missing: node build/publish.js FOLDER IMAGES [--dry-run]');
if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) fail('GITHUB_REPOSITORY does not name the repository: OWNER/NAME');
const hadTag = succeeds('git', 'rev-parse', '--verify', `refs/tags/${tag}`);
const commit = taggedCommit();
const draft = mkdtempSync(join(tmpdir(), 'ostiary-publish-'));
try {
  const tarball = pack(draft);
  packWorkflows(draft, commit, tarball);
  const files = readdirSync(folder)
    .filter((one) => one !== 'SHA256SUMS')
    .toSorted();
  const sums = files.map((file) => `${checksum(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
  const text = join(draft, 'notes.md');
  writeFileSync(text, `${notes()}\n\nThe commit of the Action is \`${commit}\`: \`uses: ${repository}@${commit} # ${tag}\`.\n`);
  process.stdout.write(`\n${readFileSync(text, 'utf8')}\n`);

  run('git', 'push', 'origin', `refs/tags/${tag}`);
  if (isNewest(`${floating}.*`)) run('git', 'push', '--force', 'origin', `${commit}:refs/tags/${floating}`);
  const assets = [...files, 'SHA256SUMS'].map((file) => join(folder, file));
  const isLatest = isNewest('v*');
  const kind = isPrerelease ? '--prerelease' : `--latest=${isLatest}`;
  if (isDry || !succeeds('gh', 'release', 'view', tag))
    run('gh', 'release', 'create', tag, '--verify-tag', '--title', tag, '--notes-file', text, kind, ...assets);
  // Pushed again, an image is the same.
  publishImages(isLatest ? [version, 'latest'] : [version]);
} finally {
  rmSync(draft, { recursive: true, force: true });
  if (isDry && !hadTag) read('git', 'tag', '--delete', tag);
}
