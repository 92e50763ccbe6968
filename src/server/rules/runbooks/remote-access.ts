import { chmod, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';

const shorthandForm = /^([\w.-]+)@([\w.-]+):([\w./~-]+)$/;
const longForm = /^([a-z][a-z+.-]*):\/\/(?:([^/@]*)@)?([^/@]*)(\/.*)?$/i;
const hostForm = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i;
const schemes: ReadonlySet<string> = new Set(['https', 'http', 'ssh', 'git']);

/** An address that is safe to pass to git; `origin` is the name of the server in git's password prompts. */
export type RemoteAddress = {
  readonly url: string;
  readonly scheme: string;
  readonly user: string | undefined;
  readonly origin: string;
};

/**
 * Parses the address of a repository. Returns a problem for everything that is not a plain address: a helper such as `ext::`, a
 * text that could be an option, credentials, and a local path.
 */
export function readAddress(url: string): { readonly address: RemoteAddress } | { readonly problem: string } {
  if (/[\p{Cc}\s]/u.test(url)) return { problem: 'the address contains spaces or control characters' };
  if (url.startsWith('-')) return { problem: 'the address begins with "-"' };
  const long = longForm.exec(url);
  if (long === null) return readShorthand(url);
  const [, name = '', user, host = '', path = ''] = long;
  const scheme = name.toLowerCase();
  if (!schemes.has(scheme)) return { problem: `the address is ${scheme}://, not https, http, ssh or git` };
  if (user !== undefined && (scheme !== 'ssh' || user.includes(':'))) return { problem: 'the address contains credentials' };
  if (!hostForm.test(host)) return { problem: 'the address names no host' };
  return rejectDash(user, host, path) ?? { address: { url, scheme, user, origin: `${scheme}://${host}` } };
}

function readShorthand(url: string): { readonly address: RemoteAddress } | { readonly problem: string } {
  const short = shorthandForm.exec(url);
  if (short === null) return { problem: 'the address is neither a URL nor user@host:path' };
  const [, user, host = '', path = ''] = short;
  return rejectDash(user, host, path) ?? { address: { url, scheme: 'ssh', user, origin: `ssh://${host}` } };
}

/** Returns a problem if a part begins with "-": it could become an option of ssh or of the program on the remote side. */
function rejectDash(user: string | undefined, host: string, path: string): { readonly problem: string } | undefined {
  const first = [user ?? '', host, path, path.slice(1)].find((part) => part.startsWith('-'));
  return first === undefined ? undefined : { problem: 'a part of the address begins with "-"' };
}

/** The credentials of a repository; an empty text means that there is none. */
export type RemoteSecrets = {
  readonly user: string;
  readonly password: string;
  readonly sshKey: string;
  readonly sshKeyPassphrase: string;
};

type AccessOptions = {
  /** The environment of the process; only variables for programs, proxies and certificates are passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder that only this user can read. */
  readonly folder: string;
  /** The file of host keys. If `pinned`, hosts that are not in the file are refused; otherwise their keys are added to it. */
  readonly knownHosts: { readonly file: string; readonly pinned: boolean };
};

const passedVariables = [
  ['PATH', 'SystemRoot', 'GIT_EXEC_PATH'],
  ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY'],
  ['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
].flat();

// Git asks in the same way for the password of a proxy, which must not receive that of the repository.
const askPassScript = `#!/bin/sh
answer=
case "$1" in
  "Username for '$ASKED_ORIGIN': ") answer=$ANSWER_USER ;;
  "Password for '\${ASKED_ORIGIN%%://*}://"*"@\${ASKED_ORIGIN#*://}': ") answer=$ANSWER_PASSWORD ;;
  "Enter passphrase for key "*) answer=$ANSWER_PASSPHRASE ;;
esac
[ -n "$answer" ] && printf '%s\\n' "$answer"
`;

/** Settings besides those that every git has. */
const fixedSettings: Readonly<Record<string, string>> = {
  'credential.helper': '',
  'credential.interactive': 'false',
  // Large files are not held in memory, and everything stays in packs, whose size is watched.
  'core.bigFileThreshold': '1m',
  'fetch.unpackLimit': '1',
  'fetch.recurseSubmodules': 'false',
  // Only the host of the address was checked.
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '20',
  'protocol.version': '2',
};

/** Writes the files that git needs to open the repository into `folder`, and returns the environment of git. */
export async function grantAccess(
  address: RemoteAddress,
  secrets: RemoteSecrets,
  options: AccessOptions,
): Promise<Readonly<Record<string, string>>> {
  const { env, folder } = options;
  const ask = join(folder, 'ask');
  const key = join(folder, 'key');
  await writeFile(ask, askPassScript, { mode: 0o700 });
  await chmod(ask, 0o700);
  // ssh does not read a key without a final line break.
  if (secrets.sshKey !== '') await writeFile(key, `${secrets.sshKey.trimEnd()}\n`, { mode: 0o600 });
  return {
    ...Object.fromEntries(passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: address.scheme,
    GIT_NO_LAZY_FETCH: '1',
    // The repository is this folder, and none above it.
    GIT_DIR: folder,
    GIT_ASKPASS: ask,
    SSH_ASKPASS: ask,
    SSH_ASKPASS_REQUIRE: 'force',
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: sshCommand(address, secrets.sshKey === '' ? undefined : key, options),
    ...settingVariables(fixedSettings),
    ...answersOf(address, secrets),
  };
}

/** Returns whether a text may contain a part of a secret, in plain text or encoded. */
export type MayRevealSecret = (text: string, secrets: readonly string[]) => boolean;

/** Replaces the secrets in a text by `***`; returns a note instead of a text that may still contain a part of one. */
export function redactSecrets(text: string, secrets: RemoteSecrets, mayRevealSecret: MayRevealSecret): string {
  const { user, password, sshKey, sshKeyPassphrase } = secrets;
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const hidden = [password, encodeURIComponent(password), percentEncode(password), basic, sshKey, sshKeyPassphrase].filter(
    (secret, index) => (index === 3 ? password !== '' : secret !== ''),
  );
  const shown = hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  // The first and the last line of a key are the same in all keys.
  const keyBody = sshKey.replaceAll(/-----[^\n]*-----/g, '').trim();
  const isHidden = mayRevealSecret(
    shown,
    [password, keyBody, sshKeyPassphrase].filter((secret) => secret !== ''),
  );
  return isHidden ? 'the reason is not shown because it may contain a secret' : shown;
}

/** Returns environment variables for settings that override those of every file. */
function settingVariables(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(values);
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(entries.length)],
    ...entries.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

/** Returns what the askpass script answers, and the server that it answers for; nothing without a secret. */
function answersOf(
  { scheme, origin }: RemoteAddress,
  { user, password, sshKeyPassphrase }: RemoteSecrets,
): Readonly<Record<string, string>> {
  const hasLogin = (scheme === 'https' || scheme === 'http') && password !== '';
  return {
    ASKED_ORIGIN: origin,
    // Token services accept any user; the public gateway sends this one.
    ANSWER_USER: hasLogin ? user || 'oauth2' : '',
    ANSWER_PASSWORD: hasLogin ? password : '',
    ANSWER_PASSPHRASE: scheme === 'ssh' ? sshKeyPassphrase : '',
  };
}

function percentEncode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns the ssh command line, without the configuration and the keys of the user that runs the server. */
function sshCommand({ user }: RemoteAddress, key: string | undefined, { knownHosts }: AccessOptions): string {
  const options = [
    `IdentityFile=${key ?? 'none'}`,
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'PreferredAuthentications=publickey',
    'PasswordAuthentication=no',
    'KbdInteractiveAuthentication=no',
    'NumberOfPasswordPrompts=1',
    `UserKnownHostsFile=${knownHosts.file}`,
    `StrictHostKeyChecking=${knownHosts.pinned ? 'yes' : 'accept-new'}`,
    'UpdateHostKeys=no',
    'ClearAllForwardings=yes',
    'ForwardAgent=no',
    'PermitLocalCommand=no',
    'ConnectTimeout=10',
    'ServerAliveInterval=10',
    ...(user === undefined ? ['User=git'] : []),
  ];
  return ['ssh', '-F', devNull, ...options.flatMap((option) => ['-o', quoteForShell(option)])].join(' ');
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
