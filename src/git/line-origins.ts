import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LineOrigin, latestOrigin } from '../model/result/line-origin.ts';
import { listTree } from './objects.ts';
import { parentsOf, type Repository } from './repository.ts';
import { readGitLines, runGit } from './run-git.ts';

/** The origins of the lines of a file, the first line first. */
type FileOrigins = readonly LineOrigin[];

/**
 * Finds the latest origin of each line of YAML files and of the lines of its value below, by path, in one walk through the history. Paths
 * are those of the working tree, from the top of the repository; each leads through no link.
 */
export async function findLineOrigins(repository: Repository, paths: readonly string[]): Promise<ReadonlyMap<string, FileOrigins>> {
  const texts = new Map(paths.map((path) => [path, readFileSync(join(repository.folder, path), 'utf8').split('\n')]));
  const files = new Map([...texts].map(([path, { length }]) => [path, [{ file: path, first: 0, at: 0, length }]]));
  const commits = await traceLines(repository, files);
  const described = await describeCommits(repository, new Set([...commits.values()].flat()));
  return new Map(
    [...texts].map(([path, lines]) => {
      const own = commits.get(path) ?? [];
      const origins = lines.map((_, line): LineOrigin => described.get(own[line] ?? '') ?? { state: 'uncommitted' });
      return [path, lines.map((text, line) => latestOrigin([origins[line], ...below(lines, line, text).map((one) => origins[one])]))];
    }),
  );
}

/** Lists the lines of a value below its first line: they are indented more, or are entries of its list. */
function below(lines: readonly string[], from: number, above: string): readonly number[] {
  let end = from + 1;
  while (isBelow(lines[end], above)) end += 1;
  return Array.from({ length: end - from - 1 }, (_, index) => from + 1 + index);
}

function isBelow(line: string | undefined, above: string): boolean {
  if (line === undefined || line.trim() === '') return false;
  const [indent, least] = [line, above].map((text) => text.search(/\S/));
  if (indent === undefined || least === undefined || least === -1) return false;
  return indent > least || (indent === least && line.startsWith('- ', indent) && !above.startsWith('- ', least));
}

/** Lines of an asked file, from `first` on, which are in a version of it from `at` on; both count from 0. */
type Run = { readonly file: string; readonly first: number; readonly at: number; readonly length: number };

/** Lines by the path of the version that has them. */
type Runs = Map<string, readonly Run[]>;

/** Lines that a version has instead of `removed` others, from `at` on. */
type Hunk = { readonly at: number; readonly added: number; readonly removed: number };

/** What changed in files between two versions, by the path in the newer one, with the path in the older one. */
type FileDiffs = ReadonlyMap<string, { readonly before: string | undefined; readonly hunks: readonly Hunk[] }>;

/**
 * Returns the commit of each line of each file, as git blame finds it: a line passes from a version to that of the first parent that has
 * it, and the first version that cannot pass it on has changed it. Lines that no commit has are left out.
 */
async function traceLines(repository: Repository, files: Runs): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  const { head } = repository;
  if (head === undefined) return found;
  const local = await readLocalDiffs(repository, head);
  const committed = new Set((await listTree(repository, head, { paths: [...files.keys()], below: false })).map(({ path }) => path));
  const known = [...files].filter(([path]) => committed.has(path) || local.has(path));
  const history = await listHistory(repository, head);
  const [newest = head] = history.keys();
  const waiting = new Map<string, Runs>([[newest, pass(new Map(known), local).passed]]);
  const diffs = await readDiffs(repository, history);
  for (const [commit, parents] of history) {
    let left: Runs = waiting.get(commit) ?? new Map();
    waiting.delete(commit);
    const between = parents.map((parent) => diffs.get(`${commit} ${parent}`) ?? new Map());
    // The first parent with the same file has all of its lines.
    const same = (path: string): number => between.findIndex((one) => !one.has(path));
    parents.forEach((parent, index) => {
      const own = [...left].filter(([path]) => [-1, index].includes(same(path)));
      const others = [...left].filter(([path]) => ![-1, index].includes(same(path)));
      const { passed, kept } = pass(new Map(own), between[index] ?? new Map());
      left = new Map([...others, ...kept]);
      const next = waiting.get(parent) ?? new Map<string, readonly Run[]>();
      for (const [path, runs] of passed) next.set(path, [...(next.get(path) ?? []), ...runs]);
      waiting.set(parent, next);
    });
    for (const { file, first, length } of [...left.values()].flat()) {
      const lines = found.get(file) ?? [];
      found.set(file, lines);
      for (let line = first; line < first + length; line += 1) lines[line] = commit;
    }
  }
  return found;
}

/** Splits lines into those that the older version has, at their places there, and those that it does not have. */
function pass(files: Runs, diffs: FileDiffs): { readonly passed: Runs; readonly kept: Runs } {
  const passed: Runs = new Map();
  const kept: Runs = new Map();
  for (const [path, runs] of files) {
    const diff = diffs.get(path);
    const split = runs.flatMap((run) => splitRun(run, diff?.hunks ?? []));
    const [old, changed] = [split.filter(({ isChanged }) => !isChanged), split.filter(({ isChanged }) => isChanged)];
    const before = diff === undefined ? path : diff.before;
    if (old.length > 0 && before !== undefined) passed.set(before, [...(passed.get(before) ?? []), ...old]);
    if (changed.length > 0) kept.set(path, changed);
  }
  return { passed, kept };
}

function splitRun({ file, first, at, length }: Run, hunks: readonly Hunk[]): readonly (Run & { readonly isChanged: boolean })[] {
  const parts: (Run & { readonly isChanged: boolean })[] = [];
  const end = at + length;
  let from = at;
  let shift = 0;
  const add = (to: number, isChanged: boolean): void => {
    const until = Math.min(to, end);
    if (until > from) parts.push({ file, first: first + from - at, at: isChanged ? from : from + shift, length: until - from, isChanged });
    from = Math.max(from, until);
  };
  for (const hunk of hunks) {
    add(hunk.at, false);
    add(hunk.at + hunk.added, true);
    shift += hunk.removed - hunk.added;
  }
  add(end, false);
  return parts;
}

// Files that were moved into a folder of manifests have their history outside of it.
const yamlFiles = ['--', '*.yaml', '*.yml'];
const patch = [
  '-p',
  '-U0',
  '--text',
  '-M',
  '--inter-hunk-context=0',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--irreversible-delete',
];
const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
const readable = ['--no-literal-pathspecs', '-c', 'core.quotePath=false'];

/** Lists the commits that changed YAML files, each with those before it, the children before their parents. */
async function listHistory(repository: Repository, head: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const lines = await readGitLines(repository, [...readable, 'rev-list', '--topo-order', '--parents', head, ...yamlFiles]);
  return new Map(
    lines.map((line) => {
      const [commit = '', ...parents] = line.split(' ');
      return [commit, parents];
    }),
  );
}

/** Compares the working tree with a commit. */
async function readLocalDiffs(repository: Repository, head: string): Promise<FileDiffs> {
  const read = patchReader();
  await runGit(repository, [...readable, 'diff-index', ...patch, ...prefixes, head, ...yamlFiles], { onChunk: read.onChunk });
  return read.diffs.get('') ?? new Map();
}

/** Compares commits with each of their parents; each comparison has the key `COMMIT PARENT`. */
async function readDiffs(repository: Repository, history: ReadonlyMap<string, readonly string[]>): Promise<ReadonlyMap<string, FileDiffs>> {
  const pairs = [...history].flatMap(([commit, parents]) => parents.map((parent) => `${commit} ${parent}`));
  const read = patchReader();
  if (pairs.length === 0) return read.diffs;
  const args = [...readable, 'diff-tree', '--stdin', '-r', '--format=%H %P', ...patch, ...prefixes, ...yamlFiles];
  await runGit(repository, args, { input: `${pairs.join('\n')}\n`, onChunk: read.onChunk });
  return read.diffs;
}

type PatchReader = { readonly onChunk: (chunk: Buffer) => void; readonly diffs: Map<string, FileDiffs> };

/** Reads patches without context, each after a line with its commits; skips the text of their lines. */
function patchReader(): PatchReader {
  const diffs = new Map<string, Map<string, { before: string | undefined; readonly hunks: Hunk[] }>>();
  let rest = '';
  let commits = '';
  let skipped = 0;
  let before: string | undefined;
  let hunks: Hunk[] = [];
  const setAfter = (path: string | undefined): void => {
    const own = diffs.get(commits) ?? new Map<string, { before: string | undefined; readonly hunks: Hunk[] }>();
    diffs.set(commits, own);
    if (path !== undefined) own.set(path, { before, hunks });
  };
  const onLine = (line: string): void => {
    const [, removed = '1', start = '0', added = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (skipped > 0) {
      // The mark of a missing line break counts as no line.
      if (!line.startsWith('\\')) skipped -= 1;
    } else if (line.startsWith('@@ ')) {
      skipped = Number(removed) + Number(added);
      // Git counts from 1; without lines it names the line before.
      hunks.push({ at: Number(start) - (added === '0' ? 0 : 1), added: Number(added), removed: Number(removed) });
    } else if (line.startsWith('diff --git ')) {
      [before, hunks] = [undefined, []];
    } else if (line.startsWith('rename from ')) before = pathIn(line.slice(12));
    else if (line.startsWith('rename to ')) setAfter(pathIn(line.slice(10)));
    else if (line.startsWith('--- ')) before = pathIn(line.slice(4), 'a/');
    else if (line.startsWith('+++ ')) setAfter(pathIn(line.slice(4), 'b/'));
    else if (/^[0-9a-f]{40,64} [0-9a-f]{40,64}$/.test(line)) commits = line;
  };
  return {
    diffs,
    onChunk(chunk) {
      // As latin1, no character is split between two chunks.
      const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    },
  };
}

/** Returns a path of a patch, which git quotes if it has unusual characters, and ends with a tab if it has spaces; undefined for no file. */
function pathIn(shown: string, prefix = ''): string | undefined {
  const text = Buffer.from(shown, 'latin1').toString().replace(/\t$/, '');
  if (text === '/dev/null') return undefined;
  const path = text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : text;
  return path.slice(prefix.length);
}

/** Reads who made commits, and when. Commits before which a shallow clone has no history may not have changed what they have. */
async function describeCommits(repository: Repository, commits: ReadonlySet<string>): Promise<ReadonlyMap<string, LineOrigin>> {
  const described = new Map<string, LineOrigin>();
  if (commits.size === 0) return described;
  const args = ['log', '--no-walk=unsorted', '--stdin', '--no-color', '--encoding=UTF-8', '--format=%H %ct %aN%x00%P'];
  const { stdout } = await runGit(repository, args, { input: `${[...commits].join('\n')}\n` });
  for (const line of stdout.toString().split('\n')) {
    if (line === '') continue;
    const [known = '', parents] = line.split('\0');
    const [commit = '', seconds, ...author] = known.split(' ');
    // A shallow clone takes the parents of its oldest commits away, also if it has them.
    const isCut = repository.shallow && parents === '' && (await parentsOf(repository, commit)).length > 0;
    const time = new Date(Number(seconds) * 1000).toISOString();
    described.set(commit, { state: isCut ? 'before' : 'committed', commit, author: author.join(' '), time });
  }
  return described;
}
