import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { pointer, type Pointer } from '../../src/model/pointer.ts';
import { controlTypes, type Protection, type ConnectionRule } from '../../src/model/protection/protection.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import { riskClasses, type Risk } from '../../src/model/plan/plan.ts';
import { nastyText } from '../unit/report/nasty-text.ts';

/** A resource with an untrusted name. */
export const id: fc.Arbitrary<ResourceId> = fc
  .tuple(fc.constantFrom('Connection', 'GuardrailRule'), nastyText)
  .map(([kind, name]) => resourceId(kind, name));
/** A pointer of untrusted texts. */
export const path: fc.Arbitrary<Pointer> = fc.array(nastyText, { minLength: 1, maxLength: 3 }).map((tokens) => pointer(...tokens));
/** Any JSON value of untrusted texts. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    nastyText,
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(nastyText, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
/** Any JSON object of untrusted texts. */
export const object: fc.Arbitrary<JsonObject> = fc.dictionary(nastyText, json, { maxKeys: 4, noNullPrototype: true });
const direction = fc.constantFrom('weakens', 'both', 'unknown', 'neutral', 'strengthens');
const place = fc.tuple(nastyText, fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 300 })).map((parts) => parts.join(':'));
const cause = fc.record(
  { by: id, path, edge: id, place: fc.oneof(place, nastyText), byHand: fc.constant(true as const) },
  { requiredKeys: ['by'] },
);
/** A risk with untrusted texts. */
export const risk: fc.Arbitrary<Risk> = fc.record(
  {
    code: fc.constantFrom('risk/review', 'risk/neutral'),
    class: fc.constantFrom(...riskClasses),
    path,
    connections: fc.array(id, { maxLength: 3 }),
    place: nastyText,
  },
  { requiredKeys: ['code', 'class'] },
);
const control = fc.record(
  {
    control: fc.constantFrom(...controlTypes),
    direction,
    before: fc.array(nastyText, { maxLength: 3 }),
    after: fc.array(nastyText, { maxLength: 3 }),
    atLeast: fc.constant(true as const),
    causes: fc.array(cause, { maxLength: 2 }),
  },
  { requiredKeys: ['control', 'direction', 'before', 'after', 'causes'] },
);
const attached = fc.record({
  controls: fc.uniqueArray(fc.constantFrom('input', 'output', 'masking'), { maxLength: 3 }),
  by: fc.array(
    fc.record(
      { how: fc.constantFrom('direct', 'selector', 'attribute', 'edge'), attribute: nastyText, place: fc.oneof(place, nastyText) },
      { requiredKeys: ['how'] },
    ),
    { maxLength: 3 },
  ),
});
/** A rule on a connection, and how it is attached. */
export const ruleOn: fc.Arbitrary<ConnectionRule> = fc.record({ rule: id, before: attached, after: attached }, { requiredKeys: ['rule'] });
const posture = fc.record(
  {
    connection: id,
    direction,
    created: fc.constant(true as const),
    deleted: fc.constant(true as const),
    tags: object,
    controls: fc.array(control, { maxLength: 3 }),
    rules: fc.array(ruleOn, { maxLength: 3 }),
  },
  { requiredKeys: ['connection', 'direction', 'tags', 'controls'] },
);
/** The protection part of a plan, with untrusted texts. */
export const protection: fc.Arbitrary<Protection> = fc.record({
  headlines: fc.array(
    fc.record({
      direction: fc.constantFrom('weakens', 'unknown', 'exposes', 'reroutes', 'strengthens'),
      text: nastyText,
      connections: fc.array(id, { maxLength: 7 }),
      tags: object,
      causes: fc.array(cause, { maxLength: 5 }),
    }),
    { maxLength: 3 },
  ),
  connections: fc.array(posture, { maxLength: 3 }),
  losing: fc.array(id, { maxLength: 3 }),
});
