import type { JsonObject } from '../../model/json.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/**
 * Subtypes, and types without one, whose proxy passes on what it cannot read. The interface calls the first three forwarding;
 * the others are subtypes that the public gateway's runtime knows beside its databases, which it reads. Which proxy has an
 * evaluator it does not tell; those without one refuse every session as soon as a rule is on the connection.
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

/** Tells whether a gateway refuses sessions through a connection's port: a guardrail is on it that its proxy cannot enforce. */
export function refusesSessions(scene: ProtectionSnapshot, connection: ResourceId, blocks: (spec: JsonObject) => boolean): boolean {
  const spec = scene.resources.get(connection)?.spec;
  if (spec === undefined || spec['access_mode_connect'] !== 'enabled' || !isOpaque(spec)) return false;
  return [...rulesOn(scene, connection)].some((rule) => kindOf(rule) === 'GuardrailRule' && blocks(scene.resources.get(rule)?.spec ?? {}));
}

/** The type httpproxy forwards, whatever its subtype. */
function isOpaque({ type, subtype }: JsonObject): boolean {
  if (type === 'httpproxy') return true;
  const said = typeof subtype === 'string' && subtype !== '' ? subtype : type;
  return typeof said === 'string' && opaque.has(said);
}
