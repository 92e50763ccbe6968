import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressClass, embeddedAddresses, type AllowedNetworks } from './address-classes.ts';

/** Returns all addresses of a host; rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A host with the addresses that were checked: git and ssh connect to these, whatever a later DNS answer says. */
export type CheckedHost = { readonly host: string; readonly port: number | undefined; readonly addresses: readonly string[] };

export type HostCheck = {
  readonly resolve?: ResolveHost | undefined;
  readonly allowed: AllowedNetworks;
  /** Whether a proxy resolves the names; the names are then checked only if this machine resolves them, too. */
  readonly proxied: boolean;
  readonly signal: AbortSignal;
};

const resolveBySystem: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

/** Resolves the host of an origin such as `https://host:443`. Returns a problem when one of its addresses is not public and not allowed. */
export async function checkHost(
  origin: string,
  { resolve = resolveBySystem, allowed, proxied, signal }: HostCheck,
): Promise<{ readonly checked: CheckedHost } | { readonly problem: string }> {
  const [, bracketed, name = '', port] = /^[a-z]+:\/\/(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/i.exec(origin) ?? [];
  const host = bracketed ?? name;
  const addresses = await addressesOf(host, { resolve, signal });
  const refused = addresses.find((address) => !isAllowed(address, allowed));
  if (refused !== undefined) {
    const kind = addressClass(refused) ?? 'not public';
    const subject = refused === host ? `the address ${refused} is ${kind}` : `the address ${refused} of ${host} is ${kind}`;
    return { problem: `${subject}; start the server with --allow-private-repositories ${refused} to read repositories there` };
  }
  if (addresses.length === 0 && !proxied) return { problem: `the host ${host} cannot be resolved` };
  return { checked: { host, port: port === undefined ? undefined : Number(port), addresses: isIP(host) === 0 ? addresses : [] } };
}

function isAllowed(address: string, allowed: AllowedNetworks): boolean {
  return addressClass(address) === undefined || [address, ...embeddedAddresses(address)].some((form) => allowed.has(form));
}

/** Returns the addresses of a host without their zones; none when it cannot be resolved in time. */
async function addressesOf(
  host: string,
  { resolve, signal }: { readonly resolve: ResolveHost; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const late = new Promise<readonly string[]>((settle) => {
    signal.addEventListener('abort', () => settle([]), { once: true });
  });
  const found = await Promise.race([resolve(host).catch(() => []), late]);
  return found.map((address) => address.replace(/%.*$/, ''));
}
