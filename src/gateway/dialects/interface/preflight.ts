import { isObject, type Json } from '../../../model/json.ts';
import type { Hello, Introduction } from '../../dialect.ts';

const roles = ['admin', 'auditor', 'standard'] as const;

/** Reads what the gateway says of itself; one that says nothing is taken as it is. */
export function introduce(hello: Hello): Introduction {
  const body = hello.status === 200 && isObject(hello.body) ? hello.body : {};
  const role = roles.find((name) => name === body['role']);
  const version = text(body['version']);
  const organisation = text(body['organisation']) ?? text(body['organization']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    keepsHidden: hello.server.startsWith('ostiary/'),
    seesAll: role !== 'standard',
  };
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
