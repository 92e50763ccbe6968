import { isObject } from '../model/json.ts';
import { resourceId, type ResourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import { parseDocuments } from './parse.ts';

/** The resources whose manifests stand in a file, as far as it can be read. */
export function declaredIn(file: SourceFile): readonly ResourceId[] {
  return (parseDocuments(file).value ?? []).flatMap(({ value }) => {
    if (!isObject(value) || !isObject(value['metadata'])) return [];
    const { kind } = value;
    const { name } = value['metadata'];
    return typeof kind === 'string' && typeof name === 'string' ? [resourceId(kind, name)] : [];
  });
}
