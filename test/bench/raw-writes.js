// The raw write rate: the same writes at the same concurrency, nothing else. node raw-writes.js URL COUNT CONCURRENCY [update|reread|attach]; prints milliseconds.
import { Agent, request } from 'undici';
import { wireOf } from './fixture.js';

const [url, count, concurrency, writes = 'create'] = process.argv.slice(2);
const headers = { authorization: `Bearer ${process.env['OSTIARY_TOKEN']}`, 'content-type': 'application/json' };
const dispatcher = new Agent({ connections: Number(concurrency) });
const agents = await read('/agents');
const rows = writes === 'create' ? [] : await read('/connections');
const rules = writes === 'attach' ? await read('/guardrails') : [];
let next = 0;

async function read(path) {
  return (await request(`${url}${path}`, { dispatcher, headers })).body.json();
}

/** The write of one connection: a creation, one changed field, or one more rule. */
function writeOf(index) {
  const row = rows[index];
  if (row === undefined) return { method: 'POST', path: '/connections', status: 201, body: { ...wireOf(index), agent_id: agents[0].id } };
  const changed = writes === 'attach' ? { guardrail_rules: [rules[0].id] } : { access_schema: 'disabled' };
  return { method: 'PUT', path: `/connections/${row.id}`, status: 200, body: { ...row, ...changed } };
}

async function worker() {
  while (next < Number(count)) {
    const { method, path, status, body } = writeOf(next);
    next += 1;
    // As apply does, which must see what someone else has changed.
    if (writes === 'reread') await read(path);
    for (const field of ['id', 'managed_by', 'status', 'default_database']) delete body[field];
    const answer = await request(`${url}${path}`, { method, dispatcher, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== status) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
process.stdout.write(`${performance.now() - started}\n`);
await dispatcher.close();
