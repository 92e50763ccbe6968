import { entriesOf, fieldsOf, textOf, textsOf, type Fields } from './gateway-objects.ts';
import type { ReadPath } from './access-state.ts';

/** What rules block or hide on each connection, by its name. */
export type AttachedContent = Readonly<Record<string, ReadonlySet<string>>>;

/** Reads the words that guardrails deny on each connection and the types that masking rules hide: a rule reaches what it names, and what shares an attribute with it. */
export async function readAttachedContent(read: ReadPath): Promise<AttachedContent> {
  const [listed, guardrails, maskings] = await Promise.all([read('/connections'), read('/guardrails'), read('/datamasking-rules')]);
  const rules = [
    ...entriesOf(guardrails).map((row) => ({ row, blocks: deniedWords(row) })),
    ...entriesOf(maskings).map((row) => ({ row, blocks: hiddenTypes(row) })),
  ];
  const details = await Promise.all(entriesOf(listed).map(({ name }) => read(`/connections/${textOf(name)}`)));
  return Object.fromEntries(
    details.map((body) => {
      const { id, name, attributes } = fieldsOf(body);
      const reaching = rules.filter(({ row }) => {
        const isNamed = textsOf(row['connection_ids']).includes(textOf(id));
        return isNamed || textsOf(row['attributes']).some((one) => textsOf(attributes).includes(one));
      });
      return [textOf(name), new Set(reaching.flatMap(({ blocks }) => blocks))];
    }),
  );
}

function deniedWords(row: Fields): readonly string[] {
  return entriesOf(fieldsOf(row['input'])['rules']).flatMap((entry) => textsOf(entry['words']).map((word) => `word ${word}`));
}

function hiddenTypes(row: Fields): readonly string[] {
  return entriesOf(row['supported_entity_types']).flatMap((entry) => textsOf(entry['entity_types']).map((type) => `type ${type}`));
}

/** Lists what is blocked on a connection in one state and not in another. */
export function missingContent(name: string, from: AttachedContent, to: AttachedContent): readonly string[] {
  return [...(from[name] ?? [])].filter((one) => to[name]?.has(one) !== true);
}
