import { expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { opaqueSpellings, spellings } from '../../support/spellings.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const canary = 'Kanarienvogel "7f3a9c" & Söhne';
const hidden = "the gateway's message is not shown because it may contain a secret";

/** Starts a gateway that refuses every create with the message. */
async function startRefusingGateway(message: string): Promise<FlakyServer> {
  return startFlakyServer((response, seen) => {
    const lists: Readonly<Record<string, unknown>> = { '/serverinfo': { role: 'admin' }, '/agents': [{ id: agent, name: 'default' }] };
    if (seen.method === 'POST') json(422, { message })(response, seen);
    else json(200, lists[seen.path] ?? [])(response, seen);
  });
}

const agent = '11111111-1111-4111-8111-111111111111';

async function applyAgainst(message: string): Promise<string> {
  const gateway = await startRefusingGateway(message);
  const cwd = makeProject({
    'ostiary.yaml': config(gateway.url),
    'access/a.yaml': connection('orders', { secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } } }),
  });
  const env = { OSTIARY_TOKEN: 'token-of-the-tests', OSTIARY_SECRET_PASS: canary };
  const { code, stdout, stderr } = await ostiaryInProcess(['apply', '--yes', '--journal', 'journal'], { cwd, env });
  await gateway.close();
  expect(code).toBe(5);
  return `${stdout}${stderr}`.replaceAll(/\s+/g, ' ');
}

// security: gateway
test.each(Object.entries({ ...spellings, ...opaqueSpellings }))('apply does not print a message with a secret in %s', async (_, encode) => {
  const printed = await applyAgainst(`cannot store ${encode(canary)}`);
  expect(printed).toContain(`(422, ${hidden})`);
  expect(printed).not.toContain('cannot store');
});

test('apply prints a message without a secret', async () => {
  const printed = await applyAgainst('cannot store envvar:PASS of orders');
  expect(printed).toContain('(422, "cannot store envvar:PASS of orders")');
  expect(printed).not.toContain(hidden);
});
