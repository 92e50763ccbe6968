// The raw write rate: POSTs the same connections at the same concurrency, nothing else. node raw-writes.js URL COUNT CONCURRENCY
import { Agent, request } from 'undici';
import { wireOf } from './fixture.js';

const [url, count, concurrency] = process.argv.slice(2);
const headers = { authorization: `Bearer ${process.env['OSTIARY_TOKEN']}`, 'content-type': 'application/json' };
const dispatcher = new Agent({ connections: Number(concurrency) });
const agents = await (await request(`${url}/agents`, { dispatcher, headers })).body.json();
let next = 0;

async function worker() {
  while (next < Number(count)) {
    const body = { ...wireOf(next), agent_id: agents[0].id };
    next += 1;
    for (const field of ['id', 'managed_by', 'status', 'default_database']) delete body[field];
    const answer = await request(`${url}/connections`, { method: 'POST', dispatcher, headers, body: JSON.stringify(body) });
    await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`POST /connections: ${answer.statusCode}`);
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
process.stdout.write(`${performance.now() - started}\n`);
await dispatcher.close();
