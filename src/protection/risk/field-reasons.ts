import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { RiskDraft, SpecSides } from '../controls/control-row.ts';
import { controlsOfRuleKind, controlTable } from '../controls/control-table.ts';
import { enforcementOf } from '../controls/enforcement.ts';
import { type ProtectionSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/**
 * What a changed field does, as a reason for the risk of its change. The comparison of protection alone decides the class; the
 * usual class of the code only says which reason explains which effect.
 */
export type Reason = RiskDraft & {
  /** The control types in which it may have an effect. */
  readonly controls: readonly ControlType[];
  /** The connections whose edges are the reason, and the position of the first edge. */
  readonly connections?: readonly ResourceId[];
  readonly place?: string;
};

/** Finds what the changed fields of an object do; a reason that several rows of the table give is one with all their types. */
export function fieldReasons(kind: string, sides: SpecSides): readonly Reason[] {
  const reasons = new Map<string, Reason>();
  for (const { type, risks } of controlTable) {
    for (const draft of (risks[kind] ?? []).flatMap(({ find }) => find(sides))) {
      const key = [draft.code.name, ...draft.fields].join('\u0000');
      reasons.set(key, { ...draft, controls: [...(reasons.get(key)?.controls ?? []), type] });
    }
  }
  return [...reasons.values()];
}

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || enforcementOf(spec).kind !== 'forwards') return false;
  return [...rulesOn(snapshot, connection)].some((rule) => {
    const ruleSpec = snapshot.resources.get(rule)?.spec ?? {};
    return kindOf(rule) === 'GuardrailRule' && controlsOfRuleKind(kindOf(rule)).some(({ read }) => read(ruleSpec, []).length > 0);
  });
}
