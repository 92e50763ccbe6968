/** One value of git's configuration; a key may have several. */
export type Setting = { readonly key: string; readonly value: string };

/** A value, and where git found it: `system`, `global` and `command` are the user's, all others are the repository's. */
export type ScopedSetting = Setting & { readonly scope: string };

const scopesOfUser: ReadonlySet<string> = new Set(['system', 'global', 'command']);

export function isOfUser({ scope }: ScopedSetting): boolean {
  return scopesOfUser.has(scope);
}

/**
 * All keys that name a program, by git's documentation, and the value with which none runs. Git spells sections and names in
 * small letters. Of `core.gitProxy`, `remote.*.uploadpack` and `remote.*.receivepack` git takes the first value, so the environment
 * and options outrank them; `remote.*.vcs` and addresses name protocols, which the environment limits.
 */
const programKeys: readonly (readonly [RegExp, string])[] = [
  [/^core\.askpass$/, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^core\.alternaterefscommand$/, 'true'],
  [/^core\.(?:editor|pager)$/, 'false'],
  [/^alias\./, '!false'],
  [/^submodule\..+\.update$/s, 'none'],
  [/^init\.templatedir$/, ''],
  [/^(?:diff\.external|sequence\.editor|interactive\.difffilter|imap\.tunnel|instaweb\.httpd)$/, 'false'],
  [/^(?:gc\.recentobjectshook|uploadpack\.packobjectshook)$/, 'false'],
  [/^(?:help|web|instaweb)\.browser$/, 'false'],
  [/^(?:browser|difftool|guitool|man|mergetool)\..+\.(?:cmd|path)$/s, 'false'],
  [/^diff\..+\.(?:command|process|textconv)$/s, 'false'],
  [/^filter\..+\.(?:clean|process|smudge)$/s, 'false'],
  [/^gpg\.(?:.+\.)?(?:program|defaultkeycommand)$/s, 'false'],
  [/^merge\..+\.driver$/s, 'false'],
  [/^pager\./, 'false'],
  [/^sendemail\.(?:.+\.)?(?:cccmd|headercmd|sendmailcmd|smtpserver|tocmd)$/s, 'false'],
  [/^tar\..+\.command$/s, 'false'],
  [/^trailer\..+\.(?:cmd|command)$/s, 'false'],
];

const helperKey = /^credential\.(?:.+\.)?helper$/s;
const hookKey = /^hook\.(.+)\.command$/s;

/**
 * Returns settings that outrank all files, so that git runs no program that the repository names: the user's own program
 * instead, or none. Hooks are never run, not even the user's.
 */
export function withoutPrograms(all: readonly ScopedSetting[]): readonly Setting[] {
  const own = new Map(all.filter(isOfUser).map(({ key, value }) => [key, value]));
  const keys = new Set(all.filter((one) => !isOfUser(one)).map(({ key }) => key));
  const replaced = [...keys].flatMap((key): readonly Setting[] => {
    const known = programKeys.find(([pattern]) => pattern.test(key));
    return known === undefined ? [] : [{ key, value: own.get(key) ?? known[1] }];
  });
  return [...replaced, ...ownHelpers(all, keys), ...withoutHooks(all)];
}

/** An empty helper drops all before it; those of the user come again behind it. */
function ownHelpers(all: readonly ScopedSetting[], keys: ReadonlySet<string>): readonly Setting[] {
  if (![...keys].some((key) => helperKey.test(key))) return [];
  const own = all.filter((one) => isOfUser(one) && helperKey.test(one.key));
  return [{ key: 'credential.helper', value: '' }, ...own.map(({ key, value }) => ({ key, value }))];
}

/** Since git 2.54 settings name hooks, for which `core.hooksPath` does not count. */
function withoutHooks(all: readonly ScopedSetting[]): readonly Setting[] {
  const names = new Set(all.flatMap(({ key }) => hookKey.exec(key)?.[1] ?? []));
  return [...names].flatMap((name) => [
    { key: `hook.${name}.enabled`, value: 'false' },
    { key: `hook.${name}.command`, value: 'true' },
  ]);
}
