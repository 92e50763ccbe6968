const networkErrorCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);
// What `pg` says of a connection that broke, or that did not come about in time; it gives these no code.
const driverErrors = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** Why the database cannot be asked now, though what was asked for is not wrong; undefined where an error says something else. */
export function databaseUnavailableReason(error: unknown): string | undefined {
  if (error instanceof AggregateError) return error.errors.map((one) => databaseUnavailableReason(one)).find((why) => why !== undefined);
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Classes of SQLSTATE: a lack of disk, memory or connections; then the connection, and an operator who intervenes.
  if (code.startsWith('53')) return 'the database has no room left';
  const isAway = networkErrorCodes.has(code) || /^(08|57P)/.test(code) || driverErrors.test(error.message);
  return isAway ? 'the database does not answer' : undefined;
}
