import { agentId, base64, connectionBody, idOf, createKey, type CallServer } from '../server/client.ts';

/** Fills a gateway with objects of each kind, including names that no file can have, secrets, and objects of another manager. */
export async function fillGateway(call: CallServer): Promise<void> {
  const agent = await agentId(call);
  const rule = await call('POST', '/guardrails', {
    body: { name: 'no-drop', input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] } },
  });
  const secret = { 'envvar:PASS': base64('canary-value'), 'envvar:TOKEN': '_cloudsecrets:orders:token' };
  const orders = await call('POST', '/connections', {
    body: connectionBody('orders-db', agent, { guardrail_rules: [idOf(rule)], reviewers: ['dba'], secret, resource_name: 'orders' }),
  });
  await call('POST', '/connections', { body: connectionBody('Orders-DB', agent, { connection_tags: { env: 'live' } }) });
  const managed = await createKey(call, 'owner', ['admin'], 'platform');
  await call('POST', '/connections', { key: managed, body: connectionBody('owned', agent, { guardrail_rules: [idOf(rule)] }) });
  await call('POST', '/datamasking-rules', { body: { name: '../../x', connection_ids: [idOf(orders)] } });
  await call('POST', '/runbooks/configurations', {
    body: { git_url: 'https://git.example.com/ops/books.git', git_password: 'canary-word' },
  });
}
