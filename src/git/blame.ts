import type { GitContext } from './git-environment.ts';
import { runPlumbing } from './run-git.ts';

/** A commit that changed lines. */
export type LineCommit = { readonly commit: string; readonly author: string; readonly time: string };

/**
 * Returns the latest commit of each line of a YAML file and of the lines of its value below; what is not committed has none. The path is
 * from the top of the repository.
 */
export async function blameFile(repository: GitContext, path: string): Promise<ReadonlyMap<number, LineCommit>> {
  const args = ['blame', '--porcelain', '--encoding=UTF-8', '--', path];
  // 128: git does not know the file.
  const { code, stdout } = await runPlumbing(repository, args, { allowedExitCodes: [0, 128] });
  return code === 0 ? latestByLine(parseBlame(stdout.toString())) : new Map();
}

type BlamedLine = { readonly text: string; readonly commit: LineCommit | undefined };

/** Parses `COMMIT BEFORE LINE`, then the fields of a commit the first time, then a tab and the text. */
function parseBlame(text: string): readonly BlamedLine[] {
  const commits = new Map<string, Record<string, string>>();
  const lines: BlamedLine[] = [];
  let commit = '';
  for (const one of text.split('\n')) {
    const start = /^([0-9a-f]{40,64}) \d+ \d+/.exec(one);
    if (start !== null) {
      commit = start[1] ?? '';
      if (!commits.has(commit)) commits.set(commit, {});
    } else if (one.startsWith('\t')) {
      const { author = '', 'committer-time': seconds = '0' } = commits.get(commit) ?? {};
      const time = new Date(Number(seconds) * 1000).toISOString();
      lines.push({ text: one.slice(1), commit: /^0+$/.test(commit) ? undefined : { commit, author, time } });
    } else {
      const [key = '', ...rest] = one.split(' ');
      const fields = commits.get(commit);
      if (fields !== undefined) fields[key] = rest.join(' ');
    }
  }
  return lines;
}

function latestByLine(lines: readonly BlamedLine[]): ReadonlyMap<number, LineCommit> {
  return new Map(
    lines.flatMap(({ text, commit: own }, index): readonly (readonly [number, LineCommit])[] => {
      let latest = own;
      for (let below = index + 1; latest !== undefined && isBelow(lines[below]?.text, text); below += 1) {
        const next = lines[below]?.commit;
        if (next === undefined || next.time > latest.time) latest = next;
      }
      return latest === undefined ? [] : [[index + 1, latest]];
    }),
  );
}

/** Returns whether a line belongs to the value of a line above: it is indented more, or it is an entry of its list. */
function isBelow(line: string | undefined, above: string): boolean {
  if (line === undefined || line.trim() === '') return false;
  const [indent, least] = [line, above].map((text) => text.search(/\S/));
  if (indent === undefined || least === undefined || least === -1) return false;
  return indent > least || (indent === least && line.startsWith('- ', indent) && !above.startsWith('- ', least));
}
