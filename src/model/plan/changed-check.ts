import type { DesiredState } from '../desired.ts';
import type { Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/**
 * One change of what checks a proposal, made by the proposal itself: of a policy, a test, a limit, a target … Until the merge, the checks
 * of the target branch apply.
 */
export type ChangedCheck = ChangedStatement | UncoveredCheck;

type ChangedStatement = {
  /** What it is: `policy has-a-reviewer`, `limits.updates of target prod`. */
  readonly check: string;
  readonly action: 'removed' | 'changed' | 'added';
  /** The values of a setting, where they are short. */
  readonly before?: string;
  readonly after?: string;
  readonly at?: Position;
};

/** A policy or an expectation of an access test that covered connections before the plan and does not cover them after it; they stay. */
export type UncoveredCheck = Pick<ChangedStatement, 'check' | 'at'> & {
  readonly action: 'uncovered';
  /** The document of the check. */
  readonly id: ResourceId;
  readonly code: `risk/${string}`;
  readonly class: 'weakens';
  readonly connections: readonly ResourceId[];
};

/** The reviewed checks that a proposal may change. */
export type ProposedChecks = {
  /** What it changes of the config. */
  readonly config: readonly ChangedCheck[];
  /** The manifests at the branch point; undefined if they cannot be read, which is a warning of its own. */
  readonly reviewed: DesiredState | undefined;
};

const order: readonly ChangedCheck['action'][] = ['removed', 'uncovered', 'changed', 'added'];

/** Returns changed checks with those that check less first; otherwise the order stays. */
export function sortChangedChecks(checks: readonly ChangedCheck[]): readonly ChangedCheck[] {
  return checks.toSorted((left, right) => order.indexOf(left.action) - order.indexOf(right.action));
}

/** A check as one side states it: checks with equal texts are equal. */
export type StatedCheck = { readonly text: string; readonly value?: string; readonly at?: Position };

/** Compares the checks of two sides by what they are. */
export function compareChecks(before: ReadonlyMap<string, StatedCheck>, after: ReadonlyMap<string, StatedCheck>): readonly ChangedCheck[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((check): readonly ChangedCheck[] => {
    const [then, now] = [before.get(check), after.get(check)];
    if (then?.text === now?.text) return [];
    const action = now === undefined ? 'removed' : then === undefined ? 'added' : 'changed';
    return [
      {
        check,
        action,
        ...(then?.value === undefined ? {} : { before: then.value }),
        ...(now?.value === undefined ? {} : { after: now.value }),
        ...(now?.at === undefined ? {} : { at: now.at }),
      },
    ];
  });
}
