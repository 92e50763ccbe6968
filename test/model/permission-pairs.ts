import * as fc from 'fast-check';
import type { Manifest } from '../support/scenario.ts';
import { accessPairs, accessPairText, type AccessPair, withoutRow } from './access-pairs.ts';
import type { RunbookPermission } from './access-model.ts';
import { accessPools } from './access-pools.ts';
import { entriesOf, textOf, textsOf } from './gateway-objects.ts';
import { declaredAttributes, permissionDrawing, type AttachedRule, type PermissionDrawing } from './permission-drawing.ts';
import { rulePairs } from './rule-pairs.ts';

/** A pair whose runbook rules and attributes have manifests, and rules of the gateway that attributes attach. */
export type PermissionPair = AccessPair & {
  readonly guardrails: readonly AttachedRule[];
  readonly maskings: readonly AttachedRule[];
  /** Which write an apply stops after, from 0 for the first to 1 for the last. */
  readonly stop: number;
};

type SideName = 'base' | 'desired' | 'live';

/** Generates changes of runbook rules and attributes beside changes of connections, and in half of the pairs of access-request rules. */
export const permissionPairs: fc.Arbitrary<PermissionPair> = fc
  .tuple(fc.oneof(accessPairs, rulePairs), permissionDrawing)
  .map(([pair, drawn]) => pairWith(pair, drawn));

function pairWith(pair: AccessPair, drawn: PermissionDrawing): PermissionPair {
  const { base, manifests, live, objects } = pair;
  const isFirst = base === undefined;
  const liveGrants = grantsOn('live', drawn);
  const books = isFirst ? [] : booksOn('live', drawn, live).map(asPermission);
  const unmanaged = drawn.unmanaged ? objects.runbookRules : [];
  return {
    ...pair,
    prune: true,
    base: base && [
      ...base.map((one) => withoutRow(one, objects.rows)),
      ...grantsOn('base', drawn).map(asManifest),
      ...booksOn('base', drawn, base),
    ],
    manifests: withoutNamed(manifests, drawn).concat(grantsOn('desired', drawn).map(asManifest), booksOn('desired', drawn, manifests)),
    unread: undefined,
    objects: {
      ...objects,
      license: 'enterprise',
      granted: { ...omitted(objects.granted, declaredAttributes), ...Object.fromEntries(liveGrants.map((one) => [one.name, one.groups])) },
      runbookRules: [...books, ...unmanaged],
    },
    guardrails: drawn.guardrails,
    maskings: drawn.maskings,
    stop: drawn.stop,
  };
}

type Grant = { readonly name: string; readonly groups: readonly string[] };

function grantsOn(side: SideName, { grants }: PermissionDrawing): readonly Grant[] {
  return grants.flatMap((sides, index): readonly Grant[] => {
    const { present, groups } = sides[side] ?? sides.base;
    return present ? [{ name: declaredAttributes[index] ?? '', groups }] : [];
  });
}

function asManifest({ name, groups }: Grant): Manifest {
  return { kind: 'Attribute', metadata: { name }, spec: { access_groups: [...groups] } };
}

function omitted<Value>(values: Readonly<Record<string, Value>>, names: readonly string[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

/** Returns manifests that do not name the attributes whose manifest is removed: such a plan is refused. */
function withoutNamed(manifests: readonly Manifest[], drawn: PermissionDrawing): readonly Manifest[] {
  const kept = new Set(grantsOn('desired', drawn).map(({ name }) => name));
  const removed = grantsOn('base', drawn).flatMap(({ name }) => (kept.has(name) ? [] : [name]));
  return manifests.flatMap((one) => {
    if (one.spec['attributes'] === undefined) return [one];
    const attributes = textsOf(one.spec['attributes']).filter((name) => !removed.includes(name));
    // An access-request rule has a target.
    const isIdle = one.kind === 'AccessRequestRule' && attributes.length + textsOf(one.spec['connection_names']).length === 0;
    return isIdle ? [] : [{ ...one, spec: { ...one.spec, attributes } }];
  });
}

const bookNames = ['nightly', 'weekly'];

function booksOn(side: SideName, { books, renames }: PermissionDrawing, among: readonly Manifest[]): readonly Manifest[] {
  const known = new Set(among.filter(({ kind }) => kind === 'Connection').map(({ metadata }) => metadata.name));
  return books.flatMap((sides, index): readonly Manifest[] => {
    const { present, every, named, files, groups } = sides[side] ?? sides.base;
    const connections = every ? [] : accessPools.connections.filter((name, at) => named[at] === true && known.has(name));
    if (!present || (!every && connections.length === 0)) return [];
    const name = bookNames[index] ?? '';
    const isRenamed = renames && side === 'desired' && index === books.length - 1;
    const metadata = isRenamed ? { name: `${name}-next`, renamedFrom: name } : { name };
    const spec = { connections, user_groups: [...groups], runbooks: files.map((file) => ({ ...file })) };
    return [{ kind: 'RunbookRule', metadata, spec }];
  });
}

/** Returns the rule that a manifest declares. */
export function asPermission({ metadata: { name }, spec }: Manifest): RunbookPermission {
  return {
    name,
    groups: textsOf(spec['user_groups']),
    connections: textsOf(spec['connections']),
    files: entriesOf(spec['runbooks']).map((file) => ({ repository: textOf(file['repository']), name: textOf(file['name']) })),
  };
}

/** Prints a pair with one line for each object. */
export function permissionPairText(pair: PermissionPair): string {
  return accessPairText(pair);
}
