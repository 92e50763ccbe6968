import type { HoopOptions } from '../support/hoop/options.ts';
import { startHoopModel } from '../support/hoop/start.ts';

const [token = '', pace] = process.argv.slice(2);

/** A program for the bench: the model of the public gateway, empty; prints its url. With `measured` it takes its time. */
const { url } = await startHoopModel({
  licence: 'enterprise',
  runbooks: 'none',
  agents: [{ name: 'prod-agent' }],
  keys: [{ name: 'bench', token, groups: ['admin'] }],
  ...(pace === 'measured' ? { fault: slow } : {}),
});
process.stdout.write(`${url}\n`);

/** Lists as slow as those of the gateway itself with 1,000 connections; a read of one at a third of what it takes there. */
function slow({ method, path }: Parameters<NonNullable<HoopOptions['fault']>>[0]): ReturnType<NonNullable<HoopOptions['fault']>> {
  if (method !== 'GET') return undefined;
  if (path.endsWith('/connections')) return { kind: 'slow', milliseconds: 140 };
  if (path.includes('/resources')) return { kind: 'slow', milliseconds: 20 };
  return path.includes('/connections/') ? { kind: 'slow', milliseconds: 60 } : undefined;
}
