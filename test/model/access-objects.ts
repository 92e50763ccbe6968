import type { HoopModel } from '../support/hoop/start.ts';
import type { AccessPair } from './access-pairs.ts';

/** Returns the same id for the same number. */
function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

const moment = 1_760_000_000_000_000_000n;

/** Adds what only an admin makes to a model of the gateway, as if its API had accepted it, overlapping rules included. */
export function addAccessObjects({ store }: HoopModel, { objects }: AccessPair): void {
  const { rows, granted, rules, runbookRules, analyzers, machines } = objects;
  const times = { createdAt: moment, updatedAt: moment };
  const addAttributes = (names: readonly string[]): void => {
    for (const name of names)
      if (!store.attributes.has(name))
        store.attributes.set(name, {
          id: idOf(100 + store.attributes.size),
          name,
          description: null,
          managedBy: null,
          hidden: false,
          createdAt: moment,
        });
  };
  if (rows !== undefined) {
    store.plugins.set('access_control', { id: idOf(0), name: 'access_control', envVars: {} });
    for (const [name, groups] of Object.entries(rows)) {
      const connectionId = store.connections.get(name)?.id;
      if (connectionId === undefined) continue;
      store.savePluginConnection({ id: `row ${name}`, plugin: 'access_control', connectionId, config: groups, updatedAt: moment });
    }
  }
  for (const [attribute, groups] of Object.entries(granted)) {
    addAttributes([attribute]);
    for (const group of groups) store.groupAttributes.add(attribute, group);
  }
  for (const rule of rules) {
    store.accessRules.set(rule.name, {
      ...times,
      id: rule.id,
      name: rule.name,
      description: null,
      accessType: rule.type,
      connectionNames: rule.connections,
      approvalRequiredGroups: rule.required,
      allGroupsMustApprove: rule.mustAllApprove,
      reviewersGroups: rule.reviewers,
      forceApprovalGroups: rule.forcing,
      skipReviewGroups: rule.skipped,
      accessMaxDuration: rule.longest,
      minApprovals: rule.minApprovals,
      managedBy: null,
    });
    addAttributes(rule.attributes);
    for (const attribute of rule.attributes) store.accessRuleAttributes.add(attribute, rule.name);
  }
  for (const [index, { name = `books-${index}`, groups, connections, files }] of runbookRules.entries()) {
    const id = idOf(index + 1);
    store.runbookRules.set(id, { ...times, id, name, description: '', runbooks: files, connections, userGroups: groups });
  }
  for (const [index, { id, connections, risk }] of analyzers.entries()) {
    const name = `analyzer-${index}`;
    const rest = { description: null, customPrompt: null, agentic: false, managedBy: null };
    store.analyzerRules.set(name, { ...times, ...rest, id, name, connectionNames: connections, risk });
  }
  for (const [index, { name, connections, attributes }] of machines.entries()) {
    store.machineIdentities.set(name, { ...times, id: idOf(200 + index), name, description: '', connectionNames: connections });
    addAttributes(attributes);
    for (const attribute of attributes) store.machineAttributes.add(attribute, name);
  }
}
