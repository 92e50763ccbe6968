/** Returns the text of a state with these resources, and a canary in its outputs. */
export function stateOf(resources: readonly object[]): string {
  return JSON.stringify({
    version: 4,
    terraform_version: '1.9.0',
    serial: 3,
    lineage: 'x',
    outputs: { word: { value: 'canary-output' } },
    resources,
  });
}

/** Returns a resource of the gateway's provider: one instance, or one for each of a list of attributes; each has a canary as a secret. */
export function owned(type: string, name: string, attributes: object | readonly object[], more: object = {}): object {
  const all = Array.isArray(attributes) ? attributes : [attributes];
  const instances = all.map((one, index) => ({
    schema_version: 0,
    ...(Array.isArray(attributes) ? { index_key: index } : {}),
    attributes: { secrets: { 'envvar:PASS': 'canary-in-state' }, ...one },
    sensitive_attributes: [[{ type: 'get_attr', value: 'secrets' }]],
  }));
  return { mode: 'managed', type, name, provider: 'provider["registry.terraform.io/hoophq/hoop"]', instances, ...more };
}
