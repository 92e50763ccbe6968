import { asText, type JsonObject } from '../../model/json.ts';

/**
 * Whether the gateway can read what passes through a connection: `reads`, it enforces rules; `forwards`, its proxy passes on what it
 * cannot read; `closed`, nothing passes through a proxy; `unknown`, no documentation says so. `by` is the subtype, or the type.
 */
export type Enforcement = {
  readonly by: string;
  readonly kind: 'reads' | 'forwards' | 'closed' | 'unknown';
  /** The proxy that forwards is the only open access mode. */
  readonly isOnlyPort?: true;
};

/**
 * Returns whether rules are enforced alike on both sides. A proxy that opens or closes changes the access and nothing that was
 * enforced before. Where two types are not documented, only the same type enforces the same.
 */
export function isSameEnforcement(one: Enforcement, other: Enforcement): boolean {
  const kinds = [one.kind, other.kind];
  if (kinds.includes('unknown')) return one.kind === other.kind && one.by === other.by;
  return one.kind === other.kind || kinds.includes('closed');
}

/**
 * Subtypes (and types without a subtype) whose proxy forwards content that it cannot read. The interface calls the first three
 * "forwarding"; the others are the subtypes of the public gateway's runtime that are not databases. The gateway does not
 * report which proxy can evaluate rules. A proxy that cannot refuses every session once a guardrail is attached.
 */
const forwarding: ReadonlySet<string> = new Set([
  // The interface: "TCP forwarding", "SSH forwarding", "HTTP forwarding".
  'tcp',
  'ssh',
  'httpproxy',
  // Types of the public gateway: application; git and github are spoken over ssh, kibana and grafana over http.
  'ssh-local',
  'git',
  'github',
  'kibana',
  'grafana',
  'mcpproxy',
  // Types of the public gateway: custom. dynamodb and cloudwatch are commands without a proxy.
  'rdp',
  'aws-ssm',
  'kubernetes',
  'kubernetes-eks',
  'kubernetes-token',
]);

/** Subtypes (and types without a subtype) whose content the gateway reads: database protocols and commands. */
const readable: ReadonlySet<string> = new Set([
  'postgres',
  'mysql',
  'mssql',
  'mongodb',
  'oracledb',
  'keyvaluedb',
  'dynamodb',
  'cloudmonitor',
  'cloudwatch',
  'custom',
  'command-line',
]);

/** Returns how a connection enforces rules, by its type and subtype; only port forwarding passes through a proxy. */
export function enforcementOf({
  type,
  subtype,
  access_mode_connect: connect,
  access_mode_exec: exec,
  access_mode_runbooks: runbooks,
}: JsonObject): Enforcement {
  const by = typeof subtype === 'string' && subtype !== '' ? subtype : asText(type);
  const isForwarding = type === 'httpproxy' || forwarding.has(by);
  if (!isForwarding && !readable.has(by) && by !== '') return { by, kind: 'unknown' };
  if (connect !== 'enabled') return { by, kind: 'closed' };
  if (!isForwarding) return { by, kind: 'reads' };
  return { by, kind: 'forwards', ...(exec === 'enabled' || runbooks === 'enabled' ? {} : { isOnlyPort: true }) };
}
