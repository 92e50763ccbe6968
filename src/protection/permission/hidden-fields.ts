import { textsIn } from '../../model/json.ts';
import { overlaps, pointer, type Pointer } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { attributeId, isAttribute, isRequestRule } from '../../model/protection/access-objects.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { fieldsRead, ruleControlTypes } from '../controls/control-table.ts';
import { type ProtectionSnapshot, type ResourceSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

const approving: readonly ControlType[] = ['review', 'force', 'approval'];

/** Leaves ignored fields that decide access out of a connection; rules keep theirs, because these say what they may govern. */
export function withoutIgnored(resource: ResourceSnapshot, id: ResourceId, ignore: readonly Pointer[]): ResourceSnapshot {
  const fields = fieldsRead(kindOf(id));
  const hidden = fields.filter((field) => ignore.some((path) => overlaps(path, pointer(field))));
  if (hidden.length === 0) return resource;
  const unknown = [...resource.unknown, ...hidden.map((field) => pointer(field))];
  if (ruleControlTypes(kindOf(id)).length > 0 && !isAttribute(id)) return { ...resource, unknown };
  return { unknown, spec: Object.fromEntries(Object.entries(resource.spec).filter(([field]) => !hidden.includes(field))) };
}

/** Returns whether a field of an object is not known: the token may not read it, or a manifest leaves it to the gateway. */
export function isHidden({ resources }: ProtectionSnapshot, id: ResourceId, field: string): boolean {
  return resources.get(id)?.unknown.some((path) => path === '' || path === pointer(field)) === true;
}

/** Lists the attributes that a connection has. */
export function attributesOf({ resources }: ProtectionSnapshot, id: ResourceId): readonly ResourceId[] {
  return textsIn(resources.get(id)?.spec['attributes']).map((name) => attributeId(name));
}

/** Keeps what was last computed of a connection in a snapshot: it is asked for each group and verb, connection after connection. */
export function forEachConnection<Value>(
  compute: (snapshot: ProtectionSnapshot, id: ResourceId) => Value,
): (snapshot: ProtectionSnapshot, id: ResourceId) => Value {
  const last = new WeakMap<ProtectionSnapshot, { readonly id: ResourceId; readonly value: Value }>();
  return (snapshot, id) => {
    const known = last.get(snapshot);
    if (known?.id === id) return known.value;
    const value = compute(snapshot, id);
    last.set(snapshot, { id, value });
    return value;
  };
}

/** Returns whether groups that are not known may see a connection. */
export const isWhoHidden: (snapshot: ProtectionSnapshot, id: ResourceId) => boolean = forEachConnection(
  (snapshot, id) =>
    snapshot.listed.incomplete.has('who') ||
    [id, ...attributesOf(snapshot, id)].some((one) => fieldsRead(kindOf(one), ['who']).some((field) => isHidden(snapshot, one, field))),
);

/** Lists what blocks or masks on a connection in a way that is not known. */
export function hiddenLimits(snapshot: ProtectionSnapshot, id: ResourceId): Readonly<Record<'blocked' | 'masked', readonly Decider[]>> {
  const hiddenIn = (of: ResourceId, fields: readonly string[]): readonly Decider[] =>
    fields.filter((field) => isHidden(snapshot, of, field)).map((field) => ({ id: of, path: pointer(field) }));
  const objects = [id, ...rulesOn(snapshot, id)];
  // What attaches a rule is no limit by itself.
  const by = (controls: readonly ControlType[]): readonly Decider[] =>
    objects.flatMap((one) =>
      hiddenIn(
        one,
        fieldsRead(kindOf(one), controls).filter((field) => field !== 'attributes'),
      ),
    );
  return { blocked: by(['input', 'output']), masked: by(['masking', 'redaction']) };
}

/** Returns whether who runs what by a runbook rule is not known. */
export function isRunbookHidden(snapshot: ProtectionSnapshot, rule: ResourceId): boolean {
  return fieldsRead(kindOf(rule), ['runbooks']).some((field) => isHidden(snapshot, rule, field));
}

/** Returns whether an access-request rule that may govern a connection has values that are not known. */
export const isGoverningHidden: (snapshot: ProtectionSnapshot, id: ResourceId) => boolean = forEachConnection((snapshot, id) => {
  const { byAttribute, anywhere } = hiddenRules(snapshot);
  if (anywhere || (byAttribute && isHidden(snapshot, id, 'attributes'))) return true;
  return [...rulesOn(snapshot, id)].some(
    (rule) => isRequestRule(rule) && fieldsRead(kindOf(rule), approving).some((field) => isHidden(snapshot, rule, field)),
  );
});

type HiddenRules = {
  /** A rule governs connections by an attribute. */
  readonly byAttribute: boolean;
  /** A rule has attributes that are not known. */
  readonly anywhere: boolean;
};

const known = new WeakMap<ProtectionSnapshot, HiddenRules>();

function hiddenRules(snapshot: ProtectionSnapshot): HiddenRules {
  const found = known.get(snapshot) ?? findHiddenRules(snapshot);
  known.set(snapshot, found);
  return found;
}

function findHiddenRules(snapshot: ProtectionSnapshot): HiddenRules {
  const rules = [...snapshot.resources].filter(([id]) => isRequestRule(id));
  return {
    byAttribute: rules.some(([, { spec }]) => textsIn(spec['attributes']).length > 0),
    anywhere: rules.some(([id]) => isHidden(snapshot, id, 'attributes')),
  };
}
