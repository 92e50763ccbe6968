import ipaddr from 'ipaddr.js';
import { Client } from 'pg';

/**
 * Returns the host that the client of a PostgreSQL address reaches without TLS, with the variables PGHOST and PGSSLMODE; undefined for TLS,
 * and for this machine.
 */
export function findPlaintextHost(connectionString: string): string | undefined {
  const { host, ssl } = new Client({ connectionString });
  const isHere = host.startsWith('/') || host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
  return ssl || isHere ? undefined : host;
}
