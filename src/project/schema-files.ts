import { registry } from '../kinds/index.ts';
import { toKebabCase } from '../manifest/pull/file-names.ts';
import { policyKind, policySchema } from '../manifest/read-policies.ts';

/** The schemas that the first lines of manifests name: the path below the project's folder, and the text. */
export const schemaFiles: readonly (readonly [path: string, text: string])[] = [
  ...[...registry.values()].map(({ name, schema }) => [name, schema] as const),
  [policyKind, policySchema] as const,
].map(([name, schema]) => [schemaPath(name), `${JSON.stringify(schema, null, 2)}\n`]);

/** Returns the path of a kind's schema below the project's folder. */
export function schemaPath(kind: string): string {
  return `schemas/${toKebabCase(kind)}.schema.json`;
}
