// The code of these validators is compiled from the schemas by the build and by the tests: build/compiled-schemas.js.
import type { Position } from '../../model/diagnostic.ts';
import type { AcceptedDrift, AssessedChange, FieldChange, Plan, PlanSeals, SavedPlan } from '../../model/plan/plan.ts';

type OptionalLists = 'singleWrites' | 'references' | 'unwritten' | 'notCompared' | 'unwrittenSecrets';

/** A change in a document: each field has its position. */
type EncodedChange = Omit<AssessedChange, 'fields' | 'positions' | 'touched'> & {
  readonly fields: readonly (FieldChange & { readonly at?: Position })[];
};

/** Accepted drift in a document. */
export type EncodedDrift = Omit<AcceptedDrift, 'fields' | 'positions' | 'edges'> &
  Pick<EncodedChange, 'fields'> &
  Partial<Pick<AcceptedDrift, 'edges'>>;

/** A plan in a document: empty lists are left out. */
export type EncodedPlan = Omit<Plan, 'changes' | 'accepted' | 'seals' | OptionalLists> &
  PlanSeals & {
    readonly changes: readonly EncodedChange[];
  } & {
    readonly [name in OptionalLists]?: Plan[name];
  } & {
    readonly accepted?: readonly EncodedDrift[];
  };

/** A plan document as `schemas/documents/plan.schema.json` describes it. */
type PlanDocument = {
  readonly version: 1;
  readonly plans: readonly EncodedPlan[];
  readonly saved?: Omit<SavedPlan, 'plan'> & { readonly checksum: string };
};

/** The compiled schema of plan documents; it reports the first error only. */
export declare const plan: {
  (value: unknown): value is PlanDocument;
  errors?: readonly { readonly keyword: string; readonly instancePath: string }[] | null;
};
