import { asObject, isObject, type JsonObject, nonEmptyText } from '../../../model/json.ts';
import type { ServerFacts } from '../../../model/live.ts';
import type { Capabilities, Handshake } from '../../dialect.ts';
import { readRole } from '../rest.ts';

/** The longest access in seconds after an approval, if no lower limit counts: 48 hours. */
const longestAccess = 172_800;

/** Reads who the gateway is and what the caller may do; roles other than admin and auditor see only a part of each list. */
export function readCapabilities(handshake: Handshake): Capabilities {
  const { serverInfo, caller } = handshake;
  const account = asObject(caller);
  const role = readRole(account['role']);
  const server = asObject(serverInfo.body);
  const version = nonEmptyText(server['version']);
  const organisation = nonEmptyText(account['org_id']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    longestAccess,
    accessLimits: readServerFeatures(handshake).hasFreeLicense ? 'none' : 'reviewed',
    server: { ...(version === undefined ? {} : { version }), ...readProvider(server) },
    keepsHiddenSecrets: true,
    keepsOmittedSecrets: false,
    seesAll: role === 'admin' || role === 'auditor',
    seesSecrets: role === 'admin',
  };
}

/** Returns the provider that finds what is masked, '' where none is configured; nothing where the gateway does not report it. */
export function readProvider({
  redact_provider: provider,
  has_redact_credentials: isConfigured,
}: JsonObject): Pick<ServerFacts, 'provider'> {
  if (isConfigured === false) return { provider: '' };
  if (typeof provider !== 'string') return {};
  // Without a name, the credentials are those of `gcp`.
  return { provider: provider === '' && isConfigured === true ? 'gcp' : provider };
}

/** Returns the header for a token: organization keys have a header of their own; gateway keys and sign-in tokens are bearer tokens. */
export function authHeaderFor(token: string): 'bearer' | 'api-key' {
  return token.startsWith('xapi-') || token.includes('|') ? 'api-key' : 'bearer';
}

/** The features of the gateway that decide which writes it accepts. */
export type ServerFeatures = {
  readonly hasFreeLicense: boolean;
  readonly hasMaskingProvider: boolean;
  readonly profile: string | undefined;
  /** The gateway is later than 1.148, the version that this dialect describes. */
  readonly isNewer: boolean;
};

/** The features of a gateway that was not asked. */
export const unknownFeatures: ServerFeatures = { hasFreeLicense: false, hasMaskingProvider: true, profile: undefined, isNewer: false };

/** Reads the license, the masking provider and the protection profile; what the gateway does not report is taken to be there. */
export function readServerFeatures({ serverInfo, caller }: Handshake): ServerFeatures {
  const server = asObject(serverInfo.body);
  const license = asObject(server['license_info']);
  return {
    hasFreeLicense: license['type'] === 'oss',
    hasMaskingProvider: readProvider(server).provider !== '',
    profile: isObject(caller) ? nonEmptyText(caller['default_protection_profile']) : undefined,
    isNewer: isLater(nonEmptyText(server['version'])),
  };
}

/** Returns whether a version is later than 1.148; false where it has no numbers. */
function isLater(version = ''): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)\b/.exec(version) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) > 148);
}
