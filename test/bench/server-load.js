// The load of a gateway: reads, creates and the latency of /healthz; each function takes the URL and returns milliseconds.
import { Agent, request } from 'undici';
import { wireOf } from './fixture.js';

const dispatcher = new Agent({ connections: 32 });
const whole = 10_000;

async function ask(url, path, headers, options = {}) {
  const answer = await request(`${url}${path}`, { dispatcher, headers, ...options });
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
  await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
}

/** Runs a task for 0 … count - 1 with a concurrency, and returns the milliseconds. */
async function inTurn(count, concurrency, task) {
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) {
        next += 1;
        await task(next - 1);
      }
    }),
  );
  return performance.now() - started;
}

/** The paths of mixed reads: four details by id, three by name, two of the first ten pages of a list, the agents and a search in every eleven. */
export function mixedPaths(ids) {
  return Array.from({ length: 220 }, (_, index) => {
    const turn = index % 11;
    const some = (index * 7919) % ids.length;
    if (turn < 4) return `/connections/${ids[some]}`;
    if (turn < 7) return `/connections/db-${some}`;
    if (turn < 9) return `/connections?page=${(index % 10) + 1}&page_size=50`;
    return turn === 9 ? '/agents' : `/search?term=db-${some}`;
  });
}

/** Reads the paths over and over. */
export function read(url, headers, paths, count, concurrency = 32) {
  return inTurn(count, concurrency, (index) => ask(url, paths[index % paths.length], headers));
}

/** Creates connections named from `first` on. */
export function create(url, headers, agentId, { first, count, concurrency = 32 }) {
  return inTurn(count, concurrency, (index) => {
    const { id: _, managed_by: _1, status: _2, default_database: _3, ...body } = { ...wireOf(first + index), agent_id: agentId };
    const json = { ...headers, 'content-type': 'application/json' };
    return ask(url, '/connections', json, { method: 'POST', body: JSON.stringify(body) });
  });
}

/** Fills a gateway, and returns the new ids. */
export async function fill(url, headers) {
  const agents = await (await request(`${url}/agents`, { dispatcher, headers })).body.json();
  await create(url, headers, agents[0].id, { first: 0, count: whole });
  const all = await (await request(`${url}/connections`, { dispatcher, headers })).body.json();
  return { agentId: agents[0].id, ids: all.map(({ id }) => id) };
}

/** The slowest answer of /healthz, asked every 20 ms while the whole list is read `count` times. */
export async function slowestHealth(url, headers, count) {
  const taken = [];
  const asked = [];
  const probe = new Agent({ connections: 8 });
  const time = async () => {
    const started = performance.now();
    await ask(url, '/healthz', {}, { dispatcher: probe });
    taken.push(performance.now() - started);
  };
  const clock = setInterval(() => asked.push(time()), 20);
  await read(url, headers, ['/connections'], count, 2);
  clearInterval(clock);
  await Promise.all(asked);
  await probe.close();
  return Math.max(...taken);
}

/** Closes the connections to all gateways. */
export function hangUp() {
  return dispatcher.close();
}
