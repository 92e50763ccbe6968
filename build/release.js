// Makes what people use of the action, which no other branch holds. `npm run release` tags a release: the commit that is checked out with
// the built action added; run `npm run check` first. `npm run release -- --branch` builds the action alone on the local branch `release`,
// for git hosts without a release. Both leave HEAD, index and files as they are, and print how to push.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from './read-arguments.js';
import { commitOnHead, git } from './release-commit.js';

const branch = 'release';

/** The problems that prevent a tag or the branch, each with what to do. */
function problems({ isBranch }) {
  const isClean = git(['status', '--porcelain']) === '';
  return [
    isClean ? [] : 'there are changes that are not committed: commit them, or put them away',
    isBranch ? problemsOfBranch() : problemsOfTag(),
  ].flat();
}

function problemsOfBranch() {
  return git(['branch', '--show-current']) === branch ? `${branch} is checked out: switch to the branch with the source` : [];
}

function problemsOfTag() {
  const [changes] =
    readFileSync('CHANGELOG.md', 'utf8').match(new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}(?![\\w.-]).*$`, 'm')) ?? [];
  return [
    git(['tag', '--list', tag]) === '' ? [] : `the tag ${tag} exists: a release is never made anew, raise the version in package.json`,
    changes === undefined ? `CHANGELOG.md has no section "## ${version}": give what is unreleased its version` : [],
    existsSync(main) ? [] : `${main}, which action.yml names, is not built: npm run build`,
  ].flat();
}

/** The commit of everything with the built files. */
function commitWithBuild() {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-release-'));
  try {
    const index = join(folder, 'index');
    git(['read-tree', 'HEAD'], { env: { GIT_INDEX_FILE: index } });
    git(['add', '--force', 'dist', ':!dist/executable', ':!dist/site'], { env: { GIT_INDEX_FILE: index } });
    return commitOnHead(index, `Release ${tag}, with the built action`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const product = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = product;
const [, main = 'dist/action.js'] = /^ {2}main: (\S+)$/m.exec(readFileSync('action.yml', 'utf8')) ?? [];
const tag = `v${version}`;
const { branch: isBranch } = readArguments({ branch: false }, { usage: 'run npm run release, or npm run release -- --branch' }).values;
const found = problems({ isBranch });
if (found.length > 0) {
  process.stderr.write(`${found.map((one) => `error: ${one}`).join('\n')}\n`);
  process.exitCode = 3;
} else if (isBranch) {
  // Only this needs packages: the job that publishes a release has none.
  const { commitOfAction } = await import('./release-branch.js');
  const commit = await commitOfAction(product, main);
  git(['branch', '--force', branch, commit]);
  const kept = `action-${git(['rev-parse', '--short=12', 'HEAD'])}`;
  process.stdout.write(
    `The branch ${branch} is ${commit}\nPublish it; the tag keeps the commit for workflows that pin it:\n` +
      `  git push --force origin ${branch}\n  git push origin ${commit}:refs/tags/${kept}\n`,
  );
} else {
  git(['tag', tag, commitWithBuild()]);
  process.stdout.write(`${tag} is ${git(['rev-parse', tag])}\nPush it with: git push origin ${tag}\n`);
}
