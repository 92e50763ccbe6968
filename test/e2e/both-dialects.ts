import { expect } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { createKey } from '../server/client.ts';
import { adminToken, auditorToken, hoopProject } from '../support/hoop-project.ts';
import { everyNth } from '../support/property-runs.ts';
import { useGateway } from './use-gateway.ts';

/** A gateway of one dialect, a token that may not read its secrets, and requests of another admin. */
export type DialectSide = {
  readonly url: string;
  readonly admin: string;
  readonly auditor: string;
  readonly send: (method: string, path: string, body?: JsonObject) => Promise<{ readonly status: number; readonly body: unknown }>;
  /** Changes fields of the object at a path. */
  readonly tamper: (path: string, change: JsonObject) => Promise<void>;
};

type Send = DialectSide['send'];

function tamperBy(send: Send): DialectSide['tamper'] {
  return async (path, change) => {
    const { body } = await send('GET', path);
    expect(await send('PUT', path, { ...Object(body), ...change })).toMatchObject({ status: 200 });
  };
}

/** Returns the second of two dialects, that of the public gateway; with twice the cases, as the nightly run has, both. What dialects differ in has unit tests. */
export function mainDialect<T>(dialects: readonly T[]): readonly T[] {
  return everyNth(dialects, 2, 1);
}

/** Starts a gateway of each dialect for the tests of one file; the functions return how to reach it. */
export function useBothDialects(): Readonly<Record<string, () => Promise<DialectSide>>> {
  const gateway = useGateway();
  return {
    async interface() {
      const key = await createKey(gateway.call, 'ada', ['admin']);
      const send: Send = async (method, path, body) => {
        const { status, body: one, list } = await gateway.call(method, path, { key, ...(body === undefined ? {} : { body }) });
        return { status, body: list.length > 0 ? list : one };
      };
      return {
        url: gateway.url(),
        admin: gateway.server().key,
        auditor: await createKey(gateway.call, 'auditor', ['auditor']),
        send,
        tamper: tamperBy(send),
      };
    },
    async hoop() {
      const { url, send } = await hoopProject();
      return { url, admin: adminToken, auditor: auditorToken, send, tamper: tamperBy(send) };
    },
  };
}
