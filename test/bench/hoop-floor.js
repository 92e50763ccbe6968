// The bulk reads alone: the requests of an unchanged plan by a bare client, parsed, and nothing made of them;
// with `details` also one read of each connection. node hoop-floor.js URL [details|interface]
import { Agent, get } from 'node:http';
import paths from '../support/hoop-lists.json' with { type: 'json' };

const [url, more] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const headers = { authorization: `Bearer ${process.env['OSTIARY_TOKEN']}` };

function read(path) {
  return new Promise((resolve, reject) => {
    const asking = get(`${url}${path}`, { agent, headers }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve(JSON.parse(Buffer.concat(parts).toString('utf8'))));
    });
    asking.on('error', reject);
  });
}

/** Reads the first page for the total, then the other pages four at a time, as a plan does. */
async function readPages(path) {
  const { pages } = await read(`${path}?page=1&page_size=100`);
  const last = Math.ceil(pages.total / 100);
  for (let page = 2; page <= last; page += 4) {
    const numbers = Array.from({ length: Math.min(4, last - page + 1) }, (_, index) => page + index);
    await Promise.all(numbers.map((number) => read(`${path}?page=${number}&page_size=100`)));
  }
}

const started = performance.now();
const asked = more === 'interface' ? paths.filter((path) => path !== '/userinfo') : paths;
const lists = Promise.all(asked.map((path) => read(path)));
if (more !== 'interface') await readPages('/resources');
const connections = (await lists)[asked.indexOf('/connections')];
if (more === 'details') {
  const waiting = connections.values();
  const reader = async () => {
    for (const { name } of waiting) await read(`/connections/${name}`);
  };
  await Promise.all(Array.from({ length: 16 }, reader));
}
process.stdout.write(`${(performance.now() - started).toFixed(0)} ms\n`);
agent.destroy();
