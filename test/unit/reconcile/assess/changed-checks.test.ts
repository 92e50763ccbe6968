import { expect, it } from 'vitest';
import { emptyState, type DesiredState } from '../../../../src/model/desired.ts';
import type { ChangedCheck } from '../../../../src/model/plan/changed-check.ts';
import { changedByProposal } from '../../../../src/reconcile/assess/changed-checks.ts';
import { loadText, someConnection } from '../../../support/policies.ts';

function load(...documents: readonly string[]): DesiredState {
  const { value, diagnostics } = loadText([someConnection, ...documents].join('---\n'));
  if (value === undefined) throw new Error(JSON.stringify(diagnostics));
  return value;
}

function changed(reviewed: DesiredState, desired: DesiredState): readonly string[] {
  return changedByProposal({ config: [], reviewed }, desired).map(({ check, action }) => `${check}: ${action}`);
}

const policy = (more = '', require = 'true'): string =>
  `apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: asked }\nspec:\n  require: ["${require}"]\n${more}`;
const asks = (require: string): string =>
  `apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: asked }\nspec:\n  require: [${require}]\n`;
const waiver = (until: string): string => `  waivers: [{ connection: a, until: ${until}, reason: later }]\n`;
const accessTest = (expect_: string): string =>
  `apiVersion: ostiary/v1\nkind: AccessTest\nmetadata: { name: t }\nspec:\n  - { group: dev, on: orders, expect: ${expect_} }\n`;
const rule = (metadata: string, samples: string): string =>
  `apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { ${metadata} }\nspec:\n  input: { rules: [{ type: deny_words_list, words: [drop] }] }\n${samples}`;
const samples = (text: string): string => `tests: [{ input: "${text}", expect: blocked }]\n`;

// security: checks
it('names what a proposal removes, changes and adds of policies and their waivers', () => {
  expect(changed(load(policy()), load(policy()))).toEqual([]);
  expect(changed(load(policy()), load())).toEqual(['policy asked: removed']);
  expect(changed(load(), load(policy()))).toEqual(['policy asked: added']);
  expect(changed(load(policy()), load(policy('', '1 == 1')))).toEqual(['policy asked: changed']);
  expect(changed(load(policy()), load(policy(waiver('2027-01-01'))))).toEqual(['waiver of policy asked for a: added']);
  expect(changedByProposal({ config: [], reviewed: load(policy(waiver('2027-01-01'))) }, load(policy(waiver('2028-01-01'))))).toMatchObject(
    [{ check: 'waiver of policy asked for a', action: 'changed', before: 'until 2027-01-01', after: 'until 2028-01-01' }],
  );
});

// security: checks
it('names a policy whose requirement became a part of the message of another one', () => {
  const both = asks('{ expression: 1 == 1, message: one }, 2 == 2');
  expect(changed(load(both), load(asks('{ expression: 1 == 1, message: one; 2 == 2 }')))).toEqual(['policy asked: changed']);
});

it('names the expectations of access tests, each by what it states', () => {
  expect(changed(load(accessTest('denied')), load(accessTest('allowed')))).toEqual([
    'access test t (dev on orders: denied): removed',
    'access test t (dev on orders: allowed): added',
  ]);
});

it('names samples, protection from deletion and ignored fields of objects, under their new names, and not of new objects', () => {
  const [before, after] = [
    rule('name: r, protect: true', samples('drop it')),
    rule('name: n, renamedFrom: r, ignore: [/description]', samples('drop all')),
  ];
  expect(changed(load(before), load(after)).toSorted()).toEqual([
    'ignore /description of GuardrailRule/n: added',
    'protect of GuardrailRule/n: removed',
    'sample of GuardrailRule/n: {"expect":"blocked","input":"drop all"}: added',
    'sample of GuardrailRule/n: {"expect":"blocked","input":"drop it"}: removed',
  ]);
  expect(changed(load(), load(before))).toEqual([]);
});

it('begins with what changes of the config, which is all there is where the manifests cannot be read', () => {
  const config: readonly ChangedCheck[] = [{ check: 'url of target t', action: 'changed' }];
  expect(changedByProposal({ config, reviewed: undefined }, load(policy()))).toEqual(config);
  expect(changedByProposal({ config, reviewed: emptyState }, load(policy()))).toMatchObject([...config, { check: 'policy asked' }]);
});
