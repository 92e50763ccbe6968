import { registry } from '../../src/kinds/index.ts';
import { type HoopModel, startHoopModel } from './hoop/start.ts';
import { openHoop, scenarioToken, scenarioWorld } from './hoop-scenario.ts';
import type { DisturbableGateway, Disturbance } from './interrupted-apply.ts';
import { memoryGateway } from './memory-gateway.ts';

/** Creates an empty gateway of the interface in memory. */
export function disturbableMemory(): DisturbableGateway {
  const gateway = memoryGateway({ registry, agents: ['default'], reportsUntouched: true });
  return {
    gateway,
    dialect: 'interface',
    requests: () => gateway.requests.length,
    disturb(disturbance) {
      const begun = gateway.requests.length;
      gateway.setFault(
        disturbance &&
          (({ index, method }) => {
            const number = index - begun + 1;
            if (number === disturbance.at) return method === 'LIST' || method === 'GET' ? 'before' : disturbance.when;
            return number > disturbance.at && isLasting(disturbance) ? 'before' : undefined;
          }),
      );
    },
    state: () => gateway.state(),
    close: () => Promise.resolve(),
  };
}

/** Starts an empty model of the public gateway. */
export async function disturbableHoop(): Promise<DisturbableGateway & { readonly model: HoopModel }> {
  const model = await startHoopModel({
    licence: 'enterprise',
    runbooks: 'none',
    agents: [{ name: 'default' }],
    keys: [{ name: 'ci', token: scenarioToken, groups: ['admin'] }],
  });
  for (const group of ['dba', 'sre']) model.store.groups.add(group);
  const gateway = await openHoop(model);
  const { store, log } = model;
  return {
    model,
    gateway,
    dialect: 'hoop',
    requests: () => log.count(),
    disturb(disturbance) {
      const begun = log.count();
      model.setFault(
        disturbance &&
          (({ index }) => {
            const number = index - begun;
            if (number === disturbance.at && disturbance.how === 'twice') return { kind: 'twice' };
            if (number === disturbance.at) return { kind: 'lost', when: disturbance.when };
            return number > disturbance.at && isLasting(disturbance) ? { kind: 'lost', when: 'before' } : undefined;
          }),
      );
    },
    state: () => ({
      objects: scenarioWorld(model),
      attributes: [...store.attributes.values()].map(({ name, description }) => ({ name, description })).toSorted(byName),
      rules: [...store.accessRules.values()].map((row) => ({ ...row, id: '', createdAt: 0n, updatedAt: 0n })).toSorted(byName),
      groups: store
        .pluginRows('access_control')
        .map(({ connectionId, config }) => ({ name: store.connectionNames.get(connectionId) ?? '', config }))
        .toSorted(byName),
    }),
    async close() {
      await gateway.close();
      await model.close();
    },
  };
}

function isLasting({ how }: Disturbance): boolean {
  return how === 'killed' || how === 'from then on';
}

function byName({ name }: { readonly name: string }, other: { readonly name: string }): number {
  return name < other.name ? -1 : 1;
}
