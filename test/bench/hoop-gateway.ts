import type { HoopOptions } from '../support/hoop/options.ts';
import { startHoopModel } from '../support/hoop/start.ts';

const [token = '', detailMs] = process.argv.slice(2);

/** A program for the bench: the model of the public gateway, empty; prints its url. With the milliseconds of a detail read it takes its time. */
const { url } = await startHoopModel({
  licence: 'enterprise',
  runbooks: 'none',
  agents: [{ name: 'prod-agent' }],
  keys: [{ name: 'bench', token, groups: ['admin'] }],
  ...(detailMs === undefined ? {} : { fault: slow }),
});
process.stdout.write(`${url}\n`);

/** Lists and writes as slow as those of the gateway itself with 1,000 connections, 8 writes at a time. */
function slow({ method, path }: Parameters<NonNullable<HoopOptions['fault']>>[0]): ReturnType<NonNullable<HoopOptions['fault']>> {
  if (method === 'POST' && path.endsWith('/connections')) return { kind: 'slow', milliseconds: 50 };
  if (method === 'PUT') return { kind: 'slow', milliseconds: 55 };
  if (method !== 'GET') return undefined;
  if (path.endsWith('/connections')) return { kind: 'slow', milliseconds: 140 };
  if (path.includes('/resources')) return { kind: 'slow', milliseconds: 20 };
  return path.includes('/connections/') ? { kind: 'slow', milliseconds: Number(detailMs) } : undefined;
}
