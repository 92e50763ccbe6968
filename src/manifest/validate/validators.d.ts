/** One validation error, as ajv reports it. */
export type SchemaError = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The key, if the error is about a key of a map. */
  readonly propertyName?: string;
};

export type SchemaValidator = { (value: unknown): boolean; errors?: readonly SchemaError[] | null };

/** The compiled schemas of the manifests, by kind. */
export const manifests: Readonly<Record<string, SchemaValidator>>;

/** The compiled schema of the config file. */
export const config: SchemaValidator;

/** The compiled schema of a policy. */
export const policy: SchemaValidator;
