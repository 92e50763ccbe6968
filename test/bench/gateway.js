// A gateway that answers reads at once from memory: node gateway.js COUNT; prints its address.
import { createServer } from 'node:http';
import { answersFor } from './fixture.js';

const bodies = Object.fromEntries(Object.entries(answersFor(Number(process.argv[2]))).map(([path, text]) => [path, Buffer.from(text)]));
const server = createServer((request, response) => {
  const body = bodies[new URL(request.url ?? '/', 'http://localhost').pathname];
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json', server: 'ostiary/bench' });
  response.end(body ?? '{"message":"not found"}');
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
