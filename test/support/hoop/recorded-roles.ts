import { addKey, must, recordOn, type RecordedGateway } from './recorded-gateway.ts';
import { startHoopModel } from './start.ts';

/** Starts the third recorded gateway, on which it was tried who is an admin. */
export async function startRolesGateway(): Promise<RecordedGateway> {
  const first = 'root@example.com';
  const model = await startHoopModel({
    organisation: { id: '709253a6-8707-4756-b007-df7b900551bb' },
    users: [{ email: first, id: first, name: 'root', token: 'token-of-the-first-user', groups: ['admin'] }],
    keys: [{ name: 'ci', token: 'hpk_ci00', groups: ['admin'] }],
    agents: [{ name: 'prod-agent' }],
    random: 7,
  });
  for (const [index, row] of model.store.identities.entries())
    if (row.kind === 'key') model.store.identities[index] = { ...row, made: { by: first, at: 1_000n } };
  return recordOn(model, new Map([['ci', 'hpk_ci00']]));
}

/** What happened on the third gateway before the exchange with this index of a file. */
export const rolesSteps: Readonly<Record<string, (gateway: RecordedGateway) => Promise<void>>> = {
  '94-who-is-admin.json 55': async ({ model, tokens }) => {
    const key = model.store.identities.find(({ name }) => name === 'rec-root');
    tokens.set('rec-root', key?.token ?? '');
  },
  '97-sessions.json 0': async (gateway) => {
    await must(gateway.send({ method: 'POST', path: '/agents', body: { name: 'rec-offline' } }));
    await addKey(gateway, 'auditor', ['auditor']);
    for (const name of ['dev', 'ops']) await addPerson(gateway, name);
  },
};

async function addPerson({ send, model: { store }, tokens }: RecordedGateway, group: string): Promise<void> {
  const email = `${group}@example.com`;
  const name = `${group.charAt(0).toUpperCase()}${group.slice(1)}`;
  await must(send({ method: 'POST', path: '/users', body: { email, name, password: 'a-Password-1', status: 'active', groups: [group] } }));
  tokens.set(group, `token-of-${group}`);
  for (const [index, row] of store.identities.entries())
    if (row.email === email) store.identities[index] = { ...row, token: `token-of-${group}` };
}
