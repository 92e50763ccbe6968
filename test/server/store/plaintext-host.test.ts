import { afterEach, expect, test, vi } from 'vitest';
import { findPlaintextHost } from '../../../src/server/store/plaintext-host.ts';

afterEach(() => vi.unstubAllEnvs());

test.each<readonly [string, string | undefined]>([
  ['postgres://u:p@db.example.com/gateway', 'db.example.com'],
  ['postgresql://u:p@10.0.0.7:5432/gateway', '10.0.0.7'],
  ['postgres://u:p@localhost.example.com/gateway', 'localhost.example.com'],
  ['postgres://u:p@localhost/gateway?host=db.example.com', 'db.example.com'],
  ['postgres://u@db.example.com/g?sslmode=disable', 'db.example.com'],
  ['postgres://u@db.example.com/g?ssl=0', 'db.example.com'],
  ['postgres://u:p@localhost/gateway', undefined],
  ['postgres://u:p@127.9.9.9:5432/gateway', undefined],
  ['postgres:///gateway?host=/var/run/postgresql', undefined],
  ['postgres://u@%2Fvar%2Frun%2Fpostgresql/gateway', undefined],
  ['postgres://u@db.example.com/g?sslmode=require', undefined],
  ['postgres://u@db.example.com/g?sslmode=verify-full', undefined],
])('%s: %s', (address, host) => {
  expect(findPlaintextHost(address)).toBe(host);
});

// security: network
test('the variables of PostgreSQL complete the address', () => {
  vi.stubEnv('PGHOST', 'db.example.com');
  expect(findPlaintextHost('postgres:///gateway')).toBe('db.example.com');
  expect(findPlaintextHost('postgres://localhost/gateway')).toBeUndefined();
  vi.stubEnv('PGSSLMODE', 'verify-full');
  expect(findPlaintextHost('postgres:///gateway')).toBeUndefined();
});
