import type { Handshake } from './dialect.ts';
import { dialectNamed } from './dialects/choose-dialect.ts';
import { mayRerouteInherited } from './dialects/rest.ts';
import { type GatewaySession, identityFrom } from './session.ts';
import type { Gateway, GatewaySnapshot } from '../model/gateway.ts';
import { asObject, type JsonObject } from '../model/json.ts';
import { type InheritedKeys, liveById, type LiveResource, type LiveState } from '../model/live.ts';

/** The fields of the server info and of the account of the caller that dialects read; what else is there stays out of a snapshot. */
const readFields =
  'name version role borrowed_fields longest_access_duration organisation organization org_id redact_provider has_redact_credentials default_protection_profile'.split(
    ' ',
  );

/** Returns a snapshot of a gateway. */
export function takeSnapshot(
  { url, dialect }: Pick<GatewaySession, 'url' | 'dialect'>,
  { serverInfo: { server, status, body }, caller }: Handshake,
  { live, inherited }: { readonly live: LiveState; readonly inherited: InheritedKeys | undefined },
): GatewaySnapshot {
  const { license_info: license } = asObject(body);
  const shown = license === undefined ? {} : { license_info: { type: asObject(license)['type'] ?? null } };
  const keys = inherited === undefined || inherited === 'hidden' ? inherited : [...inherited];
  return {
    url,
    dialect: dialect.name,
    info: { server, status, body: { ...readPart(body), ...shown } },
    caller: readPart(caller),
    ...(keys === undefined ? {} : { inherited: keys }),
    live: withoutSecrets(live),
  };
}

function readPart(answer: unknown): JsonObject {
  const fields = asObject(answer);
  return Object.fromEntries(readFields.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const])));
}

/** Returns the live state with the paths of secrets alone, and without the answers that it was read from. */
function withoutSecrets(live: LiveState): LiveState {
  const { resources, watched, namesakes } = live;
  return {
    ...live,
    resources: resources.map(withoutValues),
    ...(watched === undefined ? {} : { watched: watched.map(withoutValues) }),
    ...(namesakes === undefined ? {} : { namesakes: namesakes.map(withoutValues) }),
  };
}

/** What only a read of the one object shows stays unknown. */
function withoutValues(one: LiveResource): LiveResource {
  const { changedSecrets: _, secrets, unknown, leftOut = [], ...rest } = one;
  const hidden = Object.keys(secrets).map((path) => [path, { state: 'hidden', source: 'live' }] as const);
  return { ...rest, raw: undefined, secrets: Object.fromEntries(hidden), unknown: [...new Set([...unknown, ...leftOut])] };
}

function reject(): Promise<never> {
  return Promise.reject(new Error('a snapshot was asked to write'));
}

/** Opens a snapshot as the gateway that it was taken of: it answers what a plan asks, as far as it knows, and rejects every write. */
export function openSnapshot({ url, dialect: name, info, caller, inherited = 'hidden', live }: GatewaySnapshot): Gateway {
  const dialect = dialectNamed(name);
  const handshake: Handshake = { serverInfo: info, caller };
  const keys: InheritedKeys = inherited === 'hidden' ? inherited : new Map(inherited);
  return {
    identify: () => Promise.resolve(identityFrom(url, dialect, dialect.readCapabilities(handshake))),
    readsParts: live.partly !== undefined,
    readAll: () => Promise.resolve({ value: live, diagnostics: [] }),
    readOne: ({ id }) => Promise.resolve(liveById(live.resources).get(id)),
    confirm: (ids) => Promise.resolve(ids.filter((id) => live.hidden?.includes(id))),
    preflight(proposal) {
      // What only a request shows is not shown.
      const answers = new Map(dialect.preflightReads(proposal, handshake).map((path) => [path, undefined]));
      const result = dialect.preflight(proposal, handshake, answers);
      return Promise.resolve(mayRerouteInherited(proposal) ? { ...result, inherited: keys } : result);
    },
    checksVersions: reject,
    switchRowsOn: reject,
    create: reject,
    update: reject,
    remove: reject,
    snapshot: reject,
    auditMark: () => Promise.resolve(undefined),
    clockAheadMs: () => 0,
    close: () => Promise.resolve(),
  };
}
