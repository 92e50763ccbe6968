import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import { liveById } from '../../../../model/live.ts';
import { type Change, liveKeyOf } from '../../../../model/plan/plan.ts';
import { nameOf, type ResourceId } from '../../../../model/resource.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';

/** Reports runbook rules that would include every connection although no manifest says so, and those that would not although it does. */
export function checkRunbookRules(proposal: PreflightRequest, writes: readonly ProposedWrite[]): readonly Diagnostic[] {
  const changes = new Map(proposal.plan.changes.map((change) => [change.id, change]));
  return writes
    .filter((write) => write.kind === 'RunbookRule')
    .flatMap((write) => {
      const change = changes.get(write.resource.id);
      const names = change === undefined ? [] : namesAfter(proposal, change);
      const meansEvery = isEveryStated(proposal, write);
      if (names.length === 0) return meansEvery ? [] : [everyConnection(write)];
      return meansEvery ? [keptConnections(write, names)] : [];
    });
}

/** Returns the connections that a rule names after the plan, those that do not exist included. */
function namesAfter({ live, plan }: PreflightRequest, change: Change): readonly string[] {
  const key = liveKeyOf(change);
  const found = liveById(live.resources).get(change.key ?? change.id);
  const names = new Set((found?.edges['connections'] ?? []).map(nameOf));
  for (const { rule, connection, action, by } of plan.edges) {
    if (rule !== key) continue;
    if (action === 'attach') names.add(nameOf(connection));
    // A connection that is deleted leaves its name.
    if (action === 'detach' && by !== connection) names.delete(nameOf(connection));
  }
  return [...names].toSorted();
}

/** Returns whether the manifest states an empty list, and nothing that adds connections to it. */
function isEveryStated({ desired }: PreflightRequest, { resource }: ProposedWrite): boolean {
  const isListed = resource.stated.has('connections') && resource.selector === undefined;
  const isOwn = (id: ResourceId): boolean => id === resource.id || id === resource.key;
  // A connection that replaces another one declares the attachment that moves to it.
  return isListed && !desired.edges.some(({ rule, declarations }) => isOwn(rule) && declarations.some(({ by }) => isOwn(by)));
}

function everyConnection(write: ProposedWrite): Diagnostic {
  const at = write.resource.stated.has('connection_selector') ? '/connection_selector' : '/connections';
  return diagnosticAt(write, at, {
    code: 'hoop/every-connection',
    message: `the runbook rule ${write.name} would include every connection, because no connection of its manifest is left`,
    hint: 'delete the rule instead; to include every connection, state connections: [] without connection_selector',
  });
}

function keptConnections(write: ProposedWrite, names: readonly string[]): Diagnostic {
  return diagnosticAt(write, '/connections', {
    code: 'hoop/every-connection',
    message: `connections: [] means every connection, but the runbook rule ${write.name} keeps ${names.join(', ')}`,
    hint: 'remove from the rule on the gateway what no manifest attached, or name the connections',
  });
}
