import * as fc from 'fast-check';
import type { Diagnostic, Position } from '../../../src/model/diagnostic.ts';
import type { AcceptedDrift, AssessedChange, EdgeChange, Plan, Value } from '../../../src/model/plan/plan.ts';
import type { AppliedPlan } from '../../../src/report/document.ts';
import { id, json, object, path, protection, risk } from '../../support/nasty-values.ts';
import { nastyText } from './nasty-text.ts';

export const value: fc.Arbitrary<Value> = fc.oneof(
  fc.record({ value: json }),
  fc.constant({ absent: true } as const),
  fc.record({ unknown: nastyText }),
  fc.record({ secret: nastyText, state: fc.constantFrom('set', 'differs', 'unknown', 'kept', 'removed') }),
);
export const position: fc.Arbitrary<Position> = fc.record({
  file: nastyText,
  line: fc.integer({ min: 1, max: 9999 }),
  column: fc.integer({ min: 1, max: 300 }),
});
const action = fc.constantFrom('create', 'update', 'rename', 'delete', 'blocked', 'held');
const own = fc.boolean();
const origin = fc.constantFrom('intent', 'drift', 'both');
const field = fc.record(
  { path, before: value, after: value, origin, own, held: fc.constant(true as const) },
  { requiredKeys: ['path', 'before', 'after'] },
);
const unplaced = fc.record(
  {
    id,
    key: id,
    action,
    uid: nastyText,
    managedBy: nastyText,
    at: position,
    own,
    adoption: fc.constant(true as const),
    fields: fc.array(field, { maxLength: 5 }),
    needs: fc.array(id, { maxLength: 2 }),
    unfinished: fc.constant(true as const),
    replacedBy: id,
    closed: fc.constantFrom('first', 'between'),
    reach: fc.constantFrom('every', 'named'),
    risks: fc.array(risk, { maxLength: 3 }),
    carried: fc.array(path, { maxLength: 2 }),
    touched: fc.record({ before: object, after: object }),
  },
  { requiredKeys: ['id', 'action', 'fields', 'needs', 'risks', 'carried'] },
);
const change: fc.Arbitrary<AssessedChange> = fc.tuple(unplaced, fc.option(position)).map(([one, at]) => ({
  ...one,
  ...(at === null ? {} : { positions: { byPath: Object.fromEntries(one.fields.map((each) => [each.path, at])) } }),
}));
const edge: fc.Arbitrary<EdgeChange> = fc.record(
  {
    rule: id,
    connection: id,
    action: fc.constantFrom('attach', 'detach', 'foreign', 'held', 'blocked'),
    declared: fc.array(nastyText),
    bySelector: fc.constant(true as const),
    by: id,
    origin,
    own,
  },
  { requiredKeys: ['rule', 'connection', 'action', 'declared'] },
);
const acceptedDrift: fc.Arbitrary<AcceptedDrift> = fc.record(
  {
    id,
    action: fc.constantFrom('create' as const, 'update' as const, 'delete' as const),
    fields: fc.array(field, { maxLength: 2 }),
    edges: fc.array(
      fc.record({ rule: id, connection: id, action: fc.constantFrom('attach' as const, 'detach' as const), declared: fc.constant([]) }),
      { maxLength: 2 },
    ),
    risks: fc.array(risk, { maxLength: 2 }),
    by: nastyText,
    when: nastyText,
  },
  { requiredKeys: ['id', 'action', 'fields', 'edges', 'risks'] },
);
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const target = fc.record(
  { name: nastyText.map((name) => `t${name}`), url: nastyText, dialect: nastyText, organisation: nastyText },
  { requiredKeys: ['name', 'url', 'dialect'] },
);
const orphan = fc.record({ id, removedIn: nastyText, subject: nastyText, kept: nastyText }, { requiredKeys: ['id'] });
const anyPlan: fc.Arbitrary<Plan> = fc.record({
  protection,
  unwritten: fc.array(fc.record({ id, risks: fc.array(risk, { maxLength: 2 }) }), { maxLength: 3 }),
  accepted: fc.array(acceptedDrift, { maxLength: 3 }),
  target,
  changes: fc.array(change, { maxLength: 5 }),
  edges: fc.array(edge, { maxLength: 5 }),
  unchanged: fc.nat(),
  orphans: fc.array(orphan, { maxLength: 12 }),
  unmanaged: fc.array(id, { maxLength: 12 }),
  unwatched: fc.array(fc.record({ id, path }), { maxLength: 12 }),
  notCompared: fc.array(fc.record({ id, path, reason: fc.constantFrom('hidden', 'unresolved') }), { maxLength: 12 }),
  unwrittenSecrets: fc.array(
    fc.record({
      id,
      path,
      before: fc.constant({ absent: true as const }),
      after: fc.record({ secret: nastyText, state: fc.constant('unknown' as const) }),
    }),
    { maxLength: 3 },
  ),
  singleWrites: fc.constant([]),
  references: fc.constant([]),
  refusals: fc.array(
    fc.record(
      { code: fc.constant('plan/window' as const), message: nastyText, hint: nastyText, allowable: fc.boolean(), resource: id },
      { requiredKeys: ['code', 'message', 'allowable'] },
    ),
    { maxLength: 3 },
  ),
  allowed: fc.array(fc.record({ code: nastyText, reason: nastyText }), { maxLength: 3 }),
  seals: fc.record({ tree: hash, digest: hash }),
});
/** Fits edges and orphans to the changes, so that the reports show them. */
export const plan: fc.Arbitrary<Plan> = anyPlan.map((made) => ({
  ...made,
  edges: made.edges.map((one, index) => {
    const by = made.changes[index]?.id;
    return by === undefined ? one : { ...one, by };
  }),
  orphans: made.orphans.map((one, index) => ({ ...one, id: made.changes[index]?.id ?? one.id })),
}));
export const plans: fc.Arbitrary<readonly Plan[]> = fc.array(plan, { maxLength: 3 });
export const applied: fc.Arbitrary<AppliedPlan> = fc.record({
  plan: fc.record({ target, seals: fc.record({ tree: hash, digest: hash }) }),
  result: fc.record({
    interrupted: fc.boolean(),
    outcomes: fc.array(
      fc.record(
        {
          id,
          action,
          status: fc.constantFrom('done', 'already', 'failed', 'skipped', 'blocked', 'interrupted'),
          code: fc.constant('api/forbidden' as const),
          message: nastyText,
          hint: nastyText,
        },
        { requiredKeys: ['id', 'action', 'status'] },
      ),
    ),
  }),
});
export const diagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  {
    code: fc.constant('manifest/yaml' as const),
    severity: fc.constantFrom('error', 'warning', 'notice'),
    message: nastyText,
    hint: nastyText,
    at: position,
    frame: fc.record({
      line: fc.integer({ min: 1, max: 9999 }),
      lines: fc.array(nastyText, { maxLength: 4 }),
      caret: fc.record({ column: fc.integer({ min: 1, max: 300 }), length: fc.nat(300) }),
    }),
    resource: id,
  },
  { requiredKeys: ['code', 'severity', 'message'] },
);
