import { kindOf, type ResourceId } from '../../model/resource.ts';
import { controlsOfRuleKind } from '../controls/control-table.ts';
import { enforcementOf } from '../controls/enforcement.ts';
import { type ProtectionSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || enforcementOf(spec).kind !== 'forwards') return false;
  return [...rulesOn(snapshot, connection)].some((rule) => {
    const ruleSpec = snapshot.resources.get(rule)?.spec ?? {};
    return kindOf(rule) === 'GuardrailRule' && controlsOfRuleKind(kindOf(rule)).some(({ read }) => read(ruleSpec, []).length > 0);
  });
}
