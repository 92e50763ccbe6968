const mostHops = 5;
const redirects = new Set([301, 302, 307, 308]);

/**
 * A fetch that stays on the servers of the given addresses: redirects there are followed as GitHub wants it, with the same method and
 * body; one to anywhere else is a failure, so neither the token nor a comment gets there. The whole answer comes within so many
 * milliseconds, or none.
 */
export function fetchOn(addresses: readonly string[], patience: number): (address: string, init: RequestInit) => Promise<Response> {
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  const send = async (url: URL, init: RequestInit, hops: number): Promise<Response> => {
    if (!origins.has(url.origin)) throw new Error(`it leads to another server, ${url.origin}`);
    const response = await fetch(url, init);
    const bytes = await response.arrayBuffer();
    const location = response.headers.get('location');
    const { status, headers } = response;
    if (!redirects.has(status) || location === null) return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
    if (hops === mostHops) throw new Error(`it redirects more than ${mostHops} times`);
    return send(new URL(location, url), init, hops + 1);
  };
  return (address, init) => send(new URL(address), { ...init, redirect: 'manual', signal: AbortSignal.timeout(patience) }, 0);
}
