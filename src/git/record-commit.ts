import { runPlumbing } from './run-git.ts';
import type { Repository } from './repository.ts';

/** A commit behind a ref of applies: an applied commit, or a record whose tree is empty and whose parents are the commits that it names. */
export type RecordCommit = {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
};

const fields = ['%(objectname)', '%(refname)', '%(tree)', '%(parent)', '%(contents)', ''];

/** Reads the commits of all refs with the prefixes in one process. */
export async function readRecordRefs(
  repository: Repository,
  prefixes: readonly string[],
): Promise<readonly { readonly ref: string; readonly commit: RecordCommit }[]> {
  const { stdout } = await runPlumbing(repository, ['for-each-ref', `--format=${fields.join('%00')}`, ...prefixes]);
  const tokens = stdout.toString().split('\0');
  return tokens.flatMap((token, index) => {
    const [ref, tree, parents, message] = tokens.slice(index + 1, index + fields.length - 1);
    if (index % (fields.length - 1) !== 0 || message === undefined) return [];
    return [{ ref: ref ?? '', commit: { id: token.trim(), tree: tree ?? '', parents: parentsOf(parents), message } }];
  });
}

/** Reads a commit; undefined if this clone does not have it. */
export async function readRecordCommit(repository: Repository, id: string): Promise<RecordCommit | undefined> {
  const { code, stdout } = await runPlumbing(
    repository,
    ['log', '--max-count=1', '--no-show-signature', '--encoding=UTF-8', '--format=%T%x00%P%x00%B', id, '--'],
    {
      allowedExitCodes: [0, 128],
    },
  );
  const [tree = '', parents, message] = stdout.toString().split('\0');
  return code !== 0 || message === undefined ? undefined : { id, tree, parents: parentsOf(parents), message };
}

function parentsOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(' ').filter((id) => id !== '');
}

const emptyTrees: ReadonlySet<string> = new Set([
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
]);

/** Returns whether a commit is a record. An applied commit is none: it has files. */
export function isRecordCommit({ tree }: RecordCommit): boolean {
  return emptyTrees.has(tree);
}

/** Writes a record as a commit without files; its parents keep the commits that it names reachable. Moves no ref. */
export async function writeRecordCommit(
  repository: Repository,
  { message, parents, at }: { readonly message: string; readonly parents: readonly string[]; readonly at: Date },
): Promise<RecordCommit> {
  const hash = async (type: string, input: string): Promise<string> => {
    const { stdout } = await runPlumbing(repository, ['hash-object', '-t', type, '-w', '--stdin'], { input });
    return stdout.toString().trim();
  };
  const tree = await hash('tree', '');
  const person = `Ostiary <ostiary@localhost> ${Math.floor(at.getTime() / 1000)} +0000`;
  const head = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${person}`, `committer ${person}`];
  return { id: await hash('commit', `${head.join('\n')}\n\n${message}`), tree, parents, message };
}
