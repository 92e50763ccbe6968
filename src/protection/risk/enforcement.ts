import type { JsonObject } from '../../model/json.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/**
 * Subtypes (and types without a subtype) whose proxy forwards content that it cannot read. The interface calls the first three
 * "forwarding"; the others are the subtypes of the public gateway's runtime that are not databases. The gateway does not
 * report which proxy can evaluate rules. A proxy that cannot refuses every session once a guardrail is attached.
 */
const opaque: ReadonlySet<string> = new Set([
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
  // Types of the public gateway: custom. dynamodb and cloudwatch stand there too, and are commands without a proxy.
  'rdp',
  'aws-ssm',
  'kubernetes',
  'kubernetes-eks',
  'kubernetes-token',
]);

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId, blocks: (spec: JsonObject) => boolean): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || spec['access_mode_connect'] !== 'enabled' || !isOpaque(spec)) return false;
  return [...rulesOn(snapshot, connection)].some(
    (rule) => kindOf(rule) === 'GuardrailRule' && blocks(snapshot.resources.get(rule)?.spec ?? {}),
  );
}

/** Returns whether the proxy cannot read the content; the type httpproxy forwards with every subtype. */
function isOpaque({ type, subtype }: JsonObject): boolean {
  if (type === 'httpproxy') return true;
  const name = typeof subtype === 'string' && subtype !== '' ? subtype : type;
  return typeof name === 'string' && opaque.has(name);
}
