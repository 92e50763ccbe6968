import { textsIn } from '../../model/json.ts';
import { overlaps, pointer, type Pointer } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { attributeId } from '../../model/protection/access-objects.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { accessModes } from '../access/effective-access.ts';
import { type ProtectionSnapshot, type ResourceSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/** The fields of a connection that decide who sees it. */
const whoFields = ['access_groups', 'attributes'];

/** The fields of a rule that decide whom it asks for which approval. */
const requestFields = [
  'access_type',
  'attributes',
  'approval_required_groups',
  'skip_review_groups',
  'reviewers_groups',
  'min_approvals',
  'all_groups_must_approve',
  'force_approval_groups',
];

/** The fields of a rule that decide who runs which runbooks. */
const runbookFields = ['user_groups', 'runbooks'];

/** The fields of rules that decide what is blocked or masked. */
const limitFields = { GuardrailRule: ['input', 'output'], DataMaskingRule: ['supported_entity_types', 'custom_entity_types'] } as const;

/** The fields of a connection that mask data. */
const redactFields = ['redact_types'];

/** The fields that decide what people can do, by kind. */
const decidingFields: Readonly<Record<string, readonly string[]>> = {
  ...limitFields,
  Connection: [
    ...redactFields,
    ...whoFields,
    ...accessModes.map((mode) => `access_mode_${mode}`),
    'reviewers',
    'min_review_approvals',
    'force_approve_groups',
    'access_max_duration',
  ],
  Attribute: ['access_groups'],
  AccessRequestRule: [...requestFields, 'access_max_duration'],
  RunbookRule: runbookFields,
};

/** Leaves ignored fields that decide access out of a connection; rules keep theirs, because these say what they may govern. */
export function withoutIgnored(resource: ResourceSnapshot, id: ResourceId, ignore: readonly Pointer[]): ResourceSnapshot {
  const fields = decidingFields[kindOf(id)] ?? [];
  const hidden = fields.filter((field) => ignore.some((path) => overlaps(path, pointer(field))));
  if (hidden.length === 0) return resource;
  const unknown = [...resource.unknown, ...hidden.map((field) => pointer(field))];
  if (kindOf(id) !== 'Connection' && kindOf(id) !== 'Attribute') return { ...resource, unknown };
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
    whoFields.some((field) => isHidden(snapshot, id, field)) ||
    attributesOf(snapshot, id).some((attribute) => isHidden(snapshot, attribute, 'access_groups')),
);

/** Lists what blocks or masks on a connection in a way that is not known. */
export function hiddenLimits(snapshot: ProtectionSnapshot, id: ResourceId): Readonly<Record<'blocked' | 'masked', readonly Decider[]>> {
  const hiddenIn = (of: ResourceId, fields: readonly string[]): readonly Decider[] =>
    fields.filter((field) => isHidden(snapshot, of, field)).map((field) => ({ id: of, path: pointer(field) }));
  const rules = [...rulesOn(snapshot, id)];
  const ofKind = (kind: keyof typeof limitFields): readonly Decider[] =>
    rules.flatMap((rule) => (kindOf(rule) === kind ? hiddenIn(rule, limitFields[kind]) : []));
  return { blocked: ofKind('GuardrailRule'), masked: [...ofKind('DataMaskingRule'), ...hiddenIn(id, redactFields)] };
}

/** Returns whether who runs what by a runbook rule is not known. */
export function isRunbookHidden(snapshot: ProtectionSnapshot, rule: ResourceId): boolean {
  return runbookFields.some((field) => isHidden(snapshot, rule, field));
}

/** Returns whether an access-request rule that may govern a connection has values that are not known. */
export const isGoverningHidden: (snapshot: ProtectionSnapshot, id: ResourceId) => boolean = forEachConnection((snapshot, id) => {
  const { byAttribute, anywhere } = hiddenRules(snapshot);
  if (anywhere || (byAttribute && isHidden(snapshot, id, 'attributes'))) return true;
  return [...rulesOn(snapshot, id)].some(
    (rule) => kindOf(rule) === 'AccessRequestRule' && requestFields.some((field) => isHidden(snapshot, rule, field)),
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
  const rules = [...snapshot.resources].filter(([id]) => kindOf(id) === 'AccessRequestRule');
  return {
    byAttribute: rules.some(([, { spec }]) => textsIn(spec['attributes']).length > 0),
    anywhere: rules.some(([id]) => isHidden(snapshot, id, 'attributes')),
  };
}
