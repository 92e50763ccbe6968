import { AppError } from '../model/errors.ts';

/** What git could not do, in its own words where there are no better ones; credentials in addresses are left out. */
export function failureOf(folder: string, args: readonly string[], stderr: string): AppError {
  const said = wordsOf(stderr);
  if (/dubious ownership/.test(stderr)) {
    return new AppError('git/dubious-owner', 4, `git does not trust the repository at ${folder}: its folder belongs to somebody else`, {
      hint: `if you trust it: git config --global --add safe.directory ${ownedFolder(stderr) ?? folder}; or plan without a base: --base none`,
    });
  }
  const verb = args.find((arg) => /^[a-z]/.test(arg)) ?? '';
  return new AppError('git/failed', 4, `git ${verb} failed: ${said === '' ? 'it does not say why' : said}`, {
    hint: 'git 2.31 or newer is needed; git fsck tells whether the repository is whole',
  });
}

/** What git said that matters, in one line. */
function wordsOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const refused = lines.flatMap((line) => /^! \[.*\((.+)\)$/.exec(line)?.[1] ?? []);
  const fatal = lines.flatMap((line) => /^(?:fatal|error): (.+)$/.exec(line)?.[1] ?? []);
  const told = refused.length > 0 ? refused : fatal.slice(0, 2);
  return (told.length > 0 ? told : lines.filter((line) => line !== '').slice(-1)).join('; ').replaceAll(/(:\/\/)[^\s/@]+@/g, '$1');
}

function ownedFolder(stderr: string): string | undefined {
  return /dubious ownership in repository at '([^'\n]+)'/.exec(stderr)?.[1];
}
