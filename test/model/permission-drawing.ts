import * as fc from 'fast-check';
import { accessPools } from './access-pools.ts';
import type { RunbookFile } from './access-model.ts';

const { connections, groups, attributes, files, patterns } = accessPools;

/** The attributes that have manifests; others exist on the gateway alone. */
export const declaredAttributes: readonly string[] = attributes.slice(0, 3);

/** What one side has of an object; `present` is whether it has the object. */
type Present<Value> = Value & { readonly present: boolean };

/** What the applied manifests have, and what differs in the manifests now, and on the gateway. */
type SidesOf<Value> = {
  readonly base: Present<Value>;
  readonly desired: Present<Value> | undefined;
  readonly live: Present<Value> | undefined;
};

function sidesOf<Value extends object>(value: fc.Arbitrary<Value>): fc.Arbitrary<SidesOf<Value>> {
  const present = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });
  const side = fc.tuple(value, present).map(([own, isPresent]) => ({ ...own, present: isPresent }));
  return fc.record({
    base: side,
    desired: fc.option(side, { nil: undefined, freq: 3 }),
    live: fc.option(side, { nil: undefined, freq: 6 }),
  });
}

const group = (most: number): fc.Arbitrary<readonly string[]> => fc.subarray([...groups], { maxLength: most });

/** A runbook rule; `every` says whether it allows its runbooks on every connection. */
export type DrawnRunbookRule = {
  readonly groups: readonly string[];
  readonly every: boolean;
  readonly named: readonly boolean[];
  readonly files: readonly RunbookFile[];
};

const file = fc.record({
  repository: fc.constantFrom(...new Set(files.map(({ repository }) => repository))),
  name: fc.constantFrom(...patterns.filter((pattern) => pattern !== '')),
});

const runbookRule: fc.Arbitrary<DrawnRunbookRule> = fc.record({
  groups: group(2),
  every: fc.constantFrom(false, false, false, true),
  named: fc.tuple(...connections.map(() => fc.boolean())),
  files: fc.uniqueArray(file, { maxLength: 2, selector: ({ repository, name }) => `${repository} ${name}` }),
});

/** A rule of the gateway that only attributes attach. */
export type AttachedRule = { readonly attributes: readonly string[]; readonly blocks: readonly string[] };

function attachedRule(blocked: readonly string[]): fc.Arbitrary<AttachedRule> {
  return fc.record({
    attributes: fc.subarray([...attributes], { minLength: 1, maxLength: 2 }),
    blocks: fc.subarray([...blocked], { minLength: 1 }),
  });
}

/** The words that guardrails of the gateway deny, and the types that its masking rules hide. */
export const contentPools = { words: ['DROP', 'GRANT', 'TRUNCATE'], types: ['EMAIL_ADDRESS', 'PERSON', 'URL'] } as const;

/** What is drawn beside the connections of a pair. */
export type PermissionDrawing = {
  /** The runbook rules with manifests; the last one takes another name in the manifests where `renames`. */
  readonly books: readonly SidesOf<DrawnRunbookRule>[];
  readonly renames: boolean;
  /** Whether the gateway has other runbook rules, too. */
  readonly unmanaged: boolean;
  readonly grants: readonly SidesOf<{ readonly groups: readonly string[] }>[];
  readonly guardrails: readonly AttachedRule[];
  readonly maskings: readonly AttachedRule[];
  /** Which write an apply stops after, among all of them. */
  readonly stop: number;
};

export const permissionDrawing: fc.Arbitrary<PermissionDrawing> = fc.record({
  books: fc.array(sidesOf(runbookRule), { minLength: 1, maxLength: 2 }),
  renames: fc.boolean(),
  unmanaged: fc.constantFrom(false, false, true),
  grants: fc.tuple(...declaredAttributes.map(() => sidesOf(fc.record({ groups: group(2) })))),
  guardrails: fc.array(attachedRule(contentPools.words), { maxLength: 2 }),
  maskings: fc.array(attachedRule(contentPools.types), { maxLength: 2 }),
  stop: fc.noBias(fc.nat({ max: 999 })).map((number) => number / 1000),
});
