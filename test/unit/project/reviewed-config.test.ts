import { describe, expect, it } from 'vitest';
import { defaultLimits, type Target } from '../../../src/model/config.ts';
import type { Policy } from '../../../src/model/protection/policy.ts';
import type { ResolvedConfig } from '../../../src/project/resolved-config.ts';
import { warnChangedPolicies, withReviewedTargets } from '../../../src/project/reviewed-config.ts';

function targetOf(name: string, given: Partial<Target> = {}): Target {
  return {
    name,
    url: `https://${name}.example.com`,
    dialect: 'auto',
    auth: 'auto',
    token: { env: 'OSTIARY_TOKEN' },
    secretPrefixes: ['OSTIARY_SECRET_'],
    manifests: ['/now/access'],
    reference: [],
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

const messagesOf = ({ notices }: ResolvedConfig): readonly string[] => notices.map(({ message }) => message);

describe('withReviewedTargets', () => {
  it('changes nothing and warns about nothing if the targets are equal', () => {
    const config = proposedOf(targetOf('live'));
    expect(withReviewedTargets(reviewedOf(targetOf('live')), config)).toEqual({ ...config, pending: [] });
  });

  it.each([
    ['approvers', { approvers: ['ada'], selfApproval: false }, 'from none to ada'],
    ['self_approval', { approvers: [], selfApproval: true }, 'from false to true'],
  ])('keeps the reviewed %s, and warns about the proposed one', (field, approvals, difference) => {
    const reviewed = reviewedOf(targetOf('live'));
    const config = withReviewedTargets(reviewed, { ...proposedOf(targetOf('live')), approvals });
    expect(config.approvals).toBeUndefined();
    expect(messagesOf(config)).toEqual([`${field} changes ${difference}`]);
    const kept = { approvers: ['grace'], selfApproval: false };
    expect(withReviewedTargets({ ...reviewed, approvals: kept }, { ...proposedOf(targetOf('live')), approvals }).approvals).toEqual(kept);
  });

  it('takes only the folders of manifests and overlays from the working tree, without a warning', () => {
    const reviewed = reviewedOf(targetOf('live', { manifests: ['/then/old'], overlays: [] }));
    const { root, targets, notices } = withReviewedTargets(reviewed, proposedOf(targetOf('live')));
    expect(root).toBe('/now');
    expect(targets).toEqual([targetOf('live')]);
    expect(notices).toEqual([]);
  });

  it.each<[string, Partial<Target>, string]>([
    ['url', { url: 'https://evil.example.com' }, 'from https://live.example.com to https://evil.example.com'],
    ['dialect', { dialect: 'hoop' }, 'from auto to hoop'],
    ['auth', { auth: 'api-key' }, 'from auto to api-key'],
    ['token', { token: { env: 'HOME' } }, 'from OSTIARY_TOKEN to HOME'],
    ['secret_prefixes', { secretPrefixes: ['OSTIARY_SECRET_', 'AWS_'] }, 'from OSTIARY_SECRET_ to OSTIARY_SECRET_, AWS_'],
    ['prune', { prune: true }, 'from false to true'],
    ['unmanaged', { reportUnmanaged: true }, 'from silent to report'],
    ['unmanaged_access', { watchAccess: false }, 'from report to ignore'],
    ['expire', { expire: 'apply' }, 'from report to apply'],
    ['released', { released: ['Connection/old-db'] }, 'from none to Connection/old-db'],
    ['limits.from', { limits: { ...defaultLimits, from: 99 } }, 'from 10 to 99'],
    ['limits.updates', { limits: { ...defaultLimits, updates: 1 } }, 'from 0.3 to 1'],
    ['limits.deletes', { limits: { ...defaultLimits, deletes: 1 } }, 'from 0.3 to 1'],
    ['limits.protections', { limits: { ...defaultLimits, protections: 1 } }, 'from 0.3 to 1'],
  ])('keeps the reviewed %s, and warns about the proposed one', (field, proposed, difference) => {
    const config = withReviewedTargets(reviewedOf(targetOf('live')), proposedOf(targetOf('live', proposed)));
    expect(config.targets).toEqual([targetOf('live')]);
    expect(messagesOf(config)).toEqual([`${field} of the target "live" changes ${difference}`]);
    expect(config.notices[0]).toMatchObject({
      code: 'config/after-merge',
      severity: 'warning',
      at: { file: '/now/ostiary.yaml', line: 1, column: 1 },
    });
  });

  it('leaves out a new target, which is pending, and a removed one', () => {
    const config = withReviewedTargets(reviewedOf(targetOf('live'), targetOf('old')), proposedOf(targetOf('live'), targetOf('new')));
    expect(config.targets).toEqual([targetOf('live')]);
    expect(config.pending).toEqual(['new']);
    expect(messagesOf(config)).toEqual(['the target "old" is removed', 'the target "new" is new']);
  });
});

function policyOf(name: string, text = 'a'): Policy {
  return {
    name,
    at: { file: 'policies.yaml', line: 3, column: 1 },
    match: { tags: {}, type: [], subtype: [], name: [], at: { file: 'access/policies.yaml', line: 1, column: 1 } },
    require: [],
    message: '',
    severity: 'error',
    waivers: [],
    baseline: [],
    isShared: false,
    text,
  };
}

describe('warnChangedPolicies', () => {
  it('warns about added, changed and removed policies, by name; only those that the proposal has are at a line', () => {
    const reviewed = [policyOf('removed'), policyOf('changed'), policyOf('same')];
    const proposed = [policyOf('same'), policyOf('changed', 'b'), policyOf('added')];
    const found = warnChangedPolicies(reviewed, proposed).map(({ code, severity, message, at }) => ({ code, severity, message, at }));
    const rest = { code: 'policy/after-merge', severity: 'warning' };
    expect(found).toEqual([
      { ...rest, message: 'the policy "added" is new', at: policyOf('added').at },
      { ...rest, message: 'the policy "changed" changes', at: policyOf('changed').at },
      { ...rest, message: 'the policy "removed" is removed', at: undefined },
    ]);
  });
});
