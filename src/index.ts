/** Manifests to a desired state: text in, diagnostics and values out. */
export { readConfig } from './manifest/read-config.ts';
export { loadManifests, type LoadInput } from './manifest/load-manifests.ts';
export { registry } from './kinds/index.ts';
export { readableKinds } from './kinds/watched.ts';

/** A gateway, over HTTP. */
export { openGateway, type GatewayOptions } from './gateway/open-gateway.ts';

/** Plans: pure, and data. */
export {
  draftPlan,
  reconcile,
  rescheduleSteps,
  reviewPlan,
  type PlanDraft,
  type ReviewedPlan,
  type ReviewInput,
} from './reconcile/reconcile.ts';
export type { ReconcileInput } from './reconcile/prepare/prepare.ts';

/** What a plan means for people. */
export { protectionOf } from './protection/protection.ts';

/** Executes a plan. */
export { apply } from './apply/apply.ts';
export type { ApplyInput } from './apply/execute-step.ts';

/** Reports: values in, text out. */
export { applyJson, applyMarkdown, applyText, planJson, planMarkdown, planText } from './report/reports.ts';
export { diagnosticsText } from './report/text/diagnostics.ts';
export { diagnosticsJson } from './report/wording/diagnostics.ts';

/** The nouns. */
export type { Config, Limits, Target } from './model/config.ts';
export type { DesiredResource, DesiredState } from './model/desired.ts';
export type { Checked, Diagnostic, Position } from './model/diagnostic.ts';
export { ApiError, AppError, InputError, RefusedError, UsageError } from './model/errors.ts';
export type { Gateway, GatewayIdentity } from './model/gateway.ts';
export type { Kind, Registry } from './model/kind.ts';
export type { LiveResource, LiveState } from './model/live.ts';
export type { ApplyResult, JournalEntry, Outcome } from './model/result/outcome.ts';
export type { Change, EdgeChange, FieldChange, Plan, Refusal, Value } from './model/plan/plan.ts';
export type { ControlChange, Headline, PostureChange, Protection } from './model/protection/protection.ts';
export type { ResourceId } from './model/resource.ts';
