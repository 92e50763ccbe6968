import type { Change } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { DestinationGains } from '../compare/destinations.ts';
import { type Posture, type RiskDraft, unreviewedModes } from '../controls/control-row.ts';
import { riskOf } from './risk-codes.ts';

/** Finds that a connection leads where people could not go, or not as easily, before; or that where it leads now cannot be read. */
export function destinationRisks(key: ResourceId, { gains, unknown }: DestinationGains): readonly RiskDraft[] {
  const isOpened = gains.some(({ connection }) => connection === key);
  const name = isOpened ? 'destination-opened' : unknown.some(({ connection }) => connection === key) ? 'destination-unknown' : undefined;
  return name === undefined ? [] : [riskOf(name)];
}

/** Finds code that people run without review and that had no review: another command, or the machine of another agent. */
export function programRisks({ action, fields }: Change, after: Posture | undefined, isBare: boolean): readonly RiskDraft[] {
  if (action === 'create' || after === undefined || unreviewedModes(after).length === 0) return [];
  const changed = fields.filter(({ held }) => held !== true).map(({ path }) => tokensOf(path)[0] ?? '');
  const field = ['command', ...(isBare ? ['agent_id'] : [])].find((name) => changed.includes(name));
  return field === undefined ? [] : [riskOf(isBare ? 'agent-opened' : 'program-changed', [field])];
}
