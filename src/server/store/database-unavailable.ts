import { systemCodeOf } from '../../model/errors.ts';

const networkErrorCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);
// A statement or a transaction took too long or waited too long for a lock, or PostgreSQL ended one of two transactions that waited for each other.
const busyCodes: ReadonlySet<string> = new Set(['57014', '55P03', '25P03', '25P04', '40P01', '40001']);
// Messages of `pg` for a broken or late connection; these errors have no code.
const driverErrors = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** Returns whether PostgreSQL has no disk, memory or connections left (SQLSTATE class 53). */
export function isExhausted(error: unknown): boolean {
  return /^53[0-9A-Z]{3}$/.test(systemCodeOf(error) ?? '');
}

/** Returns why the database is unavailable although the query is valid; undefined when the error has another cause. */
export function databaseUnavailableReason(error: unknown): string | undefined {
  if (error instanceof AggregateError) return error.errors.map((one) => databaseUnavailableReason(one)).find((why) => why !== undefined);
  if (!(error instanceof Error)) return undefined;
  const code = systemCodeOf(error) ?? '';
  // SQLSTATE classes: 53 is missing disk, memory or connections; 08 is the connection, 57P an operator.
  if (code === '53100') return 'the disk of the database is full';
  if (code.startsWith('53')) return 'the database has no memory or connections left';
  if (busyCodes.has(code)) return 'the database is busy';
  // After a failover, the server may still be connected to the copy.
  if (code === '25006') return 'the database is read-only';
  const isUnavailable = networkErrorCodes.has(code) || /^(08|57P)/.test(code) || driverErrors.test(error.message);
  return isUnavailable ? 'the database does not respond' : undefined;
}
