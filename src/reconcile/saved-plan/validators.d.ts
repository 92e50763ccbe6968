import type { Plan } from '../../model/plan/plan.ts';
import type { SavedPlan } from '../../model/plan/saved-plan.ts';

/** A plan document as `schemas/documents/plan.schema.json` describes it. */
type PlanDocument = {
  readonly version: 1;
  readonly plans: readonly Plan[];
  readonly saved?: Omit<SavedPlan, 'plan'> & { readonly checksum: string };
};

/** The compiled schema of plan documents; it tells the first mistake alone. */
export const plan: {
  (value: unknown): value is PlanDocument;
  errors?: readonly { readonly keyword: string; readonly instancePath: string }[] | null;
};
