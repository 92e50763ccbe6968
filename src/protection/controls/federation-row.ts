import { canonical } from '../../model/json.ts';
import type { Federation } from '../../model/protection/access-objects.ts';
import { noDifference } from './compare-controls.ts';
import { type Control, type ControlComparison, type ControlRow, controlsOf, type Posture } from './control-row.ts';

const fallback = 'fallback';

/** Returns as whom people work in the cloud, and what happens to those without an identity there. */
function federationControls(federation: Federation | undefined): readonly Control[] {
  if (federation === undefined) return [];
  const { id: _, name: __, fallback_policy: policy, ...identity } = federation;
  const { identity_target_template: template, identity_source_attribute: source, builtin_provider: provider } = identity;
  return [
    { name: 'identity', content: canonical(identity), text: `as ${template} of ${source} by ${provider} (unmanaged)` },
    { name: fallback, content: policy, text: `otherwise ${policy} (unmanaged)` },
  ];
}

/** The gateway refuses a session for every policy that it does not know; how strict that is in other versions is unknown. */
function strictness({ content }: Control): number {
  return content === 'deny' ? 2 : content === 'static' ? 0 : 1;
}

/** Compares as whom people work. Without a federation all share one credential; which of two identities may do more is not known. */
function compareFederation(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'federation'), controlsOf(after, 'federation')];
  if (had.length === 0 || has.length === 0) return { ...noDifference, lost: had, gained: has };
  const changed = has.flatMap((is) => had.flatMap((was) => (was.name === is.name && was.content !== is.content ? [{ was, is }] : [])));
  const directed = changed.map(({ was, is }) => ({ is, direction: is.name === fallback ? strictness(is) - strictness(was) : 0 }));
  return {
    ...noDifference,
    lost: directed.flatMap(({ is, direction }) => (direction < 0 ? [is] : [])),
    gained: directed.flatMap(({ is, direction }) => (direction > 0 ? [is] : [])),
    incomparable: directed.flatMap(({ is, direction }) => (direction === 0 ? [is] : [])),
  };
}

/** As whom people work in the cloud. */
export const federationRow: Omit<ControlRow, 'type'> = {
  fields: {
    Federation: [
      'fallback_policy',
      'hook_source',
      'builtin_provider',
      'identity_source_attribute',
      'identity_target_template',
      'token_ttl_seconds',
      'extra_config',
    ],
  },
  ofConnection: (_, { facts: { federation } }) => federationControls(federation),
  compare: compareFederation,
  weight: 2,
  column: { heading: 'federation', isOptional: true },
  about: 'the identity of people in the cloud',
  loses: (_, after) =>
    controlsOf(after, 'federation').length === 0
      ? 'loses its federation: everybody works in the cloud with the shared credential'
      : 'opens with the shared credential for people without an identity in the cloud',
  gains: (_, before) =>
    controlsOf(before, 'federation').length === 0
      ? 'gains a federation: people work in the cloud with identities of their own'
      : 'no longer opens with the shared credential for people without an identity in the cloud',
};
