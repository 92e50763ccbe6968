// A gateway in memory that holds COUNT connections at first, or the lists of a JSON file, checks nothing and answers at once: node gateway.js COUNT|FILE; prints its address.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { answersFor } from './fixture.js';

/** The body of each list, and its objects by id; each is made from the other when it is needed. */
const lists = new Map(Object.entries(startAnswers(process.argv[2])).map(([path, text]) => [path, { body: Buffer.from(text) }]));
let last = 0;

function startAnswers(from) {
  return from.endsWith('.json') ? { ...answersFor(0), ...JSON.parse(readFileSync(from, 'utf8')) } : answersFor(Number(from));
}

function rowsOf(list) {
  list.rows ??= new Map(JSON.parse(list.body).map((row) => [row.id, row]));
  return list.rows;
}

/** Attaches a guardrail to the connections that it states: both sides state it. */
function attach(rule, connections) {
  const rows = rowsOf(lists.get('/connections'));
  for (const id of rule?.connection_ids ?? []) {
    const row = rows.get(id);
    if (row !== undefined) row.guardrail_rules = row.guardrail_rules.filter((one) => one !== rule.id);
  }
  for (const id of connections) rows.get(id)?.guardrail_rules.push(rule.id);
  lists.get('/connections').body = undefined;
}

function answer(method, path, sent) {
  const whole = lists.get(path);
  const slash = path.lastIndexOf('/');
  const list = whole ?? lists.get(path.slice(0, slash));
  if (list === undefined) return [404, '{"message":"not found"}'];
  if (method === 'GET' && whole !== undefined) return [200, (list.body ??= Buffer.from(JSON.stringify([...list.rows.values()])))];
  const rows = rowsOf(list);
  const id =
    whole === undefined ? decodeURIComponent(path.slice(slash + 1)) : `10000000-0000-4000-8000-${String((last += 1)).padStart(12, '0')}`;
  const found = rows.get(id);
  if (whole === undefined && found === undefined) return [404, '{"message":"not found"}'];
  if (method === 'GET') return [200, JSON.stringify(found)];
  list.body = undefined;
  if (method === 'DELETE') {
    rows.delete(id);
    return [204, ''];
  }
  const row = { managed_by: '', status: 'offline', ...found, ...JSON.parse(sent), id };
  if (list === lists.get('/guardrails')) attach({ ...found, id }, row.connection_ids ?? []);
  rows.set(id, row);
  return [whole === undefined ? 200 : 201, JSON.stringify(row)];
}

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const [status, body] = answer(request.method, new URL(request.url, 'http://localhost').pathname, Buffer.concat(chunks).toString());
    response.writeHead(status, { 'content-type': 'application/json', server: 'ostiary/bench' });
    response.end(body);
  });
}).listen(0, '127.0.0.1', function () {
  process.stdout.write(`http://127.0.0.1:${this.address().port}\n`);
});
