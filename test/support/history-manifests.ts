import type { DesiredState } from '../../src/model/desired.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Pointer } from '../../src/model/pointer.ts';
import { nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { desiredState } from './desired-state.ts';
import { neededFields } from './manifests.ts';
import type { MemoryGateway } from './memory-gateway.ts';
import type { Manifest } from './scenario.ts';

/** A manifest before it is written: what it is called, which of three forms it has, and what it states of secrets. */
export type Entry = {
  readonly kind: 'Connection' | 'GuardrailRule';
  readonly variant: number;
  readonly secret?: number;
  readonly former?: string;
};

/** The manifests of a commit, and the content of the file that secrets come from. */
export type Tree = { readonly entries: ReadonlyMap<string, Entry>; readonly content: string };

/** What a manifest states, in words that only the test knows: `text` is equal where the effect is. */
export type Fact = {
  readonly id: ResourceId;
  /** Empty for the declaration itself. */
  readonly path: Pointer;
  /** The other end of an attachment. */
  readonly other?: ResourceId;
  readonly text: string;
};

export const secretPath: Pointer = '/secret/envvar:PASS';

/** A form of a secret: the notation in the manifest, what it means, and what the gateway gets; neither for a key that stays live. */
type SecretForm = {
  readonly notation: Json;
  readonly meaning: (content: string) => string;
  readonly sent?: (content: string) => string;
};

const environment: Readonly<Record<string, string>> = { OSTIARY_SECRET_A: 'from the environment', OSTIARY_SECRET_B: 'b' };

const inline = (notation: Json, value: string): SecretForm => ({ notation, meaning: () => value, sent: () => value });
const reference = (text: string): SecretForm => inline(text, text);
const variable = (env: string): SecretForm => ({
  notation: { valueFrom: { env } },
  meaning: () => `$${env}`,
  sent: () => encoded(environment[env] ?? ''),
});

/** Every form of a secret; a map without it, and undefined for a manifest that states no map. Some send the same value. */
const secrets: readonly (SecretForm | 'none' | undefined)[] = [
  undefined,
  'none',
  inline({ value: 'a' }, 'YQ=='),
  inline('YQ==', 'YQ=='),
  inline({ value: 'b' }, 'Yg=='),
  reference('_envjson:app:a'),
  reference('_envjson:app:b'),
  variable('OSTIARY_SECRET_A'),
  variable('OSTIARY_SECRET_B'),
  { notation: { valueFrom: { file: 'a.pem' } }, meaning: (content) => `file ${content}`, sent: encoded },
  { notation: { keep: true }, meaning: () => 'kept' },
];

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** How many forms a secret has. */
export const secretForms: number = secrets.length;

/** The forms of inline values. */
export const inlineForms: readonly number[] = [2, 3, 4];

export function kindOfName(name: string): Entry['kind'] {
  return name.startsWith('g') ? 'GuardrailRule' : 'Connection';
}

function reviewersOf({ variant }: Pick<Entry, 'variant'>): readonly string[] {
  return variant === 1 ? ['dba'] : [];
}

/** Returns the fields of an object that are the same in its manifest and on the gateway. */
export function specOf(name: string, entry: Pick<Entry, 'variant'>): JsonObject {
  if (kindOfName(name) === 'Connection') return { ...neededFields, subtype: 'postgres', reviewers: reviewersOf(entry) };
  return { input: { rules: [{ name: 'words', type: 'deny_words_list', words: [`DROP ${entry.variant}`] }] } };
}

/** Returns the rules of a connection: all if it has the form 2, and those of the form 1 if it is `keep`. */
function rulesOf(name: string, { variant }: Entry, { entries }: Tree): readonly string[] {
  return [...entries].flatMap(([rule, one]) =>
    one.kind === 'GuardrailRule' && (variant === 2 || (name === 'keep' && one.variant === 1)) ? [rule] : [],
  );
}

/** Writes the manifests of a commit. */
function manifestsOf({ entries }: Tree): readonly Manifest[] {
  const rules = [...entries].flatMap(([name, { kind }]) => (kind === 'GuardrailRule' ? [name] : []));
  return [...entries].map(([name, entry]) => {
    const { kind, variant, former } = entry;
    const secret = secretOf(entry);
    if (kind === 'GuardrailRule') {
      const spec = { ...specOf(name, entry), ...(variant === 1 && entries.has('keep') ? { connection_ids: ['keep'] } : {}) };
      return { kind, metadata: { name, ...(former === undefined ? {} : { renamedFrom: former }) }, spec };
    }
    const spec = {
      ...specOf(name, entry),
      ...(variant === 2 ? { guardrail_rules: rules } : {}),
      ...(secret === undefined ? {} : { secret: secret === 'none' ? {} : { 'envvar:PASS': secret.notation } }),
    };
    return { kind, metadata: { name, ...(former === undefined ? {} : { replaces: former }) }, spec };
  });
}

/** Returns trees that differ from one in a single object: each form of the secret of `keep`, and each form of some objects. */
export function siblingsOf({ entries, content }: Tree): readonly Tree[] {
  const withEntry = (name: string, more: Partial<Entry>): readonly Tree[] => {
    const entry = entries.get(name);
    return entry === undefined ? [] : [{ entries: new Map([...entries, [name, { ...entry, ...more }]]), content }];
  };
  const variants = ['keep', 'c1', 'g1'].flatMap((name) => [0, 1, 2].flatMap((variant) => withEntry(name, { variant })));
  return [...secrets.flatMap((_, secret) => withEntry('keep', { secret })), ...variants];
}

/** Loads the manifests of a commit; without `resolves` sources stay unresolved. */
export function loadTree(tree: Tree, resolves: boolean): DesiredState {
  return desiredState(manifestsOf(tree), {
    isUnresolved: !resolves,
    sourceValue: (source) => ('env' in source ? (environment[source.env] ?? '') : tree.content),
    content: tree.content,
  });
}

function secretOf({ secret = 0 }: Entry): SecretForm | 'none' | undefined {
  return secrets[secret];
}

/** Lists everything that the manifests of a commit state. */
export function factsOf(tree: Tree): readonly Fact[] {
  return [...tree.entries].flatMap(([name, entry]): readonly Fact[] => {
    const id = resourceId(entry.kind, name);
    const declared: Fact = { id, path: '', text: 'declared' };
    if (entry.kind === 'GuardrailRule') return [declared, { id, path: '/input', text: String(entry.variant) }];
    const secret = secretOf(entry);
    return [
      declared,
      { id, path: '/reviewers', text: reviewersOf(entry).join(' ') },
      ...(secret === undefined ? [] : [{ id, path: '/secret', text: 'stated' }]),
      ...(secret === undefined || secret === 'none' ? [] : [{ id, path: secretPath, text: secret.meaning(tree.content) }]),
      ...rulesOf(name, entry, tree).map((rule): Fact => ({
        id,
        path: '/guardrail_rules',
        other: resourceId('GuardrailRule', rule),
        text: 'attached',
      })),
    ];
  });
}

/** Returns the facts of which two commits state something else, or only one of them anything. Attachments of objects that one of them lacks follow from those. */
export function differingFacts(one: Tree, other: Tree): readonly Fact[] {
  const [left, right] = [byPlace(factsOf(one)), byPlace(factsOf(other))];
  const places = new Set([...left.keys(), ...right.keys()]);
  const isIn = (all: ReadonlyMap<string, Fact>, id: ResourceId): boolean => all.has(placeOf({ id, path: '', text: '' }));
  return [...places].flatMap((place) => {
    const fact = left.get(place) ?? right.get(place);
    if (fact === undefined || left.get(place)?.text === right.get(place)?.text) return [];
    const ends = [fact.id, ...(fact.other === undefined ? [] : [fact.other])];
    return fact.path !== '' && ends.some((id) => !isIn(left, id) || !isIn(right, id)) ? [] : [fact];
  });
}

function placeOf({ id, path, other = id }: Fact): string {
  return `${id} ${path} ${other}`;
}

function byPlace(facts: readonly Fact[]): ReadonlyMap<string, Fact> {
  return new Map(facts.map((fact) => [placeOf(fact), fact]));
}

/** Returns what the manifests of a commit state and the gateway does not have. */
export function missingFacts(tree: Tree, state: ReturnType<MemoryGateway['state']>): readonly Fact[] {
  return factsOf(tree).filter(({ id, path, other, text }) => {
    const object = state[id];
    if (object === undefined) return true;
    if (other !== undefined) return object.edges?.['guardrail_rules']?.includes(other) !== true;
    if (path === '/reviewers')
      return JSON.stringify(object.spec?.['reviewers'] ?? []) !== JSON.stringify(text === '' ? [] : text.split(' '));
    if (path === '/input') return !JSON.stringify(object.spec?.['input']).includes(`"DROP ${text}"`);
    return path === secretPath && !isSent(tree, id, object.secrets?.[path]);
  });
}

/** Returns whether the gateway has a secret as the manifests send it; a kept one has any value. */
function isSent({ entries, content }: Tree, id: ResourceId, live: string | undefined): boolean {
  const secret = secretOf(entries.get(nameOf(id)) ?? { kind: 'Connection', variant: 0 });
  if (secret === undefined || secret === 'none') return true;
  return secret.sent === undefined ? live !== undefined : live === secret.sent(content);
}
