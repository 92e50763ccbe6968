import { isObject, type Json } from '../../../model/json.ts';
import type { Handshake, Capabilities } from '../../dialect.ts';
import type { IssueTemplates } from './checks/issue-templates.ts';

const roles = ['admin', 'auditor', 'standard'] as const;

/** Reads who the gateway is and what the caller may do; others than admins and auditors see only a part of each list. */
export function readCapabilities({ serverInfo: hello, caller }: Handshake): Capabilities {
  const told = isObject(caller) ? caller : {};
  const role = roles.find((name) => name === told['role']);
  const version = isObject(hello.body) ? text(hello.body['version']) : undefined;
  const organisation = text(told['org_id']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    keepsHiddenSecrets: true,
    keepsOmittedSecrets: false,
    seesAll: role === 'admin' || role === 'auditor',
    seesSecrets: role === 'admin',
  };
}

/** Organisation keys go into a header of their own; keys of the gateway and sign-in tokens are bearer tokens. */
export function authHeaderFor(token: string): 'bearer' | 'api-key' {
  return token.startsWith('xapi-') || token.includes('|') ? 'api-key' : 'bearer';
}

/** What the gateway can do, as far as writes depend on it. */
export type ServerFeatures = {
  readonly free: boolean;
  readonly masks: boolean;
  readonly profile: string | undefined;
  /** It is later than the version whose ways are written down here. */
  readonly newer: boolean;
};

/** What a draft is held against. */
export type CheckContext = {
  readonly abilities: ServerFeatures;
  readonly groups: readonly string[] | undefined;
  readonly templates: IssueTemplates;
  /** The types of live connections. */
  readonly usedTypes: ReadonlySet<string>;
};

/** Reads the licence, the masking provider and the protection profile; what is not told is taken as there. */
export function readServerFeatures({ serverInfo: hello, caller }: Handshake): ServerFeatures {
  const server = isObject(hello.body) ? hello.body : {};
  const licence = isObject(server['license_info']) ? server['license_info'] : {};
  return {
    free: licence['type'] === 'oss',
    masks: server['redact_provider'] !== '' && server['has_redact_credentials'] !== false,
    profile: isObject(caller) ? text(caller['default_protection_profile']) : undefined,
    newer: isLater(text(server['version'])),
  };
}

/** Tells whether a version is later than 1.148, as far as it says so in numbers. */
function isLater(version = ''): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)\b/.exec(version) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) > 148);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
