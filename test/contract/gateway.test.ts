import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { startPgliteServer, startPostgresServer, type TestServer } from '../support/servers.ts';
import { gatewayContract, interfaceTraits, type Subject } from './gateway.ts';

gatewayContract('in memory', async () => {
  const gateway = memoryGateway({ registry, agents: ['default', 'prod-agent'] });
  return {
    gateway,
    close: () => gateway.close(),
    async createManaged({ id, spec }) {
      gateway.put({ id, spec, managedBy: 'platform' });
    },
  };
});

const servedTraits = {
  ...interfaceTraits,
  speech: { dialect: 'interface', borrowed: ['Connection.access_groups', 'Connection.min_review_approvals'] },
};

gatewayContract('ostiary serve on PGlite', () => served(startPgliteServer), servedTraits);
gatewayContract('ostiary serve on PostgreSQL', () => served(startPostgresServer), servedTraits);

async function served(start: () => Promise<TestServer>): Promise<Subject> {
  const server = await start();
  const open = (token: string): Promise<Gateway> => openGateway({ url: server.url, token, auth: 'auto', dialect: 'auto', registry });
  const [gateway, manager] = await Promise.all([open(server.key), open(server.managerKey)]);
  return {
    gateway,
    async createManaged(request) {
      await manager.readAll([...registry.keys()]);
      await manager.create(request);
    },
    async close() {
      await gateway.close();
      await manager.close();
      await server.close();
    },
  };
}
