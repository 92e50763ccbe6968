// The code of these validators is compiled from the schemas by the build and by the tests: build/compiled-schemas.js.
import type { AppliedRecord, PendingWrites, RecordSignature } from '../../model/applied-record.ts';
import type { ResourceId } from '../../model/resource.ts';

/** One validation error, as ajv reports it. */
export type SchemaError = {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The key, if the error is about a key of a map. */
  readonly propertyName?: string;
};

export type SchemaValidator = { (value: unknown): boolean; errors?: readonly SchemaError[] | null };

/** The compiled schemas of the manifests, by kind. */
export declare const manifests: Readonly<Record<string, SchemaValidator>>;

/** The compiled schema of the config file. */
export declare const config: SchemaValidator;

/** The compiled schema of a defaults file. */
export declare const defaults: SchemaValidator;

/** The compiled schema of an access test. */
export declare const accessTest: SchemaValidator;

/** The compiled schema of a policy. */
export declare const policy: SchemaValidator;

/** A record as it is written: a rule and its connections are one entry of edges. */
export type EncodedRecord = Omit<AppliedRecord, 'pending'> & {
  readonly version: 1;
  readonly signature?: RecordSignature;
  readonly pending: readonly (Omit<PendingWrites, 'edges'> & { readonly edges: readonly (readonly [ResourceId, ...ResourceId[]])[] })[];
};

/** The compiled schema of the record of applies. */
export declare const record: { (value: unknown): value is EncodedRecord; errors?: readonly SchemaError[] | null };
