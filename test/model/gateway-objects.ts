/** The JSON objects of a gateway, as the model reads them; every field may be missing or have another type. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * An object of a gateway: `Kind/name`, its fields, its secrets by path, and the connections that a rule is attached to. A resource is
 * `Resource/name`, with the secrets that its connections inherit.
 */
export type ModelObject = {
  readonly id: string;
  readonly spec?: Fields;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly edges?: Readonly<Record<string, readonly string[]>>;
  readonly managedBy?: string;
};

/** What a public gateway reports of itself: whether it is older than what checks guardrails, its flags, and its provider of masking, if it reports one. */
export type ModelGateway = {
  readonly isOld: boolean;
  readonly ssh: boolean;
  readonly sshInput: boolean;
  readonly rdp: boolean;
  readonly provider: '' | 'gcp' | 'mspresidio' | 'unreported';
};

/** All objects of a gateway by id. */
export type ModelState = Readonly<Record<string, ModelObject>>;

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry: unknown) => typeof entry === 'string') : [];
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function entriesOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists the objects of a kind that reach a connection: by an edge, by its name, or because both have an attribute. */
export function reaching(state: ModelState, kind: string, id: string): readonly ModelObject[] {
  const attributes = textsOf(state[id]?.spec?.['attributes']);
  const name = id.slice(id.indexOf('/') + 1);
  return Object.values(state).filter(({ id: own, spec, edges }) => {
    if (!own.startsWith(`${kind}/`)) return false;
    const isNamed = edges?.['connection_ids']?.includes(id) === true || textsOf(spec?.['connections']).includes(name);
    return isNamed || textsOf(spec?.['attributes']).some((attribute) => attributes.includes(attribute));
  });
}

/** Returns the resources of a gateway, from their secrets by name and key. */
export function resourcesIn(resources: Readonly<Record<string, Readonly<Record<string, string>>>>): ModelState {
  const objects = Object.entries(resources).map(([name, values]): ModelObject => {
    const secrets = Object.fromEntries(Object.entries(values).map(([key, value]) => [`/secret/${key}`, value]));
    return { id: `Resource/${name}`, secrets };
  });
  return Object.fromEntries(objects.map((one) => [one.id, one]));
}

/** Returns the resource that a connection inherits from; it has the name of the connection unless the connection names one. */
export function resourceOf(state: ModelState, id: string): ModelObject | undefined {
  const named = textOf(state[id]?.spec?.['resource_name']);
  return state[`Resource/${named === '' ? id.slice(id.indexOf('/') + 1) : named}`];
}
