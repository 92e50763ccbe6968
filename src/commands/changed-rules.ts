import { registry } from '../kinds/index.ts';
import type { BaseState, DesiredResource, DesiredState } from '../model/desired.ts';
import { hasErrors, sortDiagnostics, type Diagnostic, type DocumentDiagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { LiveState } from '../model/live.ts';
import { isWritten, type Plan } from '../model/plan/plan.ts';

/**
 * Looks through the rules that a plan writes and adds the samples that come out otherwise to what it means for people; a rule
 * that cannot work is thrown, before anything is written, unless what does not work is live already. What patterns need is loaded where there are such rules alone.
 */
export async function checkRules(
  plan: Plan,
  { desired, base, live }: { readonly desired: DesiredState; readonly base: BaseState | undefined; readonly live: LiveState },
): Promise<{ readonly plan: Plan; readonly warnings: readonly Diagnostic[] }> {
  const ids = new Set(plan.changes.filter(isWritten).flatMap(({ id, key }) => (key === undefined ? [id] : [id, key])));
  const rules = desired.resources.filter(({ id, written }) => written !== undefined && ids.has(id));
  const gone = base?.desired.resources.some(({ id, samples = [] }) => samples.length > 0 && ids.has(id)) === true;
  if (rules.length === 0 && !gone) return { plan, warnings: [] };
  const [{ ruleInspector }, { withSampleChanges: withFlips }] = await Promise.all([
    import('../protection/rule-inspector.ts'),
    import('../protection/samples/sample-changes.ts'),
  ]);
  const inspect = ruleInspector('warning');
  const tell = desired.diagnose;
  const found =
    tell === undefined
      ? []
      : rules.flatMap((rule) =>
          inspect(rule).map((finding) => tell(rule.id, isLive(rule, finding, live) ? { ...finding, severity: 'warning' } : finding)),
        );
  if (hasErrors(found)) throw new InputError(sortDiagnostics(found));
  return { plan: withFlips(plan, { desired, base }, { live, registry }), warnings: found };
}

/** Tells whether the pattern that is meant stands in the live rule as it is: then writing the rest makes nothing worse. */
function isLive({ key }: DesiredResource, { within }: DocumentDiagnostic, { resources }: LiveState): boolean {
  const rule = within === undefined ? undefined : resources.find(({ id }) => id === key);
  return rule !== undefined && JSON.stringify(rule.spec).includes(JSON.stringify(within?.text));
}
