import { firstOf } from '../model/collections.ts';
import { nameOf } from '../model/resource.ts';
import type { ControlType } from '../model/protection/protection.ts';
import { joinNames, machineName } from './controls/access-rows.ts';
import { joinModes } from './controls/connection-rows.ts';
import { controlsOf, effectiveControls, type Posture, unreviewedModes, useWithoutReview } from './controls/control-row.ts';

/** Returns what a headline states about a new connection with an access mode that requires no review; undefined if all require it. */
export function newAccessPhrase(posture: Posture): string | undefined {
  const modes = unreviewedModes(posture);
  if (modes.length === 0) return undefined;
  const others = mitigations(posture);
  const isEveryMode = modes.length === controlsOf(posture, 'access').length;
  const { machines } = posture.access;
  const groups = posture.incomplete.has('who') ? undefined : posture.access.groups;
  const free = (groups ?? []).filter((group) => useWithoutReview(posture, [group], modes));
  // Where no group alone uses it without review, some people in several groups do.
  const shownGroups = free.length === 0 ? (groups ?? []) : free;
  const names = [...shownGroups, ...machines.map(machineName)].map((name) => ({ name }));
  const to = groups === undefined ? '' : ` to ${joinNames(names)}`;
  const by = `${to}${isEveryMode ? '' : ` by ${joinModes(modes)}`}`;
  const review = posture.incomplete.has('review') ? 'reviewers, with access-request rules that cannot be read' : 'review';
  if (others.length > 0) return `becomes accessible${by} without ${review}, mitigated by ${others.join(', ')}`;
  const missing = posture.incomplete.has('review') ? 'guardrails or masking' : 'reviewers, guardrails or masking';
  return `becomes accessible${by} without ${missing}`;
}

const shown = 3;

/** Lists what protects a connection beside review: guardrails, masking, redaction, and rules that require review of some sessions. */
function mitigations(posture: Posture): readonly string[] {
  return [
    ...named('guardrail', rulesOf(posture, ['input', 'output'])),
    ...named('masking', rulesOf(posture, ['masking'])),
    ...(effectiveControls(posture, 'redaction').length > 0 ? ['redaction'] : []),
    ...named(
      'access-request rule',
      controlsOf(posture, 'approval').map(({ name }) => name),
    ),
  ];
}

function rulesOf(posture: Posture, types: readonly ControlType[]): readonly string[] {
  const rules = types.flatMap((type) => effectiveControls(posture, type)).flatMap((control) => control.rules ?? []);
  return [...new Set(rules)].toSorted().map(nameOf);
}

function named(noun: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`${noun}${names.length === 1 || noun === 'masking' ? '' : 's'} ${firstOf(names, shown)}`];
}
