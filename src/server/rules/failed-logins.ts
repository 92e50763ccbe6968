import ipaddr from 'ipaddr.js';

/** Counts a failed attempt of an address; returns how many seconds the address must wait, 0 when it need not. */
type CountFailedLogin = (address: string, now: Date) => number;

const freeTries = 20;
const secondsPerTry = 3;
const maxAddresses = 10_000;

type TryBucket = { readonly tries: number; readonly at: number };

/**
 * Allows each address 20 failed attempts, then one every 3 seconds. Forgets the address that has been idle longest when there
 * are too many. Each server counts by itself: a lost count only shortens a delay.
 */
export function createFailedLoginCounter(): CountFailedLogin {
  const buckets = new Map<string, TryBucket>();
  return (address, now) => {
    const network = networkOf(address);
    const { tries, at } = buckets.get(network) ?? { tries: freeTries, at: now.getTime() };
    const earned = Math.max(0, now.getTime() - at) / 1000 / secondsPerTry;
    const left = Math.min(freeTries, tries + earned) - 1;
    buckets.delete(network);
    buckets.set(network, { tries: Math.max(0, left), at: now.getTime() });
    const [oldest] = buckets.keys();
    if (buckets.size > maxAddresses && oldest !== undefined) buckets.delete(oldest);
    return left >= 0 ? 0 : Math.max(1, Math.ceil(-left * secondsPerTry));
  };
}

/** Returns the /64 network of an IPv6 address: one caller has all addresses of it. */
function networkOf(address: string): string {
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString() : address;
}
