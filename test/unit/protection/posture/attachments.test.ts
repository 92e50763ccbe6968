import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { Attachment, ConnectionRule } from '../../../../src/model/protection/protection.ts';
import { connectionRules, snapshotPlan } from '../../../../src/protection/posture/diff-postures.ts';
import { readPostures } from '../../../../src/protection/posture/posture.ts';
import { desiredSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { stateOf } from '../../../support/resources.ts';
import { planWithRisks, connectionManifest, guardrailManifest, idOf, words } from '../../../support/risks.ts';
import { changeOf, connection, fieldOf, guardrail } from '../protection-fixtures.ts';

const prod = { env: 'prod' };
const db = connectionManifest('db', { connection_tags: prod });
const selecting = { connection_selector: { match_tags: prod } };

function noDrop(spec: Parameters<typeof guardrailManifest>[2]): ReturnType<typeof guardrailManifest> {
  return guardrailManifest('no-drop', [words('DROP')], spec);
}

function side(by: readonly Attachment[] | undefined): string {
  return by === undefined ? 'nothing' : by.map(({ how, attribute = '' }) => `${how}${attribute}`).join('+');
}

/** How each rule is on a connection, before and after: `no-drop: edge → selector`. */
function contributions(rules: readonly ConnectionRule[] = []): readonly string[] {
  return rules.map(({ rule, before, after }) => `${rule}: ${side(before?.by)} → ${side(after?.by)}`);
}

function rulesOf(made: ReturnType<typeof planWithRisks>): readonly ConnectionRule[] {
  return made.protection?.connections.find((one) => one.connection === idOf('db'))?.rules ?? [];
}

describe('how rules are attached', () => {
  it('is known for both sides when the base is known', () => {
    const closed = connectionManifest('db', { connection_tags: prod, reviewers: ['dba'] });
    const made = planWithRisks([db, noDrop({ connection_ids: ['db'] })], [closed, noDrop(selecting)]);
    expect(contributions(rulesOf(made))).toEqual(['GuardrailRule/no-drop: direct → selector']);
  });

  it('is not guessed for the live side without a base', () => {
    const closed = connectionManifest('db', { connection_tags: prod, reviewers: ['dba'] });
    const made = planWithRisks([db, noDrop({ connection_ids: ['db'] })], [closed, noDrop(selecting)], { withBase: false });
    expect(contributions(rulesOf(made))).toEqual(['GuardrailRule/no-drop: edge → selector']);
  });

  it('lists all attachments with their positions', () => {
    const listing = connectionManifest('db', { connection_tags: prod, guardrail_rules: ['no-drop'] });
    const desired = desiredState([listing, noDrop(selecting)]);
    const made = planWithRisks([], [listing, noDrop(selecting)]);
    expect(contributions(rulesOf(made))).toEqual(['GuardrailRule/no-drop: nothing → direct+selector']);
    const views = snapshotPlan(made, { resources: [], lookups: {} }, registry, { desired });
    const [rule] = connectionRules(idOf('db'), views, desired);
    expect(rule).toMatchObject({ rule: 'GuardrailRule/no-drop', after: { controls: ['input'] } });
    expect(rule?.after?.by.map(({ how }) => how)).toEqual(['direct', 'selector']);
    for (const { place } of rule?.after?.by ?? []) expect(place).toMatch(/:\d+:\d+$/);
  });

  it('is not a loss when only the kind of attachment changes', () => {
    const made = planWithRisks([db, noDrop({ connection_ids: ['db'] })], [db, noDrop(selecting)]);
    expect(made.changes).toEqual([]);
    expect(made.protection?.headlines).toEqual([]);
  });

  it('shows a selector that no longer matches a connection', () => {
    const renamed = connectionManifest('db', { connection_tags: { env: 'production' } });
    const made = planWithRisks(
      [db, connectionManifest('other', { connection_tags: prod }), noDrop(selecting)],
      [renamed, connectionManifest('other', { connection_tags: prod }), noDrop(selecting)],
    );
    expect(contributions(rulesOf(made))).toEqual(['GuardrailRule/no-drop: selector → nothing']);
    expect(made.protection?.impact).toMatchObject([
      {
        path: '/connection_tags/env',
        edges: true,
        direction: 'weakens',
        connections: [idOf('db')],
        tags: [{ tag: 'env=production', connections: 1 }],
      },
    ]);
  });

  it('shows shared attributes', () => {
    const live = stateOf(connection('db', { attributes: ['pci', 'web'] }), guardrail('g', ['DROP'], [], { attributes: ['pci', 'web'] }));
    const writes = {
      target: { name: 'test', url: 'http://test', dialect: 'hoop' },
      changes: [changeOf('Connection/db', [fieldOf('/attributes/web', 'web', undefined)])],
      edges: [{ rule: 'GuardrailRule/g', connection: idOf('db'), action: 'attach', declared: [] }],
    } as const;
    expect(contributions(connectionRules(idOf('db'), snapshotPlan(writes, live, registry), { edges: [], resources: [] }))).toEqual([
      'GuardrailRule/g: attributepci+attributeweb → edge+attributepci',
    ]);
  });

  it('is the same for manifests alone', () => {
    const snapshot = desiredSnapshot(desiredState([db, noDrop(selecting)]), registry, 'interface');
    const [[rule, attached] = []] = [...(readPostures(snapshot)(idOf('db'))?.rules ?? [])];
    expect([rule, attached?.controls, attached?.by.map(({ how }) => how)]).toEqual(['GuardrailRule/no-drop', ['input'], ['selector']]);
  });
});
