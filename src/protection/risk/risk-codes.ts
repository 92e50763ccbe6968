import { firstOf, groupBy } from '../../model/collections.ts';
import {
  type Risk,
  type RiskyParts,
  type Refusal,
  planRisks,
  type ResourceRisk,
  highestRisk,
  isRiskierThan,
  type RiskClass,
} from '../../model/plan/plan.ts';
import { type ControlType, controlTypes, type RerouteTarget } from '../../model/protection/protection.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import { controlRow } from '../controls/control-table.ts';
import type { RiskCode, RiskDraft } from '../controls/control-row.ts';

const codes = {
  'selector-narrowed': ['weakens', 'a selector no longer matches some connections'],
  'selector-widened': ['strengthens', 'a selector matches more connections'],
  'ignore-added': ['weakens', 'a protecting field is added to metadata.ignore'],
  'field-left': ['weakens', 'a protecting field that the manifest stated is left to the gateway'],
  'ignore-removed': ['strengthens', 'a protecting field is removed from metadata.ignore'],
  'protect-removed': ['availability', 'metadata.protect is removed, so that Ostiary may delete the object'],
  'access-extended': ['weakens', 'the access of a group ends later, or no longer ends'],
  'check-uncovered': ['weakens', 'a policy or an access test no longer covers a connection, or asks less of it'],
  'secret-inlined': ['weakens', 'a secret reference is replaced by a value in the manifest'],
  'secret-referenced': ['strengthens', 'a secret value in the manifest is replaced by a reference'],
  'secret-left': ['unknown', 'a secret is left to the gateway, whose value cannot be compared with the last applied one'],
  'agent-rerouted': ['reroutes', 'a kept or inherited credential is used by another agent', 'sends a kept credential to another agent'],
  'command-rerouted': [
    'reroutes',
    'a kept or inherited credential is used by another command, type or subtype',
    'passes a kept credential to another command or type',
  ],
  'endpoint-rerouted': [
    'reroutes',
    'a kept or inherited credential is sent to another endpoint or with other settings',
    'sends a kept credential to another endpoint or with other settings',
  ],
  'resource-rerouted': [
    'reroutes',
    'the connection joins another resource and inherits its secrets',
    'joins another resource, whose secrets the sessions inherit',
  ],
  'secret-inherited': [
    'reroutes',
    'an own credential is removed, so that sessions use the one of the resource',
    'uses a credential of the resource instead of an own one',
  ],
  'inheritance-unknown': [
    'unknown',
    'a credential of the resource may be sent to another endpoint: the gateway does not show the secrets of resources',
    'may send a credential of the resource to another endpoint; the gateway does not show which it has',
  ],
  'secret-reused': [
    'reroutes',
    'a credential is used under another key, or by another object with another endpoint',
    'uses an existing credential under another key or at another endpoint',
  ],
  'program-changed': [
    'reroutes',
    'a connection that people use without review runs another command',
    'runs another program, which people use without review',
  ],
  'agent-opened': [
    'weakens',
    'a connection that people use without review and that leads to no server runs another command, or on another agent',
    'runs code on its agent itself by another command or agent, which people use without review',
  ],
  'destination-opened': ['weakens', 'people reach what another connection leads to, more easily than before'],
  'destination-unknown': [
    'unknown',
    'a connection is new or leads elsewhere, perhaps to the place of another one: where one of them leads cannot be read',
    'may lead to the place of another one: where one of them leads cannot be read',
  ],
  'runbooks-rerouted': [
    'reroutes',
    'runbooks from another repository or server can be run on connections, with their credentials',
    'accepts runbooks from another repository or server',
  ],
  exposed: ['exposes', 'a new connection has an open access mode that requires no review'],
  unenforceable: ['availability', 'the proxy of this type cannot enforce a guardrail, so it refuses sessions'],
  hidden: ['availability', 'no group can see the connection, only admins and auditors'],
  deleted: ['availability', 'a connection is deleted'],
  'closed-between': ['availability', 'a connection is closed while its rules change'],
  unknown: ['unknown', 'the effect is unknown, because a value cannot be seen or compared'],
  created: ['neutral', 'an object is created or first opened'],
  neutral: ['neutral', 'the change has no effect on protection'],
} as const;

/** The names of the codes that belong to no control. */
export type GeneralRiskName = keyof typeof codes;

/** Returns a risk of fields whose code belongs to no control: of credentials, of manifests, and of whole objects. */
export function riskOf(name: GeneralRiskName, fields: readonly string[] = []): RiskDraft {
  return { code: generalRisk(name), fields };
}

function generalRisk(name: GeneralRiskName): RiskCode {
  const [usual, means, headline] = codes[name];
  return { name, class: usual, means, ...(headline === undefined ? {} : { headline }) };
}

/** Returns the code of a control: the comparison of what it does decides the class. */
export function controlRisk(control: ControlType): RiskCode {
  return { name: control, class: 'unknown', means: `the protection of a connection by ${controlRow(control).about} changes` };
}

/** All risk codes by name: those of controls, and the general ones; docs/reference/risks.md is generated from them. */
export const riskCodes: Readonly<Record<string, RiskCode>> = Object.fromEntries(
  [...controlTypes.map(controlRisk), ...Object.keys(codes).filter(isGeneralRisk).map(generalRisk)].map((code) => [code.name, code]),
);

function isGeneralRisk(name: string): name is GeneralRiskName {
  return Object.hasOwn(codes, name);
}

/** Returns the phrase of the headline of a reroute. */
export function reroutePhrase(code: Risk['code']): string | undefined {
  return riskCodes[code.slice('risk/'.length)]?.headline;
}

const targets: ReadonlyMap<string, RerouteTarget> = new Map([
  ['endpoint-rerouted', 'endpoint'],
  ['agent-rerouted', 'agent'],
  ['command-rerouted', 'command'],
  ['runbooks-rerouted', 'code'],
] satisfies readonly (readonly [GeneralRiskName, RerouteTarget])[]);

/** Returns what a reroute sends credentials to, or whose code it runs. */
export function rerouteTarget(code: Risk['code']): RerouteTarget {
  return targets.get(code.slice('risk/'.length)) ?? 'other';
}

/** Returns the code that reports print and `--allow` takes. */
export function riskCode({ name }: Pick<RiskCode, 'name'>): Risk['code'] {
  return `risk/${name}`;
}

const shown = 3;

/** Returns one refusal per risk code whose class is above `most` (`--max-risk`). */
export function riskRefusals(plan: RiskyParts, most: RiskClass | undefined): readonly Refusal[] {
  if (most === undefined) return [];
  const places = new Map([...plan.accepted, ...plan.changes].map(({ id, at }) => [id, at]));
  const risky = planRisks(plan).filter(({ risk }) => isRiskierThan(risk.class, most));
  return [...groupBy(risky, ({ risk }) => risk.code)].map(([code, group]): Refusal => {
    const at = group
      .map(({ id, risk }) => (risk.place === undefined ? undefined : parsePosition(risk.place)) ?? places.get(id))
      .find((place) => place !== undefined);
    const highest = highestRisk(group.map(({ risk }) => risk)) ?? most;
    return {
      code,
      message: `exceeds --max-risk ${most}, because ${classText(highest)}: ${subjects(group)}`,
      hint: 'revert the change, or override with a reason',
      allowable: true,
      at,
    };
  });
}

function classText(one: RiskClass): string {
  if (one === 'unknown') return 'its effect is unknown';
  if (one === 'availability') return 'it may block users';
  if (one === 'exposes') return 'it exposes a connection';
  return one === 'neutral' ? 'it changes the gateway' : `it ${one}`;
}

function subjects(group: readonly ResourceRisk[]): string {
  return firstOf([...new Set(group.map(({ id, risk: { path = '' } }) => `${id}${path === '' ? '' : ` ${path}`}`))], shown);
}
