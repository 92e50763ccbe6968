import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { controlTypes } from '../../model/protection/protection.ts';

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
export type FieldReader = (field: string) => unknown;

/** The variables of an expression. */
export type PolicyVariables = {
  readonly connection: CelObject;
  readonly guardrails: readonly CelObject[];
  readonly masking: readonly CelObject[];
  readonly posture: CelObject;
};

/** A CEL value whose fields are read on demand. */
export class CelObject {
  readonly #read: FieldReader;

  constructor(read: FieldReader) {
    this.#read = read;
  }

  /** Reads a field of the value. */
  ask(field: string): unknown {
    return this.#read(field);
  }
}

class ConnectionView extends CelObject {}
class SecretView extends CelObject {}
class EntryView extends CelObject {}
class SideView extends CelObject {}
class GuardrailView extends CelObject {}
class GroupView extends CelObject {}
class EntityView extends CelObject {}
class MaskingRuleView extends CelObject {}
class PostureView extends CelObject {}

type CelClass = new (read: FieldReader) => CelObject;

/** The class of each CEL type by name; CEL distinguishes types by their class. */
export const celClasses: Readonly<Record<string, CelClass>> = {
  Secret: SecretView,
  Entry: EntryView,
  Side: SideView,
  Guardrail: GuardrailView,
  Group: GroupView,
  Entity: EntityView,
  MaskingRule: MaskingRuleView,
  Posture: PostureView,
  Connection: ConnectionView,
};

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
  Entry: { name: 'string', type: 'string', words: 'list<string>', pattern_regex: 'string' },
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
  Posture: { ...Object.fromEntries(controlTypes.map((aspect) => [aspect, 'list<string>'])), approvals: 'int' },
};

/** Returns the CEL types of a connection's fields from its schema, plus name, manager and secrets (without values). */
export function connectionFieldTypes(schema: JsonObject): Readonly<Record<string, string>> {
  const spec = below(below(schema, '$defs'), 'spec');
  const fields = Object.entries(below(spec, 'properties')).flatMap(([name, node]) =>
    isObject(node) && !('not' in node) ? [[name, typeOf(node)] as const] : [],
  );
  return { ...Object.fromEntries(fields), name: 'string', managed_by: 'string', secret: 'map<string, Secret>' };
}

function below(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
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
export function celValue(value: Json | undefined, type: string): unknown {
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
