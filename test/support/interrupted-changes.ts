import * as fc from 'fast-check';
import { registry } from '../../src/kinds/index.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Manifest } from './scenario.ts';

/** The manifests of an apply, and those of the next one. */
export type Succession = Readonly<Record<'before' | 'after', readonly Manifest[]>>;

type Side = keyof Succession;

/** What happens to an object between both applies. */
type Fate = 'kept' | 'changed' | 'created' | 'deleted' | 'renamed';

/** An object: its forms and its attachments on both sides. */
type ObjectChoice = {
  readonly name: string;
  readonly kind: string;
  readonly fate: Fate;
  readonly forms: Readonly<Record<Side, number>>;
  /** The objects at the other ends that the manifest lists, in each of both forms. */
  readonly ends: Readonly<Record<Side, readonly string[]>>;
  readonly secrets: Readonly<Record<Side, number>>;
  readonly groups: Readonly<Record<Side, number>>;
};

const connections = ['one-db', 'two-db', 'three-db'];
/** Connections that stay as they are. */
const [kept, spare] = ['keep-db', 'spare-db'];
/** Access-request rules; the second one governs nothing that the first one does. */
const asking = ['asks', 'asks-too'] as const;

const modes = ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'];
const needed = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled' };

function modesOf(open: readonly string[]): JsonObject {
  return Object.fromEntries(modes.map((name) => [name, open.includes(name) ? 'enabled' : 'disabled']));
}

const connectionForms: readonly JsonObject[] = [
  modesOf(modes),
  { ...modesOf(modes), reviewers: ['dba'] },
  { ...modesOf(modes.slice(1)), reviewers: ['dba', 'sre'], redact_types: ['EMAIL_ADDRESS'], access_max_duration: 600 },
  { ...modesOf([]), reviewers: ['sre'] },
];
/** What the public gateway has besides. */
const groupForms: readonly JsonObject[] = [{}, { access_groups: ['dba'] }, { access_groups: ['dba', 'sre'] }, { access_groups: [] }];

const secretForms: readonly (Json | undefined)[] = [undefined, { value: 'one' }, { value: 'two' }, { keep: true }];

const words = (...given: readonly string[]): JsonObject => ({ rules: [{ type: 'deny_words_list', words: [...given] }] });
const supported = (...types: readonly string[]): JsonObject => ({
  supported_entity_types: [{ name: 'CONTACT', entity_types: [...types] }],
});

/** The forms of each kind besides connections. */
const ruleForms: Readonly<Record<string, readonly JsonObject[]>> = {
  GuardrailRule: [{ input: words('DROP') }, { input: words('DROP', 'TRUNCATE') }, { input: words('DELETE'), description: 'why' }],
  DataMaskingRule: [supported('PERSON'), { ...supported('PERSON', 'URL'), score_threshold: 0.5 }, supported('URL')],
  Attribute: [{}, { description: 'why' }, { access_groups: ['dba'] }],
  AccessRequestRule: [
    { access_type: 'jit', reviewers_groups: ['dba'], min_approvals: 1 },
    { access_type: 'jit', reviewers_groups: ['dba', 'sre'], min_approvals: 2 },
    { access_type: 'jit_command', reviewers_groups: ['sre'], min_approvals: 1 },
    { access_type: 'command', reviewers_groups: ['dba'], min_approvals: 1 },
  ],
};

const [onlyNative, onlyCommands] = [0, 3];

function formOf(kind: string, index: number): JsonObject | undefined {
  const forms = ruleForms[kind] ?? [];
  return forms[index % forms.length];
}

/** The field of each kind with the connections that it lists. */
const endFields: Readonly<Record<string, string>> = {
  GuardrailRule: 'connection_ids',
  DataMaskingRule: 'connection_ids',
  AccessRequestRule: 'connection_names',
};

const fate: fc.Arbitrary<Fate> = fc.constantFrom('kept', 'kept', 'changed', 'renamed', 'created', 'deleted');

function bothSides<T>(one: fc.Arbitrary<T>): fc.Arbitrary<Readonly<Record<Side, T>>> {
  return fc.record({ before: one, after: one });
}

function choiceOf(kind: string, name: string, others: readonly string[]): fc.Arbitrary<ObjectChoice> {
  const forms = bothSides(fc.nat({ max: 3 }));
  const ends = bothSides(fc.subarray([...others]));
  return fc.record({ fate, forms, ends, secrets: forms, groups: forms }).map((one) => ({ ...one, kind, name }));
}

/** Generates a small set of changes of every sort, for the kinds of a dialect. */
export function changesOn(dialect: 'interface' | 'hoop'): fc.Arbitrary<Succession> {
  const isHoop = dialect === 'hoop';
  const rules = [
    ['GuardrailRule', 'words'],
    ['GuardrailRule', 'more-words'],
    ['DataMaskingRule', 'masks'],
    ...(isHoop ? [['Attribute', 'pci'] as const, ...asking.map((name) => ['AccessRequestRule', name] as const)] : []),
  ] as const;
  const listed = rules.flatMap(([kind, name]) => (kind === 'GuardrailRule' || kind === 'Attribute' ? [name] : []));
  const choices = [
    ...connections.map((name) => choiceOf('Connection', name, listed)),
    ...rules.map(([kind, name]) => choiceOf(kind, name, kind === 'Attribute' ? [] : [...connections, kept])),
  ];
  return fc
    .tuple(fc.nat({ max: 7 }), fc.nat({ max: 3 }), ...choices)
    .map(([sort, ends, ...drawn]) => {
      const all = sort < 2 ? exchanged(drawn) : sort < 4 && isHoop ? entangled(drawn, ends) : drawn;
      return { before: manifestsOn('before', all, isHoop), after: manifestsOn('after', all, isHoop) };
    })
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

/** Returns the choices with two access-request rules that exchange what they govern. */
function exchanged(choices: readonly ObjectChoice[]): readonly ObjectChoice[] {
  const [first, second] = asking.map((name) => choices.find((one) => one.name === name)?.ends.before ?? []);
  const other = (name: string): readonly string[] | undefined => (name === asking[0] ? second : name === asking[1] ? first : undefined);
  return choices.map((one) => {
    const after = other(one.name);
    return after === undefined ? one : { ...one, fate: 'changed', ends: { ...one.ends, after } };
  });
}

/**
 * Returns the choices with a rule that another one takes from while a connection of it is replaced, and that is deleted, changes its type, is renamed, or
 * swaps a step with the other one.
 */
function entangled(choices: readonly ObjectChoice[], end: number): readonly ObjectChoice[] {
  const [replaced = '', moving = ''] = connections;
  const fates: readonly Fate[] = ['deleted', 'changed', 'renamed', 'changed'];
  const isSwap = end === 3;
  return choices.map((one): ObjectChoice => {
    const { name, forms, ends } = one;
    if (name === replaced) return { ...one, fate: 'renamed' };
    if (name === moving) return { ...one, fate: one.fate === 'renamed' ? 'renamed' : 'kept' };
    if (name === asking[0])
      return {
        ...one,
        fate: fates[end] ?? 'changed',
        forms: isSwap ? { before: onlyNative, after: onlyCommands } : end === 1 ? { ...forms, after: forms.before + 1 } : forms,
        ends: { before: [replaced, moving], after: isSwap ? [moving] : ends.after.filter((other) => other !== moving) },
      };
    if (name !== asking[1]) return one;
    const after = [...new Set([moving, ...ends.after])];
    const swapped = { forms: { before: onlyCommands, after: onlyNative }, ends: { before: [moving], after } };
    return { ...one, fate: 'changed', ...(isSwap ? swapped : { ends: { ...ends, after } }) };
  });
}

function manifestsOn(side: Side, choices: readonly ObjectChoice[], isHoop: boolean): readonly Manifest[] {
  const names = new Map(choices.flatMap((one) => (isOn(side, one) ? [[one.name, nameOn(side, one)] as const] : [])));
  const kinds = new Map(choices.map(({ name, kind }) => [name, kind]));
  const endsOf = ({ ends, fate: what }: ObjectChoice): readonly string[] => ends[what === 'kept' ? 'before' : side];
  const namesOf = (one: ObjectChoice, kind?: string): readonly string[] =>
    endsOf(one).flatMap((name) => (name === kept ? [kept] : kind === undefined || kinds.get(name) === kind ? (names.get(name) ?? []) : []));
  const typeOf = ({ kind, forms, fate: what }: ObjectChoice): unknown =>
    formOf(kind, forms[what === 'kept' ? 'before' : side])?.['access_type'];
  const governed = (one: ObjectChoice): readonly string[] => {
    const isSecond = one.name === asking[1];
    const first = choices.find(({ name }) => name === asking[0]);
    const isFree = first === undefined || !isOn(side, first) || new Set([typeOf(one), typeOf(first), 'jit_command']).size === 3;
    const taken = isFree ? [] : namesOf(first);
    const ends = namesOf(one).filter((name) => !isSecond || (name !== kept && !taken.includes(name)));
    return ends.length > 0 ? ends : [isSecond ? spare : kept];
  };
  return [
    ...[kept, spare].map((name): Manifest => ({ kind: 'Connection', metadata: { name }, spec: { ...needed, ...modesOf(modes) } })),
    ...choices.flatMap((one): readonly Manifest[] => {
      if (!isOn(side, one)) return [];
      const { kind, name, fate: what, forms, groups } = one;
      const isRenamed = side === 'after' && what === 'renamed';
      const former = isRenamed ? { [registry.get(kind)?.renamable === true ? 'renamedFrom' : 'replaces']: name } : {};
      const metadata = { name: nameOn(side, one), ...former };
      const of = what === 'kept' ? 'before' : side;
      const form = forms[of];
      if (kind !== 'Connection') {
        const field = endFields[kind];
        const listed = field === undefined ? {} : { [field]: kind === 'AccessRequestRule' ? [...governed(one)] : [...namesOf(one)] };
        return [{ kind, metadata, spec: { ...formOf(kind, form), ...listed } }];
      }
      const value = secretForms[secretOn(side, one)];
      const attributes = namesOf(one, 'Attribute');
      // A manifest may leave the field to the gateway, which takes a deleted attribute from the connection, and from its successor.
      const isDeleted = choices.every((other) => other.kind !== 'Attribute' || !isOn(side, other));
      const isLeft = side === 'after' && isDeleted && groups.after > 1;
      const spec = {
        ...needed,
        ...connectionForms[form],
        ...(isHoop ? { ...groupForms[groups[of]], ...(isLeft ? {} : { attributes: [...attributes] }) } : {}),
        guardrail_rules: [...namesOf(one, 'GuardrailRule')],
        ...(value === undefined ? {} : { secret: { 'envvar:PASS': value } }),
      };
      return [{ kind, metadata, spec }];
    }),
  ];
}

function isOn(side: Side, { fate: what }: ObjectChoice): boolean {
  return what !== (side === 'before' ? 'created' : 'deleted');
}

function nameOn(side: Side, { name, fate: what }: ObjectChoice): string {
  return side === 'after' && what === 'renamed' ? `new-${name}` : name;
}

/** A secret is kept only where the gateway has it. */
function secretOn(side: Side, { fate: what, secrets }: ObjectChoice): number {
  const [before, after] = [secrets.before % 3, secrets.after];
  if (side === 'before' || what === 'kept') return before;
  return after === 3 && (what === 'created' || before === 0) ? 1 : after;
}
