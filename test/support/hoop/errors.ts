/** A response that refuses the request: a status and the text of `message`; an empty text gives an empty body, as after a panic. */
export class ModelError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Returns the database error for a value that is not a uuid. */
export function badUuid(value: string): string {
  return `ERROR: invalid input syntax for type uuid: "${value}" (SQLSTATE 22P02)`;
}

/** Returns the database error for a value outside an enum. */
export function badEnum(name: string, value: string): string {
  return `ERROR: invalid input value for enum private.${name}: "${value}" (SQLSTATE 22P02)`;
}

/** Returns the database error for a text that is longer than its column. */
export function tooLong(length: number): string {
  return `ERROR: value too long for type character varying(${length}) (SQLSTATE 22001)`;
}

/** Returns the database error for an unknown guardrail of a connection. */
export const unknownGuardrail =
  'ERROR: insert or update on table "guardrail_rules_connections" violates foreign key constraint "guardrail_rules_connections_rule_id_fkey" (SQLSTATE 23503)';

export const duplicateKey = 'duplicated key not allowed';
export const foreignKey = 'violates foreign key constraint';

/** Returns whether the database accepts the text as a uuid. */
export function isUuid(text: string): boolean {
  return /^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(text);
}

/** Refuses an id that is no uuid with the database's text after a prefix. */
export function checkUuid(id: string, prefix: string): void {
  if (!isUuid(id)) throw new ModelError(500, `${prefix}${badUuid(id)}`);
}
