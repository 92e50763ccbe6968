import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { nameOf } from '../../src/model/resource.ts';
import { startHoopModel } from '../support/hoop/start.ts';
import { gatewayContract } from './gateway.ts';

gatewayContract(
  'the public gateway',
  async () => {
    const token = 'hpk_contract';
    const model = await startHoopModel({
      licence: 'enterprise',
      keys: [{ name: 'ci', token, groups: ['admin'] }],
      agents: [{ name: 'default' }, { name: 'prod-agent' }],
    });
    const gateway = await openGateway({ url: `${model.url}/api`, token, auth: 'auto', dialect: 'auto', registry });
    await gateway.readAll([...registry.keys()]);
    await gateway.switchRowsOn('Connection', []);
    return {
      gateway,
      async createManaged(request) {
        await gateway.create(request);
        const row = model.store.findConnection(nameOf(request.id));
        if (row === undefined) throw new Error(`${request.id} was not created`);
        model.store.saveConnection({ ...row, managedBy: 'hoopagent' });
      },
      async close() {
        await gateway.close();
        await model.close();
      },
    };
  },
  {
    speech: { dialect: 'hoop' },
    manager: 'hoopagent',
    strict: false,
    names: ['abc', 'with.dots-and_more', 'UPPER_lower-1.2', 'a.b.c'],
    isControlled: true,
  },
);
