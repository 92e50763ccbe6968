// How long a commit's manifests take to read, beside the same files on disk: node read-trees.js FOLDER ROUNDS
import { maxBytes } from '../../src/disk/text-file.ts';
import { decodeFile, readTree } from '../../src/disk/walk.ts';
import { openRepository } from '../../src/git/repository.ts';
import { readTreeAt } from '../../src/git/read-tree.ts';

const [folder = '', rounds = '9'] = process.argv.slice(2);
const repository = await openRepository({ folder, env: process.env });
const commit = repository?.head;
if (repository === undefined || commit === undefined) throw new Error(`${folder} has no commit`);
const options = { root: '', exclude: [], show: (path: string) => path, maxBytes, decode: decodeFile };

const times: { readonly disk: number; readonly git: number; readonly files: number }[] = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  const began = performance.now();
  const disk = readTree([folder], { root: folder, cwd: folder, exclude: [] });
  const between = performance.now();
  const git = await readTreeAt(repository, commit, { paths: [repository.prefix], options });
  const ended = performance.now();
  if (disk.value?.length !== git.value?.length) throw new Error(`${disk.value?.length} files on disk, ${git.value?.length} in git`);
  // The first round warms both up.
  if (round > 0) times.push({ disk: between - began, git: ended - between, files: git.value?.length ?? 0 });
}
process.stdout.write(JSON.stringify(times));
