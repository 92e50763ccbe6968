import { askGit } from './ask-git.ts';
import type { Place } from './place.ts';
import { isOfUser, withoutPrograms, type ScopedSetting, type Setting } from './programs.ts';

/** What git's configuration says for a repository; the last value of a key counts. Keys are spelled in git's own way. */
export type GitSettings = {
  /** The value of all files together; undefined or empty: nothing. */
  readonly valueOf: (key: string) => string | undefined;
  /** The value that the user set, in their own files or their environment; the repository's does not count. */
  readonly ownValueOf: (key: string) => string | undefined;
  /** Settings with which git runs no program that the repository names. */
  readonly overrides: readonly Setting[];
};

/** Reads the configuration once, with the files that it includes. Reading it runs nothing. */
export async function readSettings(place: Place): Promise<GitSettings> {
  const { stdout } = await askGit(place, ['config', '--list', '--show-scope', '-z']);
  const all = scopedSettings(stdout.toString());
  const values = new Map(all.map(({ key, value }) => [key, value]));
  const own = new Map(all.filter(isOfUser).map(({ key, value }) => [key, value]));
  return { valueOf: (key) => values.get(key), ownValueOf: (key) => own.get(key), overrides: withoutPrograms(all) };
}

/** Takes `SCOPE\0KEY\nVALUE\0`, again and again; a key without a value has no line break. */
function scopedSettings(text: string): readonly ScopedSetting[] {
  const tokens = text.split('\0');
  return tokens.flatMap((scope, index) => {
    const entry = tokens[index + 1];
    if (index % 2 === 1 || entry === undefined) return [];
    const end = entry.indexOf('\n');
    return [{ scope, key: end < 0 ? entry : entry.slice(0, end), value: end < 0 ? '' : entry.slice(end + 1) }];
  });
}
