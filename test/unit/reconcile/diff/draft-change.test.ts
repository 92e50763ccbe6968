import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import { seal } from '../../../../src/model/secret.ts';
import { draftChange, type DraftedChange } from '../../../../src/reconcile/diff/draft-change.ts';
import { desiredOf, liveOf, stateOf } from '../../../support/resources.ts';

function drafted(desired: DesiredResource, live?: LiveResource): DraftedChange {
  const kind = registry.get(desired.id.slice(0, desired.id.indexOf('/')));
  if (kind === undefined) throw new Error('no such kind');
  return draftChange(kind, desired, { phase: 'known', live, state: stateOf() });
}

const id = 'Connection/db';
const value = seal('env:KEY', 'bmV3');
const spec: JsonObject = { type: 'database', subtype: '', access_mode_connect: 'disabled', reviewers: ['dba'] };

describe('a create', () => {
  const { draft } = drafted(desiredOf(id, { spec, secrets: { '/secret/envvar:KEY': value }, ignore: ['/reviewers'] }));

  it('shows every field with a value, required ones always, including ignored ones', () => {
    expect(draft.fields.map(({ path }) => [path, draft.positions?.byPath[path]?.file])).toEqual([
      ['/type', 'access/type'],
      ['/access_mode_connect', 'access/access_mode_connect'],
      ['/resource_name', 'access/resource_name'],
      ['/reviewers', 'access/reviewers'],
      ['/secret/envvar:KEY', 'access/secret/envvar:KEY'],
    ]);
    expect(draft).toMatchObject({ id, action: 'create', carried: [] });
  });

  it('has a document without secret values and without previous values', () => {
    expect(draft.touched).toEqual({
      before: {},
      after: {
        type: 'database',
        access_mode_connect: 'disabled',
        resource_name: 'db',
        reviewers: ['dba'],
        secret: { 'envvar:KEY': '(secret env:KEY)' },
      },
    });
  });
});

describe('an update', () => {
  const live = liveOf(id, {
    spec: { ...spec, reviewers: ['dba', 'sre'], command: ['bash'], resource_name: '', redact_types: ['EMAIL'], redact_enabled: true },
    secrets: { '/secret/envvar:KEY': seal('live', 'b2xk'), '/secret/envvar:OLD': seal('live', 'b2xk') },
    unknown: ['/access_schema'],
  });

  it('has its fields, its carried values, and a document of each side', () => {
    const desired = desiredOf(id, {
      spec,
      secrets: { '/secret/envvar:KEY': value },
      ignore: ['/redact_types', '/redact_types/EMAIL', '/secret/envvar:OLD'],
    });
    const { draft } = drafted({ ...desired, wholeSecrets: ['/secret'] }, live);
    expect(draft).toMatchObject({
      action: 'update',
      uid: 'uid-db',
      carried: ['/access_schema', '/command', '/redact_types', '/secret/envvar:OLD'],
      touched: {
        before: { reviewers: ['dba', 'sre'], secret: { 'envvar:KEY': '(secret live)' } },
        after: { reviewers: ['dba'], secret: { 'envvar:KEY': '(secret env:KEY)' } },
      },
    });
    expect(draft.fields.map(({ path }) => path)).toEqual(['/reviewers/sre', '/secret/envvar:KEY']);
  });

  it('carries no secret that it removes or sets, seen or not', () => {
    const hidden = liveOf(id, {
      spec,
      secrets: { '/secret/envvar:OLD': { state: 'hidden', source: 'live' } },
      unknown: ['/secret/envvar:OLD'],
    });
    const { draft } = drafted(desiredOf(id, { spec, wholeSecrets: ['/secret'] }), hidden);
    expect(draft).toMatchObject({ carried: [], touched: { before: { secret: { 'envvar:OLD': '(secret live)' } }, after: { secret: {} } } });
  });

  it('is empty without a difference, and names its manager', () => {
    const { draft } = drafted(desiredOf(id, { spec }), liveOf(id, { spec, managedBy: 'platform' }));
    expect(draft).toEqual({
      id,
      action: 'update',
      uid: 'uid-db',
      managedBy: 'platform',
      at: desiredOf(id).locate(''),
      fields: [],
      carried: [],
    });
  });

  it('is matched by its key if its live name differs', () => {
    const desired = desiredOf('RunbookConfiguration/books', {
      key: 'RunbookConfiguration/host/books',
      spec: { git_hook_ttl: 5 },
      wholeSecrets: ['/ssh_key'],
    });
    const { draft } = drafted(
      desired,
      liveOf(desired.key, { spec: { git_hook_ttl: 0 }, secrets: { '/ssh_key': value, '/git_password': value } }),
    );
    expect(draft).toMatchObject({
      id: desired.id,
      key: desired.key,
      carried: ['/git_password'],
      touched: { before: { git_hook_ttl: 0, ssh_key: '(secret live)' }, after: { git_hook_ttl: 5, ssh_key: '' } },
    });
  });

  it('collects the diagnostics of references and secrets', () => {
    const desired = desiredOf(id, { spec: { agent_id: 'none' }, secrets: { '/secret/envvar:KEY': { state: 'keep', source: 'keep' } } });
    expect(drafted(desired).diagnostics.map(({ code }) => code)).toEqual(['manifest/dangling-reference', 'plan/keep-missing']);
  });
});
