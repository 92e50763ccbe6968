import { loadChecks } from '../../src/manifest/load-manifests.ts';
import { registry } from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { AccessReference } from '../../src/model/protection/access-reference.ts';

type Written = { readonly name?: string; readonly others?: 'denied' | 'unrestricted'; readonly entries: readonly JsonObject[] };

/** Returns the text of an access reference; its first entry is in line 7. */
export function referenceText({ name = 'most', others = 'unrestricted', entries }: Written): string {
  const head = [
    'apiVersion: ostiary/v1',
    'kind: AccessReference',
    `metadata: { name: ${name} }`,
    'spec:',
    `  others: ${others}`,
    '  entries:',
  ];
  return [...head, ...entries.map((one) => `    - ${JSON.stringify(one)}`), ''].join('\n');
}

/** Reads an access reference as the commands do. */
export function referenceOf(written: Written): AccessReference {
  const files = [{ path: 'security/most.yaml', text: referenceText(written) }];
  const { value, diagnostics } = loadChecks({ files, target: 'test', targets: ['test'], registry });
  const [reference] = value?.accessReferences ?? [];
  if (reference === undefined || diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return reference;
}
