import type { JsonObject } from '../model/json.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import { rulesOn, type Scene } from './scene.ts';

/** Subtypes, and types without one, whose proxy passes on what it cannot read. */
const opaque: ReadonlySet<string> = new Set([
  'tcp',
  'ssh',
  'ssh-local',
  'git',
  'github',
  'httpproxy',
  'kibana',
  'grafana',
  'mcpproxy',
  'rdp',
  'aws-ssm',
  'kubernetes',
  'kubernetes-eks',
  'kubernetes-token',
]);

/** Tells whether a gateway refuses sessions through a connection's port: a guardrail is on it that its proxy cannot enforce. */
export function refused(scene: Scene, connection: ResourceId, blocks: (spec: JsonObject) => boolean): boolean {
  const spec = scene.facts.get(connection)?.spec;
  if (spec === undefined || spec['access_mode_connect'] !== 'enabled' || !isOpaque(spec)) return false;
  return [...rulesOn(scene, connection)].some((rule) => kindOf(rule) === 'GuardrailRule' && blocks(scene.facts.get(rule)?.spec ?? {}));
}

function isOpaque({ type, subtype }: JsonObject): boolean {
  const said = typeof subtype === 'string' && subtype !== '' ? subtype : type;
  return typeof said === 'string' && opaque.has(said);
}
