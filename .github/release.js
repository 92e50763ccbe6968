// Tags a release: the commit that is checked out with the built action added, which main never holds. Run `npm run check` first;
// `npm run release` leaves branch, index and files as they are, and prints how to push the tag.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs git and returns what it prints. */
function git(args, env = {}) {
  return execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, ...env } }).trim();
}

/** The problems that prevent a release, each with what to do. */
function problems({ tag, version, main }) {
  const [changes] =
    readFileSync('CHANGELOG.md', 'utf8').match(new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}(?![\\w.-]).*$`, 'm')) ?? [];
  return [
    git(['status', '--porcelain']) === '' ? [] : 'there are changes that are not committed: commit them, or put them away',
    git(['tag', '--list', tag]) === '' ? [] : `the tag ${tag} exists: a release is never made anew, raise the version in package.json`,
    changes === undefined ? `CHANGELOG.md has no section "## ${version}": give what is unreleased its version` : [],
    existsSync(main) ? [] : `${main}, which action.yml names, is not built: npm run build`,
  ].flat();
}

/** The commit with the built files, by whoever made HEAD and at its time, so that the same build makes the same commit. */
function commitWithBuild(tag) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-release-'));
  try {
    const index = { GIT_INDEX_FILE: join(folder, 'index') };
    git(['read-tree', 'HEAD'], index);
    git(['add', '--force', 'dist', ':!dist/executable', ':!dist/site'], index);
    const [name, email, date] = git(['log', '-1', '--format=%cn%n%ce%n%cI']).split('\n');
    const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
      [`GIT_${role}_NAME`, name],
      [`GIT_${role}_EMAIL`, email],
      [`GIT_${role}_DATE`, date],
    ]);
    const tree = git(['write-tree'], index);
    return git(['commit-tree', tree, '-p', 'HEAD', '-m', `Release ${tag}, with the built action`], Object.fromEntries(who));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, main = 'dist/action.js'] = /^ {2}main: (\S+)$/m.exec(readFileSync('action.yml', 'utf8')) ?? [];
const tag = `v${version}`;
const found = problems({ tag, version, main });
if (found.length > 0) {
  process.stderr.write(`${found.map((one) => `error: ${one}`).join('\n')}\n`);
  process.exitCode = 3;
} else {
  git(['tag', tag, commitWithBuild(tag)]);
  process.stdout.write(`${tag} is ${git(['rev-parse', tag])}\nPush it with: git push origin ${tag}\n`);
}
