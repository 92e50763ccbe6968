import { expect, test } from 'vitest';
import { findPlaintextHosts } from '../../../src/server/store/plaintext-hosts.ts';

const remote = 'db.example.com';

test.each<readonly [string, readonly string[]]>([
  ['postgres://u:p@db.example.com/gateway', [remote]],
  ['postgresql://u:p@db.example.com:5432/gateway', [remote]],
  ['postgres://db.example.com', [remote]],
  ['postgres://u:p%40s@db.example.com/gateway?application_name=x', [remote]],
  ['postgres://u:p@10.0.0.7:5432/gateway', ['10.0.0.7']],
  ['postgres://u:p@[2001:db8::1]:5432/gateway', ['2001:db8::1']],
  ['postgres://u:p@localhost.example.com/gateway', ['localhost.example.com']],
  ['postgres://u:p@127.0.0.1.example.com/gateway', ['127.0.0.1.example.com']],
  ['postgres://u:p@localhost/gateway?host=db.example.com', [remote]],
  ['postgres://localhost:5432,db.example.com:5432,[::1]:5432/gateway', [remote]],
  ['postgres://a.example.com,b.example.com:1/gateway', ['a.example.com', 'b.example.com']],
  ['postgres:///gateway?host=localhost,db.example.com', [remote]],
  ['postgres://db.example.com:99999/gateway', [remote]],
  ['postgres://localhost,:5432,db.example.com/gateway', [remote]],
  ...['disable', 'allow', 'prefer', 'Require', '', 'x'].map((mode) => [`postgres://u@db.example.com/g?sslmode=${mode}`, [remote]] as const),
  ['postgres://u@db.example.com/g?ssl=false', [remote]],
  ['postgres://u@db.example.com/g?ssl=0', [remote]],
  ['postgres://u@db.example.com/g?sslmode=disable&sslrootcert=/ca.pem', [remote]],
])('is warned about: %s', (address, expected) => {
  expect(findPlaintextHosts(address, {})).toEqual(expected);
});

test.each([
  'postgres://u:p@localhost/gateway',
  'postgres://u:p@LOCALHOST:5432/gateway',
  'postgres://u:p@127.0.0.1:5432/gateway',
  'postgres://u:p@127.9.9.9/gateway',
  'postgres://u:p@[::1]:5432/gateway',
  'postgres:///gateway',
  'postgres:///gateway?host=/var/run/postgresql',
  'postgres://u@%2Fvar%2Frun%2Fpostgresql/gateway',
  'postgres://u@/gateway?host=%2Fvar%2Frun%2Fpostgresql',
  'postgres://u@db.example.com/g?host=/var/run/postgresql',
  ...['require', 'verify-ca', 'verify-full', 'no-verify'].map((mode) => `postgres://u@db.example.com/g?sslmode=${mode}`),
  'postgres://a.example.com,b.example.com/g?x=1&sslmode=verify-full',
  'postgres://u@db.example.com/g?ssl=true',
  'postgres://u@db.example.com/g?ssl=1',
  'postgres://u@db.example.com/g?sslrootcert=/ca.pem',
  'postgres://u@db.example.com/g?sslnegotiation=direct',
])('is encrypted, or stays on this machine: %s', (address) => {
  expect(findPlaintextHosts(address, {})).toEqual([]);
});

// security: network
test('the variables of PostgreSQL complete the address, which wins over them', () => {
  expect(findPlaintextHosts('postgres:///gateway', { PGHOST: remote })).toEqual([remote]);
  expect(findPlaintextHosts('postgres://u@/gateway', { PGHOST: `/tmp,${remote}` })).toEqual([remote]);
  expect(findPlaintextHosts('postgres:///gateway', { PGHOST: remote, PGSSLMODE: 'verify-full' })).toEqual([]);
  expect(findPlaintextHosts('postgres:///gateway', { PGHOST: '/var/run/postgresql' })).toEqual([]);
  expect(findPlaintextHosts('postgres://localhost/gateway', { PGHOST: remote })).toEqual([]);
  expect(findPlaintextHosts('postgres://db.example.com/g', { PGSSLMODE: 'require' })).toEqual([]);
  for (const PGSSLMODE of ['disable', 'allow', 'prefer', ''])
    expect(findPlaintextHosts('postgres://db.example.com/g', { PGSSLMODE })).toEqual([remote]);
  expect(findPlaintextHosts('postgres://db.example.com/g?sslmode=prefer', { PGSSLMODE: 'require' })).toEqual([remote]);
});
