import { startHoopModel } from '../support/hoop/start.ts';

const [token = ''] = process.argv.slice(2);

/** A program for the bench: the model of the public gateway, empty; prints its url. */
const { url } = await startHoopModel({
  licence: 'enterprise',
  runbooks: 'none',
  agents: [{ name: 'prod-agent' }],
  keys: [{ name: 'bench', token, groups: ['admin'] }],
});
process.stdout.write(`${url}\n`);
