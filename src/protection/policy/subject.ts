import type { DesiredResource } from '../../model/desired.ts';
import { asObject, type Json, type JsonObject, isObject, objectsIn } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { accessModes, type AccessMode } from '../../model/protection/access-objects.ts';
import { type Pointer, isPointerWithin, pointer, tokensOf, overlaps } from '../../model/pointer.ts';
import { type ControlType, controlTypes } from '../../model/protection/protection.ts';
import { type ResourceId, kindOf, nameOf } from '../../model/resource.ts';
import { looksLikeCredential } from '../../model/secret.ts';
import { type Posture, controlsOf, effectiveControls } from '../controls/control-row.ts';
import { enforcementNote, isEnforcedControl, levelsOf } from '../controls/enforcement.ts';
import { type PeopleOfMode, peopleOf } from '../access/people.ts';
import { type ProtectionSnapshot, type ResourceSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/** A value that is hidden; an expression that depends on it cannot be evaluated. */
export class UnavailableError extends Error {}

/** An expression fails at a character (index from 0), whatever a token may read. */
export class ExpressionError extends Error {
  readonly hint: string;
  readonly start: number;

  constructor(message: string, hint: string, start = 0) {
    super(message);
    this.hint = hint;
    this.start = start;
  }
}

/** Returns the error of an expression that reads more than it may. */
export function budgetError(): ExpressionError {
  return new ExpressionError('the evaluation exceeds its limit', 'write several shorter expressions');
}

/** Reads a field of a value; throws UnavailableError when it is hidden. */
type FieldReader = (field: string) => unknown;

/** The variables of an expression. */
export type PolicyVariables = {
  readonly connection: CelObject;
  readonly guardrails: readonly CelObject[];
  readonly masking: readonly CelObject[];
  readonly posture: CelObject;
  readonly access: CelObject;
};

/** A CEL value whose fields are read on demand. */
class CelObject {
  readonly #read: FieldReader;

  constructor(read: FieldReader) {
    this.#read = read;
  }

  ask(field: string): unknown {
    return this.#read(field);
  }
}

type CelClass = new (read: FieldReader) => CelObject;

/** Defines the fields of a CEL type as getters of its class. */
export function defineFields(type: CelClass, fields: readonly string[]): void {
  for (const field of fields) {
    const get = function get(this: CelObject): unknown {
      return this.ask(field);
    };
    Object.defineProperty(type.prototype, field, { configurable: true, get });
  }
}

/** The fields of all CEL types except Connection, with the names of the interface; nested types come first. */
export const fieldTypes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Secret: { source: 'string', credential: 'bool' },
  Entry: { name: 'string', type: 'string', words: 'list<string>', pattern_regex: 'string', message: 'string' },
  Side: { rules: 'list<Entry>' },
  Guardrail: { name: 'string', description: 'string', input: 'Side', output: 'Side' },
  Group: { name: 'string', entity_types: 'list<string>' },
  Entity: { name: 'string', score: 'double', regex: 'string', deny_list: 'list<string>' },
  MaskingRule: {
    name: 'string',
    description: 'string',
    score_threshold: 'double',
    supported_entity_types: 'list<Group>',
    custom_entity_types: 'list<Entity>',
  },
  Posture: { ...Object.fromEntries(controlTypes.map((control) => [control, 'list<string>'])), approvals: 'int' },
  People: {
    groups: 'list<string>',
    approval: 'bool',
    reviewers_groups: 'list<string>',
    min_approvals: 'int',
    force_approval_groups: 'list<string>',
    access_max_duration: 'int',
  },
  Access: { connect: 'list<People>', exec: 'list<People>', runbooks: 'list<People>' } satisfies Record<AccessMode, string>,
};

/** The class of each CEL type by name; CEL distinguishes types by their class. */
export const celClasses: Readonly<Record<string, CelClass>> = Object.fromEntries(
  [...Object.keys(fieldTypes), 'Connection'].map((name) => [name, class extends CelObject {}]),
);

/** Returns the CEL types of a connection's fields from its schema, plus name, manager and secrets (without values). */
export function connectionFieldTypes(schema: JsonObject): Readonly<Record<string, string>> {
  const spec = asObject(asObject(schema['$defs'])['spec']);
  const fields = Object.entries(asObject(spec['properties'])).flatMap(([name, node]) =>
    isObject(node) && !('not' in node) ? [[name, typeOf(node)] as const] : [],
  );
  return { ...Object.fromEntries(fields), name: 'string', managed_by: 'string', secret: 'map<string, Secret>' };
}

function typeOf({ type }: JsonObject): string {
  const types = Array.isArray(type) ? type : [type];
  const names: Readonly<Record<string, string>> = {
    array: 'list<string>',
    object: 'map<string, string>',
    integer: 'int',
    number: 'double',
    boolean: 'bool',
  };
  return types.flatMap((one) => (typeof one === 'string' ? (names[one] ?? []) : []))[0] ?? 'string';
}

/** Converts a JSON value to CEL; returns undefined for a missing number. */
function celValue(value: Json | undefined, type: string): unknown {
  if (value === undefined || value === null) return empty(type);
  if (type === 'int') return typeof value === 'number' ? BigInt(Math.trunc(value)) : undefined;
  return isObject(value) ? new Map(Object.entries(value)) : value;
}

/** Returns the value of an unset field: empty, or undefined for numbers, which have no empty value. */
function empty(type: string): unknown {
  if (type === 'string') return '';
  if (type === 'bool') return false;
  if (type.startsWith('list')) return [];
  return type.startsWith('map') ? new Map() : undefined;
}

/** The maximum weight of the values that one expression may read for one connection. */
const maxReads = 200_000;

/** A connection with everything that a policy may read. */
export type PolicySubject = {
  readonly id: ResourceId;
  readonly snapshot: ProtectionSnapshot;
  readonly posture: Posture;
  readonly types: Readonly<Record<string, string>>;
  readonly desired: DesiredResource | undefined;
  readonly live: LiveResource | undefined;
  /** The gateway was not read: a connection that is not in `live` may exist. */
  readonly isUnread: boolean;
};

/** Returns the variables for one more expression, which names some texts, and resets its read budget. */
export type VariableProvider = (texts: readonly string[]) => PolicyVariables;

/** Returns the variables of a connection. Reading a hidden value throws UnavailableError. */
export function variablesOf(subject: PolicySubject): VariableProvider {
  const { id, snapshot, posture } = subject;
  let left = maxReads;
  const spend: Spend = (value) => {
    left -= weightOf(value);
    if (left < 0) throw budgetError();
    return value;
  };
  const rules = [...rulesOn(snapshot, id)].toSorted();
  const ofKind = (kind: string): readonly ResourceId[] => rules.filter((rule) => kindOf(rule) === kind);
  const guardrails = ofKind('GuardrailRule');
  const masking = ofKind('DataMaskingRule');
  const variables = {
    connection: view('Connection', connectionRead(subject, guardrails, spend)),
    guardrails: guardrails.map((rule) => ruleView('Guardrail', rule, snapshot, spend)),
    masking: masking.map((rule) => ruleView('MaskingRule', rule, snapshot, spend)),
    posture: view('Posture', postureRead(posture, spend)),
  };
  return (texts) => {
    left = maxReads;
    return { ...variables, access: view('Access', accessRead(posture, texts, spend)) };
  };
}

type Spend = (value: unknown) => unknown;

function weightOf(value: unknown): number {
  if (Array.isArray(value)) return 1 + value.length;
  if (value instanceof Map) return 1 + value.size;
  return typeof value === 'string' ? 1 + Math.trunc(value.length / 64) : 1;
}

function view(type: string, read: FieldReader): CelObject {
  const Made = celClasses[type] ?? CelObject;
  return new Made(read);
}

function connectionRead(
  { id, snapshot, types, desired, live, isUnread }: PolicySubject,
  guardrails: readonly ResourceId[],
  spend: Spend,
): FieldReader {
  const resource = snapshot.resources.get(id) ?? { spec: {}, unknown: [''] };
  return (field) => {
    if (field === 'name') return nameOf(id);
    if (field === 'managed_by') return live?.managedBy ?? '';
    if (field === 'secret') return spend(secretsOf({ desired, live, isUnread }));
    if (isUnseen(resource.unknown, field)) throw new UnavailableError(`connection.${field} cannot be seen`);
    return spend(field === 'guardrail_rules' ? guardrails.map(nameOf) : celValue(resource.spec[field], types[field] ?? 'string'));
  };
}

function isUnseen(unknown: readonly Pointer[], field: string): boolean {
  const path = pointer(field);
  return unknown.some((one) => overlaps(one, path));
}

const secretField = '/secret';

/** Returns the secrets after the plan by key, each with its source; a secret outside the manifest has the source `kept`. */
function secretsOf({ desired, live, isUnread }: Pick<PolicySubject, 'desired' | 'live' | 'isUnread'>): ReadonlyMap<string, CelObject> {
  const all = new Map<string, string>();
  const isWhole =
    desired?.wholeSecrets.includes(secretField) === true && !desired.ignore.some((path) => isPointerWithin(secretField, path));
  if (!isWhole) {
    const isHidden = live === undefined ? isUnread : live.unknown.includes(secretField);
    if (isHidden) throw new UnavailableError('connection.secret cannot be seen');
    for (const path of [...Object.keys(live?.secrets ?? {}), ...(live?.unknown ?? [])]) add(all, path, 'kept');
  }
  for (const [path, { source }] of Object.entries(desired?.secrets ?? {})) add(all, path, sourceOf(source));
  return new Map(
    [...all].map(([key, source]) => [key, view('Secret', (field) => (field === 'source' ? source : looksLikeCredential(key)))] as const),
  );
}

function add(all: Map<string, string>, path: Pointer, source: string): void {
  const [name, key] = tokensOf(path);
  if (name === 'secret' && key !== undefined) all.set(key, source);
}

function sourceOf(source: string): string {
  const [kind = ''] = source.split(':');
  return ['inline', 'env', 'file', 'reference'].includes(kind) ? kind : 'kept';
}

function ruleView(type: 'Guardrail' | 'MaskingRule', rule: ResourceId, snapshot: ProtectionSnapshot, spend: Spend): CelObject {
  const resource = snapshot.resources.get(rule);
  const types = fieldTypes[type] ?? {};
  return view(type, (field) => {
    if (field === 'name') return nameOf(rule);
    if (resource === undefined || isUnseen(resource.unknown, field)) throw new UnavailableError(`${field} of ${rule} cannot be seen`);
    return spend(ruleValue(resource, field, { type: types[field] ?? 'string', spend }));
  });
}

type Reading = { readonly type: string; readonly spend: Spend };

function ruleValue({ spec }: ResourceSnapshot, field: string, { type, spend }: Reading): unknown {
  const value = spec[field];
  if (type === 'Side') return view('Side', () => spend(entriesOf(isObject(value) ? value['rules'] : undefined, 'Entry', spend)));
  const inner = /^list<([A-Z]\w*)>$/.exec(type)?.[1];
  return inner === undefined ? celValue(value, type) : entriesOf(value, inner, spend);
}

function entriesOf(value: Json | undefined, type: string, spend: Spend): readonly CelObject[] {
  const types = fieldTypes[type] ?? {};
  return objectsIn(value).map((entry: JsonObject) => view(type, (field) => spend(celValue(entry[field], types[field] ?? 'string'))));
}

function postureRead(posture: Posture, spend: Spend): FieldReader {
  return (field) => {
    if (field === 'approvals') {
      if (posture.incomplete.has('review')) throw new UnavailableError('posture.approvals cannot be seen');
      return BigInt(posture.access.own?.needed ?? 0);
    }
    const control = controlTypes.find((one) => one === field);
    if (control === undefined) return undefined;
    if (posture.incomplete.has(control)) throw new UnavailableError(`posture.${control} cannot be seen`);
    const isUnclear =
      isEnforcedControl(control) && controlsOf(posture, control).length > 0 && levelsOf(posture.enforcement, control).includes('unclear');
    if (isUnclear) throw new UnavailableError(`posture.${control}: ${enforcementNote(posture.enforcement, control)}`);
    return spend(effectiveControls(posture, control).map(({ name }) => name));
  };
}

/** The controls that decide which people a mode has, and what they need. */
const peopleControls: Readonly<Record<AccessMode, readonly ControlType[]>> = {
  connect: ['who'],
  exec: ['who'],
  runbooks: ['who', 'runbooks'],
};
const neededControls: readonly ControlType[] = ['review', 'force', 'duration', 'approval'];

/** Reads the people of each access mode. A group that the expression names is listed beside those that make a difference. */
function accessRead({ access, incomplete }: Posture, named: readonly string[], spend: Spend): FieldReader {
  const demand = (controls: readonly ControlType[], what: string): void => {
    if (controls.some((control) => incomplete.has(control))) throw new UnavailableError(`${what} cannot be seen`);
  };
  return (field) => {
    const mode = accessModes.find((one) => one === field);
    if (mode === undefined) return undefined;
    demand(['access'], `access.${mode}`);
    if (!access.open.has(mode)) return [];
    demand(peopleControls[mode], `access.${mode}`);
    return spend(
      peopleOf(access, mode, named).map((people) =>
        view('People', (name) => {
          if (name !== 'groups') demand(neededControls, `${name} of access.${mode}`);
          return spend(peopleValue(people, name, mode));
        }),
      ),
    );
  };
}

function peopleValue({ groups, needed: { by, longest } }: PeopleOfMode, field: string, mode: AccessMode): unknown {
  const approval = by === 'refused' ? undefined : by;
  switch (field) {
    case 'groups':
      return groups;
    case 'approval':
      return by !== undefined;
    case 'reviewers_groups':
      return approval?.groups ?? [];
    case 'min_approvals':
      return BigInt(approval?.needed ?? 0);
    case 'force_approval_groups':
      return approval?.force ?? [];
    default:
      return mode === 'connect' && Number.isFinite(longest) ? BigInt(longest) : undefined;
  }
}
