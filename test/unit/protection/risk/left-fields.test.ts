import { expect, test } from 'vitest';
import { planRisks } from '../../../../src/model/plan/plan.ts';
import { connectionManifest as connection, planWithRisks } from '../../../support/risks.ts';

test('a manifest that no longer states who sees a connection weakens, as one that ignores it', () => {
  const stated = connection('db', { access_groups: ['payments'] });
  const left = planWithRisks([stated], [connection('db')]);
  expect(planRisks(left)).toMatchObject([
    { id: 'Connection/db', risk: { code: 'risk/field-left', class: 'weakens', path: '/access_groups' } },
  ]);
  expect(left.protection.headlines).toMatchObject([{ direction: 'weakens', text: 'access_groups are no longer watched' }]);
  const ignored = planWithRisks([stated], [connection('db', {}, { ignore: ['/access_groups'] })]);
  expect(planRisks(ignored)).toMatchObject([{ risk: { code: 'risk/ignore-added', class: 'weakens' } }]);
});

test('each field that a manifest leaves is named, also by the successor of a connection', () => {
  const stated = connection('db', { access_groups: ['payments'], reviewers: ['dba'], min_review_approvals: 1 });
  for (const left of [
    planWithRisks([stated], [connection('db', { reviewers: ['dba'] })]),
    planWithRisks([stated], [connection('db-2', { reviewers: ['dba'] }, { replaces: 'db' })]),
  ]) {
    const risks = planRisks(left).filter(({ risk }) => risk.code === 'risk/field-left');
    expect(risks.map(({ risk }) => risk.path)).toEqual(['/access_groups', '/min_review_approvals']);
  }
});
