const ofTheNetwork: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);
// What `pg` says of a connection that broke, or that did not come about in time; it gives these no code.
const ofTheDriver = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** Tells whether an error says that the database is not there, or can take nothing now: what was asked for is not wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some((one) => isDatabaseAway(one));
  if (!(error instanceof Error)) return false;
  if (!('code' in error) || typeof error.code !== 'string') return ofTheDriver.test(error.message);
  // Classes of SQLSTATE: the connection, a lack of memory, disk or connections, an operator who intervenes.
  return ofTheNetwork.has(error.code) || /^(08|53|57P)/.test(error.code) || ofTheDriver.test(error.message);
}
