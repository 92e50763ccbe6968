type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the hosts that the address of a PostgreSQL database, completed by the variables of its clients (PGHOST, PGSSLMODE), may reach
 * without TLS. This machine counts as encrypted, sockets included; modes that accept a server without TLS do not.
 */
export function findPlaintextHosts(address: string, env: Environment): readonly string[] {
  const [, authority = '', query = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)[^?#]*(?:\?([^#]*))?/i.exec(address) ?? [];
  const parameters = new URLSearchParams(query);
  if (requiresTls(parameters, env)) return [];
  const written = parameters.get('host') ?? authority.slice(authority.lastIndexOf('@') + 1);
  const usual = hostsIn(env['PGHOST'] ?? '');
  return hostsIn(decode(written))
    .flatMap((host) => (host === '' ? usual : [host]))
    .filter((host) => !isThisMachine(host));
}

const encryptedModes: readonly string[] = ['require', 'verify-ca', 'verify-full', 'no-verify'];

/** Returns whether the client ends the connection unless it is encrypted. A parameter of the address wins over a variable. */
function requiresTls(parameters: URLSearchParams, env: Environment): boolean {
  const mode = parameters.get('sslmode');
  if (mode !== null) return encryptedModes.includes(mode);
  const ssl = parameters.get('ssl');
  if (ssl !== null) return ['true', '1', 'no-verify'].includes(ssl);
  const implied =
    parameters.get('sslnegotiation') === 'direct' || ['sslcert', 'sslkey', 'sslrootcert'].some((name) => parameters.has(name));
  return implied || encryptedModes.includes(env['PGSSLMODE'] ?? '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the hosts of a list without their ports; a socket is a path. */
function hostsIn(list: string): readonly string[] {
  return list.split(',').map((host) => /^\[(.*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/^([^:]*):\d*$/, '$1'));
}

function isThisMachine(host: string): boolean {
  return /^$|^[/@]|^localhost\.?$|^127\.\d+\.\d+\.\d+$|^(?:::ffff:127\.\d+\.\d+\.\d+|::1|(?:0+:){7}0*1)$/i.test(host);
}
