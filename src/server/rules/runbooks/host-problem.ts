import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** Returns all addresses of a host; rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A network whose repositories are read although it is not public. */
export type AllowedNetwork = ReturnType<typeof ipaddr.parseCIDR>;

type HostCheck = {
  readonly resolve?: ResolveHost | undefined;
  readonly allowed: readonly AllowedNetwork[];
  readonly signal: AbortSignal;
};

const resolveBySystem: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

/**
 * Returns why nothing is read from the host of an origin such as `https://host:443`: one of its addresses is neither public nor allowed.
 * A host that cannot be resolved here has none: git reports it, or its proxy knows it.
 */
export async function hostProblem(origin: string, { resolve = resolveBySystem, allowed, signal }: HostCheck): Promise<string | undefined> {
  const host = new URL(origin).hostname.replaceAll(/^\[|\]$/g, '');
  const late = once(signal, 'abort').then(() => []);
  const addresses = ipaddr.isValid(host) ? [host] : await Promise.race([resolve(host).catch(() => []), late]);
  const refused = addresses.find((address) => !isReadable(address, allowed));
  if (refused === undefined) return undefined;
  const subject = refused === host ? `the address ${refused} is` : `the address ${refused} of ${host} is`;
  return `${subject} not public (${rangeOf(ipaddr.process(refused))}); start the server with --allow-private-repositories ${refused} to read repositories there`;
}

// The only metadata address of a cloud in a public network: that of Azure.
const publicMetadata = '168.63.129.16';

// Some systems send what goes to such an address to the IPv4 address in it (RFC 4291, 2.5.5.1).
const ipv4Compatible = ipaddr.parseCIDR('::/96');

/** Returns the class of an address: `unicast` for a public one. */
function rangeOf(address: AllowedNetwork[0]): string {
  if (address.toString() === publicMetadata) return 'metadata';
  const range = address.range();
  return range === 'unicast' && isWithin(address, ipv4Compatible) ? 'ipv4Compatible' : range;
}

function isWithin(address: AllowedNetwork[0], network: AllowedNetwork): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}

function isReadable(text: string, allowed: readonly AllowedNetwork[]): boolean {
  const address = ipaddr.process(text);
  return rangeOf(address) === 'unicast' || allowed.some((network) => isWithin(address, network));
}

/** Parses a network such as `10.0.0.0/8`, or a single address; undefined for another text. */
export function parseNetwork(text: string): AllowedNetwork | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
