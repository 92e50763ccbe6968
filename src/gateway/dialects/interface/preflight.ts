import { isObject, type Json } from '../../../model/json.ts';
import type { Answers, Introduction } from '../../dialect.ts';

const roles = ['admin', 'auditor', 'standard'] as const;

/** Reads what the gateway says of itself; one that says nothing is taken as it is. */
export function introduce({ hello }: Answers): Introduction {
  const body = hello.status === 200 && isObject(hello.body) ? hello.body : {};
  const role = roles.find((name) => name === body['role']);
  const ours = hello.server.startsWith('ostiary/');
  const version = text(body['version']);
  const organisation = text(body['organisation']) ?? text(body['organization']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    keepsHidden: ours,
    keepsOmitted: ours,
    seesAll: role !== 'standard',
    seesSecrets: role === undefined || role === 'admin',
  };
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
