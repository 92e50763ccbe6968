import { registry } from '../../src/kinds/index.ts';
import { loadChecks } from '../../src/manifest/load-manifests.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { AccessTest } from '../../src/model/protection/access-test.ts';

/** Returns the text of an access test; its first entry is in line 5. */
export function accessTestText(name: string, entries: readonly JsonObject[]): string {
  const head = ['apiVersion: ostiary/v1', 'kind: AccessTest', `metadata: { name: ${name} }`, 'spec:'];
  return [...head, ...entries.map((one) => `  - ${JSON.stringify(one)}`), ''].join('\n');
}

/** Reads an access test as the commands do. */
export function accessTestOf(...entries: readonly JsonObject[]): AccessTest {
  const files = [{ path: 'access/tests.yaml', text: accessTestText('people', entries) }];
  const { value, diagnostics } = loadChecks({ files, target: 'test', targets: ['test'], registry });
  const [test] = value?.accessTests ?? [];
  if (test === undefined || diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return test;
}
