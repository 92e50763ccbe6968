const shorthandForm = /^([\w.-]+)@([\w.-]+):([\w./~-]+)$/;
const longForm = /^([a-z][a-z+.-]*):\/\/(?:([^/@]*)@)?([^/@]*)(\/.*)?$/i;
const hostForm = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i;
const schemes: ReadonlySet<string> = new Set(['https', 'http', 'ssh', 'git']);

/** An address that git may be given; `origin` is what git calls the server when it asks for a password. */
export type RemoteAddress = {
  readonly url: string;
  readonly scheme: string;
  readonly user: string | undefined;
  readonly origin: string;
};

/**
 * Reads the address of a repository; what is no plain address (a helper such as `ext::`, something that could be taken
 * for an option, credentials) is told as a problem. A local one is let through only if `local` says so.
 */
export function readAddress(url: string, local: boolean): { readonly address: RemoteAddress } | { readonly problem: string } {
  if (/[\p{Cc}\s]/u.test(url)) return { problem: 'the address holds spaces or control characters' };
  if (url.startsWith('-')) return { problem: 'the address begins with "-"' };
  const long = longForm.exec(url);
  if (long === null) return readShorthand(url);
  const [, name = '', user, host = '', path = ''] = long;
  const scheme = name.toLowerCase();
  if (scheme === 'file') {
    return local ? { address: { url, scheme, user, origin: '' } } : { problem: 'this server reads no repositories of its own disk' };
  }
  if (!schemes.has(scheme)) return { problem: `the address is ${scheme}://, not https, http, ssh or git` };
  if (user !== undefined && (scheme !== 'ssh' || user.includes(':'))) return { problem: 'the address holds credentials' };
  if (!hostForm.test(host)) return { problem: 'the address names no host' };
  return dashed(user, host, path) ?? { address: { url, scheme, user, origin: `${scheme}://${host}` } };
}

function readShorthand(url: string): { readonly address: RemoteAddress } | { readonly problem: string } {
  const short = shorthandForm.exec(url);
  if (short === null) return { problem: 'the address is neither a URL nor user@host:path' };
  const [, user, host = '', path = ''] = short;
  return dashed(user, host, path) ?? { address: { url, scheme: 'ssh', user, origin: `ssh://${host}` } };
}

/** Whatever begins with "-" could become an option of ssh or of the program on the other side. */
function dashed(user: string | undefined, host: string, path: string): { readonly problem: string } | undefined {
  const first = [user ?? '', host, path, path.slice(1)].find((part) => part.startsWith('-'));
  return first === undefined ? undefined : { problem: 'a part of the address begins with "-"' };
}
