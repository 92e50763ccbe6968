import type { Spelling } from '../../src/model/spec/spelling.ts';
import { registry } from '../../src/kinds/index.ts';
import { loadManifests } from '../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { PolicyReport } from '../../src/model/protection/policy.ts';
import { checkPolicies } from '../../src/protection/policy/check-policies.ts';
import { compilePolicies } from '../../src/protection/policy/compile-policies.ts';
import { desiredSnapshot, liveSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from './desired-state.ts';
import type { Manifest } from './scenario.ts';

/** Loads the manifests of a text, including policies. */
export function loadText(text: string, path = 'access/policies.yaml'): ReturnType<typeof loadManifests> {
  return loadManifests({
    files: [{ path, text }],
    overlays: [],
    target: 'test',
    targets: ['test', 'other'],
    secretPrefixes: ['OSTIARY_SECRET_'],
    referencePrefixes: ['_cloudsecrets:'],
    registry,
  });
}

/** A minimal connection manifest. */
export const someConnection = `apiVersion: ostiary/v1
kind: Connection
metadata: { name: orders }
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: disabled
  access_mode_runbooks: disabled
  access_schema: disabled
`;

/** A policy's text; \`require\` as YAML. */
export function policyText(require: string, more = ''): string {
  return `apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: p }\nspec:\n  require:\n${require}\n${more}`;
}

/** Returns the diagnostics of the expressions of a policy. */
export function policyDiagnostics(text: string, spelling?: Spelling): readonly Diagnostic[] {
  const { value, diagnostics } = loadText(`${someConnection}---\n${text}`);
  return value === undefined ? diagnostics : compilePolicies(value.policies ?? [], registry, spelling).diagnostics;
}

/** Checks policies for manifests, or for a live state if given. Throws on an invalid policy. */
export function checkManifests(
  manifests: readonly Manifest[],
  policies: string,
  { live, today = '2026-11-21', spelling }: { readonly live?: LiveState; readonly today?: string; readonly spelling?: Spelling } = {},
): { readonly report: PolicyReport; readonly diagnostics: readonly Diagnostic[] } {
  const desired: DesiredState = desiredState(manifests);
  const { value, diagnostics } = loadText(`${someConnection}---\n${policies}`);
  const { rules, diagnostics: wrong } = compilePolicies(value?.policies ?? [], registry, spelling);
  const [first] = [...(value === undefined ? diagnostics : []), ...wrong];
  if (first !== undefined) throw new Error(`${first.code} ${first.message}`);
  const scene = live === undefined ? desiredSnapshot(desired, registry, 'interface') : liveSnapshot(live, registry, 'interface');
  const given = live === undefined ? {} : { live: live.resources };
  return checkPolicies({ rules, snapshot: scene, resources: desired.resources, ...given, registry, today });
}
