import { describe, expect, it } from 'vitest';
import { defaultLimits, type Target } from '../../../src/model/config.ts';
import type { ResolvedConfig } from '../../../src/project/resolved-config.ts';
import { changedConfig, withReviewedTargets } from '../../../src/project/reviewed-config.ts';

function targetOf(name: string, given: Partial<Target> = {}): Target {
  return {
    name,
    url: `https://${name}.example.com`,
    dialect: 'auto',
    auth: 'auto',
    token: { env: 'OSTIARY_TOKEN' },
    secretPrefixes: ['OSTIARY_SECRET_'],
    manifests: ['/now/access'],
    overlays: ['/now/overlay'],
    limits: defaultLimits,
    prune: false,
    reportUnmanaged: false,
    watchAccess: true,
    expire: 'report',
    readConcurrency: 16,
    released: [],
    allowedValues: {},
    ...given,
  };
}

/** Returns the config of a working tree in which the author declares these targets. */
function proposedOf(...targets: readonly Target[]): ResolvedConfig {
  return { file: '/now/ostiary.yaml', root: '/now', targets, notices: [] };
}

/** Returns the config of the reviewed commit. */
function reviewedOf(...targets: readonly Target[]): Pick<ResolvedConfig, 'root' | 'targets'> {
  return { root: '/then', targets };
}

describe('a proposal keeps the reviewed config', () => {
  it('without a difference, changes no check', () => {
    const config = proposedOf(targetOf('live'));
    expect(withReviewedTargets(reviewedOf(targetOf('live')), config)).toEqual({ ...config, pending: [], proposed: config });
    expect(changedConfig(reviewedOf(targetOf('live')), config, 'live')).toEqual([]);
  });

  it('and takes only the folders of manifests and overlays from the working tree', () => {
    const reviewed = reviewedOf(targetOf('live', { manifests: ['/then/old'], overlays: [] }));
    expect(withReviewedTargets(reviewed, proposedOf(targetOf('live')))).toMatchObject({ root: '/now', targets: [targetOf('live')] });
    expect(changedConfig(reviewed, proposedOf(targetOf('live')), 'live')).toEqual([]);
  });

  it.each([
    ['approvers', { approvers: ['ada'], selfApproval: false }, { before: 'none', after: 'ada' }],
    ['self_approval', { approvers: [], selfApproval: true }, { before: 'false', after: 'true' }],
  ])('and reports the proposed %s', (check, approvals, values) => {
    const [reviewed, proposed] = [reviewedOf(targetOf('live')), { ...proposedOf(targetOf('live')), approvals }];
    expect(withReviewedTargets(reviewed, proposed).approvals).toBeUndefined();
    expect(changedConfig(reviewed, proposed, 'live')).toMatchObject([{ check, action: 'changed', ...values }]);
    const kept = { approvers: ['grace'], selfApproval: false };
    expect(withReviewedTargets({ ...reviewed, approvals: kept }, proposed).approvals).toEqual(kept);
  });

  it.each<[string, Partial<Target>, string, string]>([
    ['url', { url: 'https://evil.example.com' }, 'https://live.example.com', 'https://evil.example.com'],
    ['dialect', { dialect: 'hoop' }, 'auto', 'hoop'],
    ['auth', { auth: 'api-key' }, 'auto', 'api-key'],
    ['token', { token: { env: 'HOME' } }, 'OSTIARY_TOKEN', 'HOME'],
    ['ca', { tls: { ca: { file: '/now/ca.pem', below: '/now' } } }, 'none', 'file:ca.pem'],
    ['secret_prefixes', { secretPrefixes: ['OSTIARY_SECRET_', 'AWS_'] }, 'OSTIARY_SECRET_', 'OSTIARY_SECRET_, AWS_'],
    ['prune', { prune: true }, 'false', 'true'],
    ['unmanaged', { reportUnmanaged: true }, 'silent', 'report'],
    ['unmanaged_access', { watchAccess: false }, 'report', 'ignore'],
    ['expire', { expire: 'apply' }, 'report', 'apply'],
    ['released', { released: ['Connection/old-db'] }, 'none', 'Connection/old-db'],
    ['reviewed', { reviewed: 'any' }, 'the default branch', 'any'],
    ['limits.from', { limits: { ...defaultLimits, from: 99 } }, '10', '99'],
    ['limits.updates', { limits: { ...defaultLimits, updates: 1 } }, '0.3', '1'],
    ['limits.deletes', { limits: { ...defaultLimits, deletes: 1 } }, '0.3', '1'],
    ['limits.protections', { limits: { ...defaultLimits, protections: 1 } }, '0.3', '1'],
    ['limits.new_access', { limits: { ...defaultLimits, newAccess: 'refuse' } }, 'allow', 'refuse'],
  ])('and reports the proposed %s', (field, proposed, before, after) => {
    const [reviewed, config] = [reviewedOf(targetOf('live')), proposedOf(targetOf('live', proposed))];
    expect(withReviewedTargets(reviewed, config).targets).toEqual([targetOf('live')]);
    const at = { file: '/now/ostiary.yaml', line: 1, column: 1 };
    expect(changedConfig(reviewed, config, 'live')).toEqual([{ check: `${field} of target live`, action: 'changed', before, after, at }]);
  });

  it('without a new target, which is pending, and without a removed one', () => {
    const [reviewed, config] = [reviewedOf(targetOf('live'), targetOf('old')), proposedOf(targetOf('live'), targetOf('new'))];
    expect(withReviewedTargets(reviewed, config)).toMatchObject({ targets: [targetOf('live')], pending: ['new'] });
    expect(changedConfig(reviewed, config, 'live')).toMatchObject([
      { check: 'target old', action: 'removed' },
      { check: 'target new', action: 'added' },
    ]);
  });
});
