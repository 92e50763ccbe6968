import { lookup } from 'node:dns/promises';
import { isIP, BlockList, isIPv4 } from 'node:net';

/** Returns all addresses of a host; rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A host with the addresses that were checked: git and ssh connect to these, whatever a later DNS answer says. */
export type CheckedHost = { readonly host: string; readonly port: number | undefined; readonly addresses: readonly string[] };

type HostCheck = {
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

/** The networks that no public repository is in, by what an error calls an address of them. */
const classes: readonly (readonly [name: string, networks: readonly string[]])[] = [
  ['a loopback address', ['127.0.0.0/8', '::1/128']],
  ['a metadata address', ['169.254.169.254/32', '169.254.170.2/32', '168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::254/128']],
  ['a link-local address', ['169.254.0.0/16', 'fe80::/10']],
  ['a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48']],
  ['a shared address of a provider (CGNAT)', ['100.64.0.0/10']],
  ['a multicast address', ['224.0.0.0/4', 'ff00::/8']],
  ['an unspecified address', ['0.0.0.0/8', '::/128']],
  ['a reserved address', ['192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4']],
  ['a reserved address', ['100::/64', '2001::/32', '2001:db8::/32', '192.88.99.0/24', '5f00::/16', '3fff::/20']],
];

const lists = classes.map(([name, networks]) => ({ name, list: blockList(networks) }));

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

/** Addresses that are allowed whatever their class. */
export type AllowedNetworks = { readonly has: (address: string) => boolean };

/** Parses networks such as `10.0.0.0/8` or single addresses; returns the first text that is neither as `problem`. */
export function parseNetworks(texts: readonly string[]): { readonly networks: AllowedNetworks } | { readonly problem: string } {
  const parsed = texts.map((text) => parseNetwork(text));
  const wrong = texts.find((_, index) => parsed[index] === undefined);
  if (wrong !== undefined) return { problem: wrong };
  const list = blockList(parsed.flatMap((network) => network ?? []));
  return { networks: { has: (address) => list.check(address, familyOf(address)) } };
}

function parseNetwork(text: string): string | undefined {
  const [, address = '', bits] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const most = { 4: 32, 6: 128 }[isIP(address)];
  return most !== undefined && Number(bits ?? most) <= most ? `${address}/${bits ?? most}` : undefined;
}

/** Returns what kind of non-public address this is; undefined for a public one. An IPv6 address counts as the IPv4 address that it contains. */
export function addressClass(address: string): string | undefined {
  const forms = [address, ...embeddedAddresses(address)];
  return lists.find(({ list }) => forms.some((form) => list.check(form, familyOf(form))))?.name;
}

/** Returns the IPv4 address in an IPv6 address that is mapped, compatible, translated (NAT64) or 6to4. */
function embeddedAddresses(address: string): readonly string[] {
  if (isIP(address) !== 6) return [];
  const groups = groupsOf(address);
  const isPrefix = (...prefix: readonly number[]): boolean => prefix.every((group, index) => groups[index] === group);
  const ipv4 = (at: number): string =>
    groups
      .slice(at, at + 2)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  if (isPrefix(0x20_02)) return [ipv4(1)];
  if (isPrefix(0, 0, 0, 0, 0, 0xff_ff) || isPrefix(0x64, 0xff_9b, 0, 0, 0, 0) || isPrefix(0, 0, 0, 0, 0xff_ff, 0)) return [ipv4(6)];
  // The addresses :: and ::1 contain none.
  return isPrefix(0, 0, 0, 0, 0, 0) && (groups[6] !== 0 || (groups[7] ?? 0) > 1) ? [ipv4(6)] : [];
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The URL parser writes an IPv4 part in hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [parseGroups(head), parseGroups(tail)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

function parseGroups(text: string | undefined): readonly number[] {
  return text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
