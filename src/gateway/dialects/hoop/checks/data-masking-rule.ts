import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { isObject, type Json } from '../../../../model/json.ts';
import type { Refusal } from '../../../../model/plan/plan.ts';
import { refusalAt, diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import type { ServerFeatures } from '../handshake.ts';
import { asArray } from '../../shared/rest.ts';

const maxDescriptionLength = 512;

/** What the gateway refuses of a masking rule, whatever its state. */
export function checkMaskingRule(draft: ProposedWrite): readonly Diagnostic[] {
  const { spec } = draft;
  const description = spec['description'];
  return [
    ...(typeof description === 'string' && Array.from(description).length > maxDescriptionLength ? [tooLong(draft)] : []),
    ...asArray(spec['supported_entity_types']).flatMap((entry) => checkSupportedEntity(draft, entry)),
    ...asArray(spec['custom_entity_types']).flatMap((entry) => checkEntityName(draft, '/custom_entity_types', entry)),
  ];
}

function checkSupportedEntity(draft: ProposedWrite, entry: Json): readonly Diagnostic[] {
  const types = isObject(entry) ? asArray(entry['entity_types']) : [];
  const wrong = types.filter((type) => typeof type !== 'string' || !/^[A-Z0-9_]+$/.test(type));
  return [
    ...checkEntityName(draft, '/supported_entity_types', entry),
    ...wrong.map((type) =>
      diagnosticAt(draft, '/supported_entity_types', {
        code: 'hoop/entity-type',
        message: `the entity type ${JSON.stringify(type)} is not made of capital letters, digits and _`,
        hint: 'the gateway refuses it; write it like EMAIL_ADDRESS',
      }),
    ),
  ];
}

function checkEntityName(draft: ProposedWrite, at: string, entry: Json): readonly Diagnostic[] {
  const name = isObject(entry) ? entry['name'] : undefined;
  if (typeof name !== 'string' || name === name.toUpperCase()) return [];
  const message = `the name "${name}" is not in capital letters`;
  return [diagnosticAt(draft, at, { code: 'hoop/entity-type', message, hint: `the gateway refuses it; write ${name.toUpperCase()}` })];
}

function tooLong(draft: ProposedWrite): Diagnostic {
  const message = `the description is longer than ${maxDescriptionLength} characters`;
  return diagnosticAt(draft, '/description', { code: 'hoop/too-long', message, hint: 'the gateway has no room for more' });
}

/** Without a masking provider the gateway refuses every write of a masking rule. */
export function providerRefusals(drafts: readonly ProposedWrite[], { masks }: ServerFeatures): readonly Refusal[] {
  return masks ? [] : drafts.filter(({ kind }) => kind === 'DataMaskingRule').map(noProvider);
}

function noProvider(draft: ProposedWrite): Refusal {
  return refusalAt(draft, '', {
    code: 'hoop/no-masking-provider',
    message: 'the gateway has no data masking provider, so it refuses every write of a masking rule',
    hint: 'set DLP_PROVIDER on the gateway, or take the rule out of this target',
  });
}
