import { describe, expect, test } from 'vitest';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { highestPlanRisk, type Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, guardrailManifest, liveAs, maskingManifest, registered, words } from '../../../support/risks.ts';
import { noLimits, runReconcile, type TestInput } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';
import type { ReviewInput } from '../../../../src/reconcile/reconcile.ts';

type Sides = { readonly base: readonly Manifest[]; readonly live: readonly Manifest[]; readonly head: readonly Manifest[] };

const consent = { imports: [], revert: [], prune: true };

/** Plans from three sets of manifests: those that were applied, what the gateway has, and those of the pull request. */
function planOfSides({ base, live, head }: Sides, review: Partial<ReviewInput> = {}, more: Partial<TestInput> = {}): Plan {
  const input = {
    desired: desiredState(head),
    live: liveAs(desiredState(live)),
    base: { commit: 'a'.repeat(40), desired: desiredState(base), removedIn: new Map() },
    consent,
    ...more,
  };
  const { value, diagnostics } = runReconcile(input, review);
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function connection(spec: Manifest['spec'] = {}, name = 'db'): Manifest {
  return connectionManifest(name, spec);
}

function acceptedOf({ accepted }: Plan): readonly unknown[] {
  return accepted.map(({ id, risks }) => [id, ...risks.map(({ code, class: one }) => `${one} ${code.slice('risk/'.length)}`)]);
}

function headlinesOf({ protection }: Plan): readonly string[] {
  return protection.headlines.map(({ text }) => text);
}

const noDrop = guardrailManifest('no-drop', [words('DROP', 'TRUNCATE')], { connection_ids: ['db'] });

const attached = (...names: readonly string[]): Manifest => maskingManifest('pii', { connection_ids: names, ...registered('PERSON') });

const sending = (host: string): Manifest =>
  connection({ reviewers: ['dba'], secret: { 'envvar:HOST': { value: host }, 'envvar:PASS': { value: 'x' } } });

const lasting = (seconds: number): Manifest => connection({ reviewers: ['dba'], access_max_duration: seconds });

const twelve = (spec: Manifest['spec']): readonly Manifest[] => Array.from({ length: 12 }, (_, index) => connection(spec, `db-${index}`));

const keyed = (token: JsonObject): Manifest => connection({ secret: { 'envvar:PASS': { value: 'p' }, 'envvar:TOKEN': token } });

describe('drift that the manifests accept', () => {
  test('is no deletion where the plan deletes the object: a connection, and a rule that was detached', () => {
    const [kept, old] = [connection({ reviewers: ['dba'] }), connection({}, 'old')];
    const plan = planOfSides({ base: [kept, old, attached('db', 'old')], live: [kept, old, attached()], head: [kept] });
    expect(plan.changes.map(({ id, action }) => `${action} ${id}`)).toEqual(['delete Connection/old', 'delete DataMaskingRule/pii']);
    expect(plan.accepted.map(({ id, action, fields }) => `${action} ${id} ${fields.length}`)).toEqual(['update DataMaskingRule/pii 0']);
    expect(headlinesOf(plan)).toContain(
      '1 connection loses masking of PERSON in the manifests; the gateway already has the change (changed outside Ostiary)',
    );
  });

  test('is planned for a rule that stays beside its successor, because something unmanaged needs it', () => {
    const [db, other] = [connection({}), connection({}, 'unmanaged')];
    const plan = planOfSides({
      base: [db, maskingManifest('pii', { connection_ids: ['db'], ...registered('PERSON') })],
      live: [db, other, maskingManifest('pii', { connection_ids: ['db', 'unmanaged'] })],
      head: [db, maskingManifest('next', { connection_ids: ['db'] }, { replaces: 'pii' })],
    });
    expect(plan.changes.map(({ id, action }) => `${action} ${id}`)).toEqual(['create DataMaskingRule/next']);
    expect(headlinesOf(plan)).toEqual([
      '2 connections lose masking of PERSON in the manifests; the gateway already has the change (changed outside Ostiary)',
    ]);
    expect(acceptedOf(plan)).toEqual([['DataMaskingRule/pii', 'weakens masking']]);
  });

  test.each([true, false])('is planned beside a successor, whose predecessor is pruned: %s', (prune) => {
    const [former, successor] = [connection({}, 'former'), connection({}, 'next')];
    const open = connection({ reviewers: [] });
    const plan = planOfSides(
      {
        base: [former, connection({ reviewers: ['dba'] })],
        live: [former, open],
        head: [{ ...successor, metadata: { ...successor.metadata, replaces: 'former' } }, open],
      },
      {},
      { consent: { ...consent, prune } },
    );
    expect(acceptedOf(plan)).toEqual([['Connection/db', 'weakens review']]);
  });

  test('a password under another key, which the gateway has already, is one where the earlier source is not resolved', () => {
    const [base, head] = [keyed({ valueFrom: { env: 'OSTIARY_SECRET_A' } }), keyed({ value: 'p' })];
    for (const isUnresolved of [false, true]) {
      const load = (one: Manifest): DesiredState => desiredState([one], { isUnresolved });
      const { value: plan } = runReconcile({
        desired: load(head),
        live: liveAs(desiredState([head])),
        base: { commit: 'a'.repeat(40), desired: load(base), removedIn: new Map() },
      });
      expect(plan && acceptedOf(plan)).toEqual([['Connection/db', 'reroutes secret-reused']]);
    }
  });

  test('the source of a kept password under another key, which the gateway has already, is one', () => {
    const stored = { valueFrom: { env: 'OSTIARY_SECRET_A' } };
    const head = connection({ secret: { 'envvar:PASS': stored, 'envvar:TOKEN': stored } });
    const plan = planOfSides({ base: [connection({ secret: { 'envvar:PASS': { keep: true } } })], live: [head], head: [head] });
    expect(acceptedOf(plan)).toEqual([['Connection/db', 'reroutes secret-reused']]);
  });

  test('a lost review is an entry without a write', () => {
    const open = connection({ reviewers: [] });
    const plan = planOfSides({ base: [connection({ reviewers: ['dba'] })], live: [open], head: [open] });
    expect(plan.changes).toEqual([]);
    expect(plan.accepted[0]?.fields).toEqual([{ path: '/reviewers/dba', before: { value: 'dba' }, after: { absent: true } }]);
    expect(highestPlanRisk(plan)).toBe('weakens');
    expect(headlinesOf(plan)).toEqual([
      '1 connection loses review in the manifests; the gateway already has the change (changed outside Ostiary)',
    ]);
    expect(plan.protection.losing).toEqual(['Connection/db']);
  });

  test('a stricter field beside it does not hide it', () => {
    const exec = { access_mode_exec: 'enabled' };
    const base = [connection({ ...exec, reviewers: ['dba'] })];
    const head = [connection({ ...exec, access_mode_connect: 'disabled' })];
    const plan = planOfSides({ base, live: [connection(exec)], head });
    expect(plan.changes.map(({ action }) => action)).toEqual(['update']);
    expect(highestPlanRisk(plan)).toBe('weakens');
    expect(headlinesOf(plan)[0]).toContain('loses review in the manifests');
  });

  test('what the plan holds of an object is no effect of what is accepted of it', () => {
    const plan = planOfSides({
      base: [connection({ reviewers: ['dba', 'sre'], redact_types: [] })],
      live: [connection({ reviewers: ['dba'], redact_types: ['PERSON'] })],
      head: [connection({ reviewers: ['dba'], redact_types: [] })],
    });
    expect(plan.changes.flatMap(({ fields }) => fields.map(({ held }) => held))).toEqual([true, true]);
    expect(acceptedOf(plan)).toEqual([['Connection/db', 'weakens review']]);
    const forced = { reviewers: ['a'], min_review_approvals: 3, force_approve_groups: ['b'] };
    const held = planOfSides(
      { base: [connection({ ...forced, force_approve_groups: [] })], live: [connection({ reviewers: ['b'] })], head: [connection(forced)] },
      {},
      { borrowed: ['Connection.min_review_approvals'] },
    );
    const texts = held.protection.headlines.map(({ text, causes }) => `${text.slice(0, 50)}: ${causes.map(({ path }) => path).join(' ')}`);
    expect(texts).toEqual(['1 connection can be force-approved by group b in t: /force_approve_groups/b']);
  });

  test('of drift that is accepted in part, only that part is', () => {
    const plan = planOfSides({
      base: [connection({ reviewers: ['a', 'b', 'c'] })],
      live: [connection({ reviewers: ['c'] })],
      head: [connection({ reviewers: ['b', 'c'] })],
    });
    expect(plan.accepted.map(({ fields }) => fields.map(({ path }) => path))).toEqual([['/reviewers/a']]);
    expect(plan.changes.map(({ fields }) => fields.map(({ path }) => path))).toEqual([['/reviewers/b']]);
  });

  test.each([
    ['an entry of a rule', [guardrailManifest('no-drop', [words('DROP')], { connection_ids: ['db'] })], 'GuardrailRule/no-drop'],
    ['an attachment', [guardrailManifest('no-drop', [words('DROP', 'TRUNCATE')])], 'GuardrailRule/no-drop'],
    ['a whole rule', [], 'GuardrailRule/no-drop'],
  ])('%s that was removed by hand and in the manifests', (_, rules, id) => {
    const plan = planOfSides({ base: [connection(), noDrop], live: [connection(), ...rules], head: [connection(), ...rules] });
    expect(plan.changes).toEqual([]);
    expect(plan.accepted.map((one) => one.id)).toEqual([id]);
    expect(highestPlanRisk(plan)).toBe('weakens');
    expect(headlinesOf(plan)).toHaveLength(1);
  });

  test('a rule that was deleted by hand stays an orphan in no plan without prune', () => {
    const sides = { base: [connection(), noDrop], live: [connection()], head: [connection()] };
    const plan = planOfSides(sides, {}, { consent: { ...consent, prune: false } });
    expect(acceptedOf(plan)).toEqual([['GuardrailRule/no-drop', 'weakens input']]);
  });

  test('strengthening is no alarm', () => {
    const reviewed = connection({ reviewers: ['dba'] });
    const plan = planOfSides({ base: [connection()], live: [reviewed], head: [reviewed] });
    expect(plan.accepted).toHaveLength(1);
    expect(highestPlanRisk(plan)).toBe('strengthens');
    expect(headlinesOf(plan)).toEqual([]);
  });

  test('an import of a connection without protection gives access; one with protection does not', () => {
    const base = [connection({ reviewers: ['dba'] }, 'first')];
    const live = [...base, connection()];
    expect(acceptedOf(planOfSides({ base, live, head: live }))).toEqual([['Connection/db', 'exposes exposed']]);
    const reviewed = [...base, connection({ reviewers: ['dba'] })];
    expect(planOfSides({ base, live: reviewed, head: reviewed }).accepted).toEqual([]);
  });

  test('a replacement keeps what its predecessor lost by hand', () => {
    const successor = { ...connection({ reviewers: [] }, 'next'), metadata: { name: 'next', replaces: 'db' } };
    const plan = planOfSides({ base: [connection({ reviewers: ['dba'] })], live: [connection()], head: [successor] });
    expect(acceptedOf(plan)).toEqual([['Connection/next', 'weakens review']]);
    expect(plan.accepted).toMatchObject([{ action: 'update', fields: [] }]);
    expect(highestPlanRisk(plan)).toBe('weakens');
  });

  test('an endpoint that was moved by hand and in the manifest reroutes the kept password', () => {
    const plan = planOfSides({ base: [sending('one')], live: [sending('two')], head: [sending('two')] });
    expect(plan.changes).toEqual([]);
    expect(acceptedOf(plan)).toEqual([['Connection/db', 'reroutes endpoint-rerouted']]);
    expect(JSON.stringify(plan.accepted)).not.toMatch(/one|two/);
  });

  test('nothing is accepted without a base, without a change of the manifests, and without drift', () => {
    const [reviewed, open] = [connection({ reviewers: ['dba'] }), connection()];
    expect(planOfSides({ base: [reviewed], live: [open], head: [open] }, {}, { base: undefined }).accepted).toEqual([]);
    expect(planOfSides({ base: [reviewed], live: [open], head: [reviewed] }).accepted).toEqual([]);
    expect(planOfSides({ base: [reviewed], live: [reviewed], head: [open] }).accepted).toEqual([]);
  });

  test('what the plan itself weakens is not accepted once more', () => {
    const plan = planOfSides({ base: [lasting(1200)], live: [lasting(600)], head: [lasting(3600)] });
    expect(highestPlanRisk(plan)).toBe('weakens');
    expect(plan.accepted).toEqual([]);
    const restored = planOfSides({ base: [lasting(600)], live: [lasting(7200)], head: [lasting(3600)] });
    expect(restored.accepted[0]?.fields.map(({ path }) => path)).toEqual(['/access_max_duration']);
    expect(highestPlanRisk(restored)).toBe('weakens');
  });

  test('what a connection that the plan creates again lost since the base is stated', () => {
    const other = connection({}, 'other');
    const plan = planOfSides({
      base: [connection({ reviewers: ['a', 'b'] }), other],
      live: [other],
      head: [connection({ reviewers: ['a'] }), other],
    });
    expect(plan.changes.map(({ id, action }) => `${action} ${id}`)).toEqual(['create Connection/db']);
    expect(acceptedOf(plan)).toEqual([['Connection/db', 'weakens review']]);
  });

  test('what a managed rule let go of is none: no plan writes it', () => {
    const base = [connection({ access_max_duration: 600 }), attached('db')];
    const found = liveAs(desiredState([connection({ access_max_duration: 600 }), attached()]));
    const resources = found.resources.map((one) => (one.id === 'DataMaskingRule/pii' ? { ...one, managedBy: 'another' } : one));
    const plan = planOfSides({ base, live: base, head: [connection(), attached('db')] }, {}, { live: { ...found, resources } });
    expect([acceptedOf(plan), headlinesOf(plan).filter((text) => text.includes('masking'))]).toEqual([[], []]);
  });

  test('the drift of a predecessor that stays is that of its successor alone', () => {
    const successor = { ...connection({ reviewers: ['dba'] }, 'next'), metadata: { name: 'next', replaces: 'db' } };
    const sides = {
      base: [connection({ access_schema: 'disabled', reviewers: ['dba'] })],
      live: [connection({ access_schema: 'enabled', reviewers: ['dba'] })],
    };
    const plan = planOfSides({ ...sides, head: [successor] }, {}, { consent: { ...consent, prune: false } });
    expect(plan.protection.headlines.filter(({ causes }) => causes.length === 0)).toEqual([]);
    expect(plan.accepted.filter(({ id }) => id === 'Connection/db')).toEqual([]);
  });

  test('what a connection lost since the base is stated, although an interrupted apply left it closed', () => {
    const closed = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
    const [open, rule] = [connection({ reviewers: ['dba'] }), attached('db')];
    const found = liveAs(desiredState([connection({ ...closed, reviewers: ['dba'] }), rule]));
    const resources = found.resources.map((one) => (one.id === 'Connection/db' ? { ...one, untouched: true } : one));
    const plan = planOfSides(
      { base: [open, rule], live: [open], head: [open, maskingManifest('pii', { connection_ids: ['db'] })] },
      {},
      { live: { ...found, resources } },
    );
    expect(plan.changes.map(({ id, unfinished }) => [id, unfinished])).toContainEqual(['Connection/db', true]);
    expect(headlinesOf(plan).filter((text) => text.includes('loses masking'))).toHaveLength(1);
  });

  test('an attachment of a rule that the plan deletes is of that rule', () => {
    const [other, rule] = [connection({}, 'other'), attached('db', 'other')];
    const plan = planOfSides({
      base: [connection(), other, rule],
      live: [connection(), other, attached('db')],
      head: [connection(), other],
    });
    expect(plan.accepted.map(({ id, edges }) => [id, edges.map((one) => one.connection)])).toEqual([
      ['DataMaskingRule/pii', ['Connection/other']],
    ]);
  });

  test('the digest covers it, and --max-risk refuses it', () => {
    const open = connection({ reviewers: [] });
    const sides = { live: [open], head: [open] };
    const plan = planOfSides({ base: [connection({ reviewers: ['dba'] })], ...sides }, { maxRisk: 'neutral' });
    expect(plan.refusals.map(({ code }) => code)).toEqual([expect.stringMatching(/^risk\//)]);
    expect(plan.seals.digest).not.toBe(planOfSides({ base: [open], ...sides }).seals.digest);
  });

  test('the limit on lost protection counts it', () => {
    const limits = { ...noLimits, protections: 0.3 };
    const plan = planOfSides({ base: twelve({ reviewers: ['dba'] }), live: twelve({}), head: twelve({}) }, {}, { limits });
    expect(plan.refusals.map(({ code }) => code)).toEqual(['plan/too-many-lose-protection']);
  });

  test('the changes of a pull request itself are labeled', () => {
    const [reviewed, open] = [[connection({ reviewers: ['dba'] })], [connection({ reviewers: [] })]];
    const ownOf = (started: readonly Manifest[]): boolean | undefined =>
      planOfSides({ base: reviewed, live: open, head: open }, {}, { start: desiredState(started) }).accepted[0]?.own;
    expect([ownOf(reviewed), ownOf(open)]).toEqual([true, false]);
  });
});
