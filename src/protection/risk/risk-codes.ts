import {
  type Risk,
  type Plan,
  type Refusal,
  planRisks,
  type ResourceRisk,
  highestRisk,
  isRiskierThan,
  type RiskClass,
} from '../../model/plan/plan.ts';
import { parsePosition } from '../../model/diagnostic.ts';

/** All risk codes with their usual class and their meaning; docs/explanation/protection.md repeats this table and a test compares both. */
export const riskCodes = {
  'access-opened': { class: 'weakens', means: 'an access mode is opened' },
  'access-closed': { class: 'strengthens', means: 'an access mode is closed' },
  'schema-shown': { class: 'weakens', means: 'the schema is shown' },
  'schema-hidden': { class: 'strengthens', means: 'the schema is hidden' },
  'reviewer-removed': { class: 'weakens', means: 'a reviewer group goes' },
  'reviewer-added': { class: 'strengthens', means: 'a reviewer group comes' },
  'approvals-lowered': { class: 'weakens', means: 'fewer groups must approve' },
  'approvals-raised': { class: 'strengthens', means: 'more groups must approve' },
  'force-approver-added': { class: 'weakens', means: 'one more group may approve alone' },
  'force-approver-removed': { class: 'strengthens', means: 'one group less may approve alone' },
  'duration-raised': { class: 'weakens', means: 'sessions may last longer, or have no limit any more' },
  'duration-lowered': { class: 'strengthens', means: 'sessions end sooner' },
  'duration-changed': { class: 'unknown', means: 'a limit becomes the gateway’s own, or the other way round' },
  'metadata-removed': { class: 'weakens', means: 'a session need not state something any more' },
  'metadata-added': { class: 'strengthens', means: 'a session must state something more' },
  'attribute-removed': { class: 'weakens', means: 'an attribute goes, and with it what hangs on it' },
  'attribute-added': { class: 'strengthens', means: 'an attribute comes, and with it what hangs on it' },
  'redaction-removed': { class: 'weakens', means: 'a type is redacted no more' },
  'redaction-added': { class: 'strengthens', means: 'one more type is redacted' },
  'guardrail-detached': { class: 'weakens', means: 'a guardrail is taken off a connection' },
  'guardrail-attached': { class: 'strengthens', means: 'a guardrail is put on a connection' },
  'masking-detached': { class: 'weakens', means: 'a masking rule is taken off a connection' },
  'masking-attached': { class: 'strengthens', means: 'a masking rule is put on a connection' },
  'word-removed': { class: 'weakens', means: 'a word is blocked, or masked, no more' },
  'word-added': { class: 'strengthens', means: 'one more word is blocked, or masked' },
  'pattern-removed': { class: 'weakens', means: 'a pattern is blocked, or masked, no more' },
  'pattern-added': { class: 'strengthens', means: 'one more pattern is blocked, or masked' },
  'pattern-changed': { class: 'unknown', means: 'a pattern becomes another one; nobody can tell which catches more' },
  'entity-type-removed': { class: 'weakens', means: 'an entity type is masked no more' },
  'entity-type-added': { class: 'strengthens', means: 'one more entity type is masked' },
  'threshold-raised': { class: 'weakens', means: 'only what is more certain is masked' },
  'threshold-lowered': { class: 'strengthens', means: 'what is less certain is masked, too' },
  'threshold-changed': { class: 'unknown', means: 'a threshold comes or goes, and the gateway’s own counts on the other side' },
  'score-lowered': { class: 'weakens', means: 'a custom entity type counts as less certain' },
  'score-raised': { class: 'strengthens', means: 'a custom entity type counts as more certain' },
  'selector-narrowed': { class: 'weakens', means: 'a selector leaves out connections that it would have taken' },
  'selector-widened': { class: 'strengthens', means: 'a selector takes connections that it would have left out' },
  'ignore-added': { class: 'weakens', means: 'a protection is not watched any more (metadata.ignore)' },
  'ignore-removed': { class: 'strengthens', means: 'a protection is watched again (metadata.ignore)' },
  'secret-inlined': { class: 'weakens', means: 'a secret that was a reference stands in the manifest itself' },
  'secret-referenced': { class: 'strengthens', means: 'a secret that stood in the manifest is a reference' },
  'agent-rerouted': {
    class: 'reroutes',
    means: 'a credential that is kept goes to another agent',
    headline: ['sends', 'send', 'a kept credential to another agent'],
  },
  'command-rerouted': {
    class: 'reroutes',
    means: 'a credential that is kept goes to another command, type or subtype',
    headline: ['passes', 'pass', 'a kept credential to another command or type'],
  },
  'endpoint-rerouted': {
    class: 'reroutes',
    means: 'a credential that is kept goes to another endpoint',
    headline: ['sends', 'send', 'a kept credential to another endpoint'],
  },
  'resource-rerouted': {
    class: 'reroutes',
    means: 'the connection moves to another resource, whose secrets its sessions inherit',
    headline: ['moves', 'move', 'to another resource, whose secrets the sessions inherit'],
  },
  'secret-reused': {
    class: 'reroutes',
    means: 'a credential is used under another key, or by a new connection to another endpoint',
    headline: ['uses', 'use', 'a known credential under another key or at another endpoint'],
  },
  'enforcement-changed': { class: 'unknown', means: 'the new type enforces guardrails or masking in another way' },
  'replacement-differs': { class: 'unknown', means: 'a connection is not protected like the one that it replaces' },
  'combined-effect': { class: 'unknown', means: 'several changes together have an effect that none has alone' },
  exposed: { class: 'exposes', means: 'a new connection is accessible without review, guardrails and masking' },
  unenforceable: { class: 'availability', means: 'the proxy of this type cannot enforce a guardrail, so it refuses sessions' },
  deleted: { class: 'availability', means: 'a connection is deleted' },
  unknown: { class: 'unknown', means: 'nobody can tell, because something cannot be seen or compared' },
  created: { class: 'neutral', means: 'something comes, or is opened for the first time' },
  neutral: { class: 'neutral', means: 'nothing of it bears on protection' },
} as const;

export type RiskName = keyof typeof riskCodes;

/** Returns the phrase of the headline of a reroute, for one connection and for several. */
export function reroutePhrase(code: Risk['code']): { readonly one: string; readonly many: string } | undefined {
  const found = Object.entries(riskCodes).find(([name]) => `risk/${name}` === code)?.[1];
  if (found === undefined || !('headline' in found)) return undefined;
  const [one, many, rest] = found.headline;
  return { one: `${one} ${rest}`, many: `${many} ${rest}` };
}

/** Returns the code that reports print and `--allow` takes. */
export function riskCode(name: RiskName): Risk['code'] {
  return `risk/${name}`;
}

const shown = 3;

/** Returns one refusal per risk code whose class is above `most` (`--max-risk`). */
export function riskRefusals(plan: Pick<Plan, 'changes' | 'unwritten'>, most: RiskClass | undefined): readonly Refusal[] {
  if (most === undefined) return [];
  const places = new Map(plan.changes.map(({ id, at }) => [id, at]));
  const groups = new Map<Risk['code'], ResourceRisk[]>();
  for (const one of planRisks(plan)) {
    if (!isRiskierThan(one.risk.class, most)) continue;
    const group = groups.get(one.risk.code);
    if (group === undefined) groups.set(one.risk.code, [one]);
    else group.push(one);
  }
  return [...groups].map(([code, group]): Refusal => {
    const at = group
      .map(({ id, risk }) => (risk.place === undefined ? undefined : parsePosition(risk.place)) ?? places.get(id))
      .find((place) => place !== undefined);
    const highest = highestRisk(group.map(({ risk }) => risk)) ?? most;
    return {
      code,
      message: `${classText(highest)} (at most ${most} is allowed): ${subjects(group)}`,
      hint: 'take the change back, or say why it is right',
      allowable: true,
      ...(at === undefined ? {} : { at }),
    };
  });
}

/** Describes a risk class in the words of the refusal. */
function classText(one: RiskClass): string {
  if (one === 'unknown') return 'nobody can tell what it does';
  if (one === 'availability') return 'it may keep people out';
  if (one === 'exposes') return 'it exposes a connection';
  return one === 'neutral' ? 'it changes something' : `it ${one}`;
}

function subjects(group: readonly ResourceRisk[]): string {
  const names = [...new Set(group.map(({ id, risk: { path = '' } }) => `${id}${path === '' ? '' : ` ${path}`}`))];
  const more = names.length - shown;
  return `${names.slice(0, shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
