import { type Document, isScalar, type YAMLError } from 'yaml';
import type { ReadDocument } from './strict-reader.ts';
import { compose } from './yaml-compose.ts';
import { type Mistake, mistake, mistakeOf } from './yaml-mistake.ts';
import { toJson } from './yaml-value.ts';

/** What a text holds, and what is wrong with it; documents with values that mean nothing are left out. */
export type YamlReading = { readonly documents: readonly ReadDocument[]; readonly mistakes: readonly Mistake[] };

/** Reads any YAML 1.2 text by the reference parser; never throws. Of a broken text only the first mistake is told: the rest follow from it. */
export function readYaml(text: string): YamlReading {
  const composed = compose(text);
  if ('stopped' in composed) return { documents: [], mistakes: [mistake(composed.stopped, [composed.offset, composed.offset + 1])] };
  const broken = firstError(composed.errors);
  if (broken !== undefined) return { documents: [], mistakes: [broken] };
  const documents: ReadDocument[] = [];
  const mistakes: Mistake[] = [];
  for (const [index, document] of composed.documents.entries()) {
    if (isEmpty(document)) continue;
    if (document.directives.yaml.version !== '1.2') mistakes.push(mistake('version', document.range));
    const { value, mistakes: found } = toJson(document);
    mistakes.push(...found);
    if (found.every(isOfKey))
      documents.push({ index, value, start: document.contents?.range[0] ?? 0, ...(found.length === 0 ? {} : { damaged: true as const }) });
  }
  return { documents, mistakes };
}

/** A key that cannot stand is left out with its value; the rest of the document is as it was meant. */
function isOfKey({ code }: Mistake): boolean {
  return code === 'manifest/duplicate-key' || code === 'manifest/non-string-key' || code === 'manifest/unsafe-key';
}

/** Tells whether nothing but comments stands in the document. */
function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.range[0] === contents.range[1] && contents.anchor === undefined);
}

function firstError(errors: readonly YAMLError[]): Mistake | undefined {
  const [first] = errors.toSorted((left, right) => left.pos[0] - right.pos[0]);
  return first === undefined ? undefined : mistakeOf(first);
}
