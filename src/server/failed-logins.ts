import { isIPv6 } from 'node:net';

/** Counts wrong keys by address: tells for how many seconds an address should try no more, 0 while it may. */
export type CountFailedLogin = (address: string, now: Date) => number;

const freeTries = 20;
const secondsPerTry = 3;
const maxAddresses = 10_000;

type TryBucket = { readonly tries: number; readonly at: number };

/**
 * Lets each address be wrong 20 times, then once every 3 seconds. Forgets the address that was quiet for longest where
 * there are too many. Each server counts for itself: what is lost with it only delays an answer, and decides nothing.
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

/** Whoever has one IPv6 address has at least 2 to the power of 64 of them. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':');
  const missing = address.includes('::') ? 8 - groups.length - tail.split(':').length : 0;
  const all = [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...tail.split(':')];
  return all.slice(0, 4).join(':');
}
