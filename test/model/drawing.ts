import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { ModelGateway } from './gateway-objects.ts';
import {
  approval,
  connectionFields,
  guardrailFields,
  hoopFields,
  hoopRuleFields,
  ignorable,
  maskingFields,
  resourceField,
  resources,
  secretFields,
  seldom,
  sides,
  some,
  type FieldChoices,
  type Sides,
} from './pair-fields.ts';

/** Fields by name; `undefined` leaves a field out. */
export type Drawn = Readonly<Record<string, Sides<Json | undefined>>>;

function fieldsOf(fields: FieldChoices, often?: number): fc.Arbitrary<Drawn> {
  return fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sides(value, often)])));
}

/** Where an attachment is declared; on the gateway every declaration is the same. */
const attachment = fc.constantFrom('nowhere', 'rule', 'connection', 'both');
const present = (often: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: often, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });
const ignored = (kind: string): fc.Arbitrary<Sides<readonly string[] | undefined>> => sides(seldom(some(ignorable[kind] ?? []), 2));

/** `loose`, `hand` and `veil` are unmanaged. */
export const connectionNames: readonly string[] = ['c0', 'c1', 'c2', 'loose'];
export const ruleNames: readonly string[] = ['g0', 'g1', 'm0', 'hand', 'veil'];
export const unmanagedNames: readonly string[] = ['loose', 'hand', 'veil'];

/** Returns whether a rule is a guardrail; the others are masking rules. */
export function isGuardrail(name: string): boolean {
  return !['m0', 'veil'].includes(name);
}

/** A connection as it is drawn, with its values on all sides. */
export type DrawnConnection = {
  readonly fields: Drawn;
  /** The fields that only the public gateway has. */
  readonly extra: Drawn;
  readonly secrets: Drawn;
  readonly resource: Drawn;
  /** Where a side has other reviewers and other groups that may force an approval. */
  readonly approval: { readonly desired: JsonObject | undefined; readonly live: JsonObject | undefined };
  readonly ignored: Sides<readonly string[] | undefined>;
  readonly tag: Sides<string>;
  readonly present: Sides<boolean>;
};

/** A rule as it is drawn, with its attachment to each connection. */
export type DrawnRule = {
  readonly fields: Drawn;
  readonly extra: Drawn;
  readonly edges: readonly Sides<string>[];
  readonly ignored: Sides<readonly string[] | undefined>;
  readonly selector: Sides<string | undefined>;
  readonly present: Sides<boolean>;
};

/** Everything that is drawn for one pair. */
export type Drawing = {
  /** `accepted`: the gateway was changed by hand as the manifests are now. */
  readonly scenario: 'intent' | 'drift' | 'both' | 'first' | 'accepted';
  readonly dialect: 'interface' | 'hoop';
  readonly gateway: ModelGateway;
  readonly sight: 'shown' | 'hidden' | 'unresolved';
  readonly reportsLimit: boolean;
  readonly count: number;
  readonly ruleCount: number;
  /** Unmanaged objects that exist. */
  readonly unmanaged: readonly string[];
  /** Objects that another tool manages. */
  readonly managed: readonly string[];
  readonly hasSecrets: boolean;
  readonly resources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly prune: boolean;
  readonly replaces: boolean | undefined;
  readonly replacesMasking: boolean | undefined;
  readonly renames: boolean | undefined;
  /** An interrupted apply created the last connection, and did not open it. */
  readonly interrupted: boolean | undefined;
  readonly readsAccess: boolean;
  readonly connections: readonly DrawnConnection[];
  readonly rules: readonly DrawnRule[];
};

/** Draws a project, with changes in the manifests, on the gateway, or both. */
export const drawing: fc.Arbitrary<Drawing> = fc.record({
  scenario: fc.constantFrom<Drawing['scenario']>('intent', 'intent', 'drift', 'both', 'first', 'accepted'),
  dialect: fc.constantFrom<Drawing['dialect']>('interface', 'interface', 'interface', 'hoop', 'hoop'),
  gateway: fc.record({
    isOld: present(4).map((isNew) => !isNew),
    ssh: fc.boolean(),
    sshInput: fc.boolean(),
    rdp: fc.boolean(),
    provider: fc.constantFrom<ModelGateway['provider']>('mspresidio', 'mspresidio', 'mspresidio', 'gcp', '', 'unreported'),
  }),
  sight: fc.constantFrom<Drawing['sight']>('shown', 'hidden', 'unresolved'),
  reportsLimit: fc.boolean(),
  count: fc.integer({ min: 1, max: 3 }),
  ruleCount: fc.integer({ min: 0, max: 3 }),
  unmanaged: fc.oneof(some([]), some(unmanagedNames)),
  managed: fc.oneof({ weight: 5, arbitrary: some([]) }, { weight: 1, arbitrary: some(['c1', 'loose', 'g0', 'm0', 'hand']) }),
  hasSecrets: fc.boolean(),
  resources: fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: resources }),
  prune: fc.boolean(),
  replaces: seldom(fc.constant(true), 2),
  replacesMasking: seldom(fc.constant(true)),
  renames: seldom(fc.constant(true)),
  interrupted: seldom(fc.constant(true)),
  readsAccess: present(4),
  connections: fc.tuple(
    ...connectionNames.map(() =>
      fc.record({
        fields: fieldsOf(connectionFields),
        extra: fieldsOf(hoopFields, 3),
        secrets: fieldsOf(secretFields, 6),
        resource: fieldsOf(resourceField, 5),
        approval: fc.record({ desired: seldom(approval, 5), live: seldom(approval, 5) }),
        ignored: ignored('Connection'),
        tag: sides(fc.constantFrom('prod', 'dev')),
        present: sides(present(4), 6),
      }),
    ),
  ),
  rules: fc.tuple(
    ...ruleNames.map((name) =>
      fc.record({
        fields: fieldsOf(isGuardrail(name) ? guardrailFields : maskingFields, 3),
        extra: fieldsOf(hoopRuleFields),
        edges: fc.tuple(...connectionNames.map(() => sides(attachment, 2))),
        ignored: ignored(isGuardrail(name) ? 'GuardrailRule' : 'DataMaskingRule'),
        selector: sides(fc.constantFrom(undefined, undefined, undefined, 'prod')),
        present: sides(present(9)),
      }),
    ),
  ),
});
