// The action as a commit of its own, for git hosts: only the files that the action loads, its licenses and its bill of materials.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import config from '../rolldown.config.js';
import { commitOnHead, git } from './release-commit.js';

/** Builds the action and returns its commit, whose parent is the source. It depends on that and on the lockfile alone. */
export async function commitOfAction({ name, version, license }, main) {
  const draft = mkdtempSync(join(tmpdir(), 'ostiary-release-'));
  try {
    const action = join(draft, 'action');
    const bundle = await rolldown({ ...config, input: { action: config.input.action }, logLevel: 'silent' });
    await bundle.write({ ...config.output, dir: join(action, dirname(main)) });
    await bundle.close();
    for (const file of ['action.yml', 'LICENSE']) cpSync(file, join(action, file));
    // Without it, Node takes the files for CommonJS.
    writeFileSync(join(action, 'package.json'), `${JSON.stringify({ name, version, private: true, license, type: 'module' }, null, 2)}\n`);
    const index = join(draft, 'index');
    addFiles(action, index);
    return commitOnHead(index, `Build the action of ${name} ${version} from ${git(['rev-parse', 'HEAD'])}`);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Adds the files of a folder to an index byte by byte: settings of git that change lines or modes would make other commits. */
function addFiles(folder, index) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  const blobs = git(['hash-object', '-w', '--no-filters', '--stdin-paths'], { input: files.join('\n') }).split('\n');
  const lines = files.map((file, at) => `100644 ${blobs[at]}\t${file.slice(folder.length + 1).replaceAll('\\', '/')}\n`);
  git(['update-index', '--index-info'], { env: { GIT_INDEX_FILE: index }, input: lines.join('') });
}
