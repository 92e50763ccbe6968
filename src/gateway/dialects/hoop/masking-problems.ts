import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject, type Json } from '../../../model/json.ts';
import type { Refusal } from '../../../model/plan/plan.ts';
import { refuse, tell, type Draft } from '../draft.ts';
import type { Abilities } from './introduce.ts';
import { listOf } from '../rest.ts';

const longestDescription = 512;

/** What the gateway refuses of a masking rule, whatever its state. */
export function maskingProblems(draft: Draft): readonly Diagnostic[] {
  const { spec } = draft;
  const description = spec['description'];
  return [
    ...(typeof description === 'string' && Array.from(description).length > longestDescription ? [tooLong(draft)] : []),
    ...listOf(spec['supported_entity_types']).flatMap((entry) => supportedProblems(draft, entry)),
    ...listOf(spec['custom_entity_types']).flatMap((entry) => nameProblems(draft, '/custom_entity_types', entry)),
  ];
}

function supportedProblems(draft: Draft, entry: Json): readonly Diagnostic[] {
  const types = isObject(entry) ? listOf(entry['entity_types']) : [];
  const wrong = types.filter((type) => typeof type !== 'string' || !/^[A-Z0-9_]+$/.test(type));
  return [
    ...nameProblems(draft, '/supported_entity_types', entry),
    ...wrong.map((type) =>
      tell(draft, '/supported_entity_types', {
        code: 'hoop/entity-type',
        message: `the entity type ${JSON.stringify(type)} is not made of capital letters, digits and _`,
        hint: 'the gateway refuses it; write it like EMAIL_ADDRESS',
      }),
    ),
  ];
}

function nameProblems(draft: Draft, at: string, entry: Json): readonly Diagnostic[] {
  const name = isObject(entry) ? entry['name'] : undefined;
  if (typeof name !== 'string' || name === name.toUpperCase()) return [];
  const message = `the name "${name}" is not in capital letters`;
  return [tell(draft, at, { code: 'hoop/entity-type', message, hint: `the gateway refuses it; write ${name.toUpperCase()}` })];
}

function tooLong(draft: Draft): Diagnostic {
  const message = `the description is longer than ${longestDescription} characters`;
  return tell(draft, '/description', { code: 'hoop/too-long', message, hint: 'the gateway has no room for more' });
}

/** Without a masking provider the gateway refuses every write of a masking rule. */
export function providerRefusals(drafts: readonly Draft[], { masks }: Abilities): readonly Refusal[] {
  return masks ? [] : drafts.filter(({ kind }) => kind === 'DataMaskingRule').map(noProvider);
}

function noProvider(draft: Draft): Refusal {
  return refuse(draft, '', {
    code: 'hoop/no-masking-provider',
    message: 'the gateway has no data masking provider, so it refuses every write of a masking rule',
    hint: 'set DLP_PROVIDER on the gateway, or take the rule out of this target',
  });
}
