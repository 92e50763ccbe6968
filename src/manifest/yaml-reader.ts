import { type Document, isScalar, type YAMLError } from 'yaml';
import type { ReadDocument } from './strict-reader.ts';
import { compose } from './yaml-compose.ts';
import { type Mistake, mistake, mistakeOf } from './yaml-mistake.ts';
import { toJson } from './yaml-value.ts';

/** What a text holds, or what is wrong with it. */
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
    documents.push({ index, value, start: document.contents?.range[0] ?? 0 });
  }
  return { documents, mistakes };
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
