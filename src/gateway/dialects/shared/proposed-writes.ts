import { type DesiredResource, desiredById } from '../../../model/desired.ts';
import { liveById } from '../../../model/live.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../model/gateway.ts';
import type { Json } from '../../../model/json.ts';
import { isWritten, type Refusal } from '../../../model/plan/plan.ts';
import { isPointerWithin, pointer, type Pointer } from '../../../model/pointer.ts';
import { kindOf, nameOf, type Spec } from '../../../model/resource.ts';

/** One object that a plan creates or updates. */
export type ProposedWrite = {
  readonly kind: string;
  readonly name: string;
  readonly creates: boolean;
  /** What it would be after the write. */
  readonly spec: Spec;
  /** What is live before the write; empty where it is created. */
  readonly stored: Spec;
  /** What it would be in between, where it is written twice. */
  readonly joined: Spec | undefined;
  readonly resource: DesiredResource;
};

/** Lists the objects that a proposal creates or updates, in the order of its plan. */
export function proposedWrites({ plan, desired, live, joined }: PreflightRequest): readonly ProposedWrite[] {
  const resources = desiredById(desired.resources);
  const found = liveById(live.resources);
  return plan.changes.flatMap((change) => {
    const { id, action } = change;
    const resource = resources.get(id);
    if (resource === undefined || !isWritten(change) || action === 'delete') return [];
    const stored = found.get(change.key ?? resource.key)?.spec ?? {};
    const ours = Object.entries(resource.spec).filter(
      ([field]) => action === 'create' || !resource.ignore.some((path) => isPointerWithin(pointer(field), path)),
    );
    const spec: Record<string, Json> = { ...stored, ...Object.fromEntries(ours) };
    return [{ kind: kindOf(id), name: nameOf(id), creates: action === 'create', spec, stored, joined: joined.get(id), resource }];
  });
}

type DiagnosticText = Pick<Diagnostic, 'code' | 'message'> & { readonly hint: string; readonly severity?: Diagnostic['severity'] };

/** Returns a diagnostic at the manifest's line of a field, or at the manifest. */
export function diagnosticAt({ resource }: ProposedWrite, at: Pointer, { severity = 'error', ...text }: DiagnosticText): Diagnostic {
  return { ...text, severity, at: resource.locate(at), resource: resource.id };
}

/** Returns a refusal by the gateway at the manifest's line of a field, or at the manifest. */
export function refusalAt({ resource }: ProposedWrite, at: Pointer, text: Omit<DiagnosticText, 'severity'>): Refusal {
  return { ...text, allowable: false, resource: resource.id, at: resource.locate(at) };
}
