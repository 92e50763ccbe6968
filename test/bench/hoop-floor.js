// The bulk reads alone: the requests of an unchanged plan by a bare client, parsed, and nothing made of them. node hoop-floor.js URL
import { Agent, get } from 'node:http';
import paths from '../support/hoop-lists.json' with { type: 'json' };

const [url] = process.argv.slice(2);
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

/** The first page tells how many there are; the others come four at a time, as in the plan. */
async function readPages(path) {
  const { pages } = await read(`${path}?page=1&page_size=100`);
  const last = Math.ceil(pages.total / 100);
  for (let page = 2; page <= last; page += 4) {
    const numbers = Array.from({ length: Math.min(4, last - page + 1) }, (_, index) => page + index);
    await Promise.all(numbers.map((number) => read(`${path}?page=${number}&page_size=100`)));
  }
}

const started = performance.now();
await Promise.all([...paths.map((path) => read(path)), readPages('/resources')]);
process.stdout.write(`${(performance.now() - started).toFixed(0)} ms\n`);
agent.destroy();
