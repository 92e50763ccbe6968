const shorthand = /^[\w.-]+@[\w.-]+:[\w.\-/~]+$/;

/** Returns the gateway's error for a git URL; undefined if it is valid. */
export function gitUrlProblem(url: string): string | undefined {
  if (shorthand.test(url)) return undefined;
  if (url.startsWith(':')) return `invalid URL format: parse "${url}": missing protocol scheme`;
  const [, scheme = '', rest = ''] = /^([a-zA-Z][\w+.-]*):(.*)$/.exec(url) ?? [];
  const host = /^\/\/([^/?#]*)/.exec(rest)?.[1] ?? '';
  if (host.includes(' ')) return `invalid URL format: parse "${url}": invalid character " " in host name`;
  if (!['http', 'https', 'git', 'ssh'].includes(scheme.toLowerCase()))
    return `invalid scheme: ${scheme.toLowerCase()} (must be http, https, git, or ssh)`;
  return host === '' ? 'URL must have a host' : undefined;
}

/** The key under which a configuration is stored: host and path, without scheme, user, port, one `.git` and outer slashes. */
export function repositoryOf(url: string): string {
  const full = shorthand.test(url) && !url.includes('://') ? `ssh://${url.replace(':', '/')}` : url;
  const [, authority = '', path = ''] = /^(?:[a-zA-Z][\w+.-]*:)?\/\/([^/?#]*)([^?#]*)/.exec(full) ?? ['', '', full];
  const host = authority.replace(/^.*@/, '').replace(/:\d*$/, '');
  return `${host}${path}`.replace(/\.git$/, '').replaceAll(/^\/+|\/+$/g, '');
}
