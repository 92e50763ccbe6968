import { expect, test } from 'vitest';
import type { BaseState } from '../../../../src/model/desired.ts';
import type { AssessedChange } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { formerNamesAfter } from '../../../../src/reconcile/record-content/record-changes.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { guardrailManifest } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

function rule(name: string, renamedFrom?: string): Manifest {
  return guardrailManifest(name, [], {}, renamedFrom === undefined ? {} : { renamedFrom });
}

const id = (name: string): ResourceId => `GuardrailRule/${name}`;

function renaming(from: string, to: string): AssessedChange {
  return { id: id(to), key: id(from), action: 'rename', fields: [], needs: [], carried: [], risks: [] };
}

function namesAfter(changes: readonly AssessedChange[], head: Manifest, base: Manifest, names: BaseState['names'] = new Map()): unknown {
  const applied: BaseState = { commit: 'a'.repeat(40), desired: desiredState([base]), removedIn: new Map(), names };
  return formerNamesAfter({ changes }, desiredState([head]), applied).map(({ former }) => former);
}

test('an object keeps the names that it had before, the last one first', () => {
  const known = new Map([[id('two'), [id('one')]]]);
  expect(namesAfter([renaming('one', 'two')], rule('two', 'one'), rule('one'))).toEqual([[id('one')]]);
  expect(namesAfter([renaming('two', 'three')], rule('three', 'two'), rule('two'), known)).toEqual([[id('two'), id('one')]]);
  // An interrupted apply has renamed it.
  expect(namesAfter([], rule('three', 'two'), rule('two'), known)).toEqual([[id('two'), id('one')]]);
  expect(namesAfter([], rule('two'), rule('two', 'one'), known)).toEqual([[id('one')]]);
  // Renamed back, it was the other.
  expect(namesAfter([renaming('two', 'one')], rule('one'), rule('two'), known)).toEqual([[id('two')]]);
  expect(namesAfter([], rule('one'), rule('one'))).toEqual([]);
});
