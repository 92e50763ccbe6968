import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { type AccessLists, withAccess, requestRule } from '../../../support/access-objects.ts';
import { connection } from '../../../support/manifests.ts';
import { noLimits, runReconcile, testTarget } from '../../../support/run-pipeline.ts';
import { liveAs } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

const guardrail: Manifest = {
  kind: 'GuardrailRule',
  metadata: { name: 'g' },
  spec: { input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['DROP'] }] }, attributes: ['pci'] },
};

const piiRule = requestRule('asks', { attributes: ['pii'] });
const machine = { id: 'm', name: 'deployer', connections: [], attributes: ['pii'] };
const pciMachine = { ...machine, attributes: ['pci'] };

/** Plans a connection of the public gateway that changed since it was applied. */
function planDrift(applied: JsonObject, live: JsonObject, lists: AccessLists = {}): Plan {
  const [desired, found] = [applied, live].map((spec) => desiredState([connection('db', spec), guardrail]));
  if (desired === undefined || found === undefined) throw new Error('a side is missing');
  const { value, diagnostics } = runReconcile({
    desired,
    live: withAccess(liveAs(found), lists),
    base: { commit: 'a'.repeat(40), desired, removedIn: new Map() },
    target: { ...testTarget, dialect: 'hoop' },
    limits: noLimits,
    consent: { imports: [], revert: [], prune: false },
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

test.each<readonly [string, JsonObject, JsonObject]>([
  ['one that was added', { attributes: [] }, { attributes: ['other'] }],
  ['one that was removed', { attributes: ['other'] }, { attributes: [] }],
  ['one for another', { attributes: ['one'] }, { attributes: ['other'] }],
  ['one that attaches a guardrail', { attributes: [] }, { attributes: ['pci'] }],
])('attributes that were changed outside Ostiary are never held where it cannot be read what they do: %s', (_, applied, live) => {
  const { changes, protection } = planDrift(applied, live, { attributes: 'unreadable' });
  expect(changes.flatMap(({ fields }) => fields.map(({ held }) => held === true))).not.toContain(true);
  expect(changes.flatMap(({ risks }) => risks.map((risk) => risk.class))).toContain('unknown');
  expect(protection.headlines.map(({ direction }) => direction)).toContain('unknown');
});

test.each<readonly [string, JsonObject, JsonObject, AccessLists, boolean, string]>([
  ['one that does nothing', { attributes: [] }, { attributes: ['other'] }, {}, false, 'neutral'],
  ['one that attaches a guardrail', { attributes: [] }, { attributes: ['pci'] }, {}, true, 'neutral'],
  ['one that asks for an approval', { attributes: [] }, { attributes: ['pii'] }, { 'access-request-rules': [piiRule] }, true, 'neutral'],
  [
    'one that gives a machine a credential',
    { attributes: [] },
    { attributes: ['pii'] },
    { 'machine-identities': [machine] },
    false,
    'strengthens',
  ],
  [
    'one that attaches a guardrail and grants',
    { attributes: [] },
    { attributes: ['pci'] },
    { 'machine-identities': [pciMachine] },
    false,
    'both',
  ],
])('attributes that were changed outside Ostiary are held where they are provably stricter: %s', (...args) => {
  const [, applied, live, state, isHeld, risk] = args;
  const { changes } = planDrift(applied, live, state);
  expect(changes.flatMap(({ fields }) => fields.map(({ held }) => held === true))).toEqual([isHeld]);
  const found = changes.flatMap(({ risks }) => risks.map((one) => one.class)).toSorted();
  expect(found).toEqual(risk === 'both' ? ['strengthens', 'weakens'] : isHeld ? [] : [risk]);
});

test('a reviewer that was added beside an attribute is held', () => {
  const { changes } = planDrift({ reviewers: ['a'], attributes: [] }, { reviewers: ['a', 'b'], attributes: ['other'] });
  expect(changes.flatMap(({ fields }) => fields.map(({ path, held }) => [path, held === true]))).toEqual([
    ['/reviewers/b', true],
    ['/attributes/other', false],
  ]);
});
