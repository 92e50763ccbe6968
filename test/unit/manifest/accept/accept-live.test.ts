import { describe, expect, it } from 'vitest';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { acceptDrift, change, orders, rule } from './accept-fixtures.ts';

describe('accepting drift', () => {
  it('edits scalars, sets and maps in place, and adds unstated fields in the order of the schema', async () => {
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders },
      change('Connection/orders', {
        access_max_duration: 900,
        reviewers: ['dba', 'security: on call'],
        connection_tags: { env: 'prod', owner: 'ann' },
        redact_types: ['PERSON'],
        redact_enabled: true,
      }),
    );
    expect(texts['orders.yaml']).toBe(
      orders
        .replace('3600 # an hour', '900 # an hour')
        .replace("  - 'sre'\n", "  - 'security: on call'\n")
        .replace('{env: prod, team: orders}', '{env: prod, owner: ann}\n  redact_types:\n  - PERSON'),
    );
    expect(left).toEqual([]);
  });

  it('states a secret only as kept', async () => {
    const { texts, left } = await acceptDrift({ 'orders.yaml': orders }, (gateway) => {
      const found = gateway.state()['Connection/orders'];
      if (found === undefined) throw new Error('it is gone');
      gateway.put({ ...found, secrets: { '/secret/envvar:HOST': btoa('canary'), '/secret/envvar:NEW': btoa('canary') } });
    });
    expect(texts['orders.yaml']).toBe(
      orders
        .replace('{ value: 10.0.0.5 }', '{ keep: true }')
        .replace('    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_ORDERS } }\n', '    envvar:NEW: { keep: true }\n'),
    );
    expect(texts['orders.yaml']).not.toMatch(/canary|Y2FuYXJ5/);
    expect(left).toEqual([]);
  });

  it('writes a value to the file that set it', async () => {
    const overlay = orders
      .split('\n')
      .slice(1, 4)
      .join('\n')
      .concat('\nspec:\n  # Shorter there.\n  access_max_duration: 600\n  connection_tags: { team: ops }\n');
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders },
      change('Connection/orders', { access_max_duration: 300, reviewers: ['dba'], connection_tags: { env: 'dev' } }),
      { 'over.yaml': overlay },
    );
    expect(texts).toEqual({
      'orders.yaml': orders.replace("  - 'sre'\n", '').replace('env: prod', 'env: dev'),
      'over.yaml': overlay.replace('600', '300').replace('team: ops', 'team: null'),
    });
    expect(left).toEqual([]);
  });

  it('writes into a map that an overlay reset, and keeps the keys of the manifest removed', async () => {
    const overlay =
      'apiVersion: ostiary/v1\nkind: Connection\nmetadata: {name: orders}\nspec:\n  connection_tags: null # none\n  reviewers: []\n';
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders },
      change('Connection/orders', { connection_tags: { env: 'dev', owner: 'ann' } }),
      { 'over.yaml': overlay },
    );
    expect(texts).toEqual({ 'over.yaml': overlay.replace('null #', '{team: null, env: dev, owner: ann} #') });
    expect(left).toEqual([]);
  });

  it('adds an exception to a selector for a detached edge', async () => {
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders, 'bills.yaml': orders.replace('name: orders', 'name: bills'), 'rule.yaml': rule },
      change('GuardrailRule/no-drop', {}, { connection_ids: ['Connection/bills'] }),
    );
    expect(texts).toEqual({ 'rule.yaml': rule.replace('{ env: prod } }', '{ env: prod }, except: [orders] }') });
    expect(left).toEqual([]);
  });

  it('lists an attached edge on the side that states edges', async () => {
    const listing = rule.replace(/ {2}connection_selector.*\n/, '  connection_ids: [bills]\n');
    const bills = orders.replace('name: orders', 'name: bills');
    const both: readonly ResourceId[] = ['Connection/bills', 'Connection/orders'];
    const byRule = await acceptDrift(
      { 'orders.yaml': orders, 'bills.yaml': bills, 'rule.yaml': listing },
      change('GuardrailRule/no-drop', {}, { connection_ids: both }),
    );
    expect(byRule.texts).toEqual({ 'rule.yaml': listing.replace('[bills]', '[bills, orders]') });
    expect(byRule.left).toEqual([]);
    const silent = rule.replace(/ {2}connection_selector.*\n/, '');
    const byConnection = await acceptDrift(
      { 'orders.yaml': orders, 'rule.yaml': silent },
      change('GuardrailRule/no-drop', {}, { connection_ids: ['Connection/orders'] }),
    );
    expect(byConnection.texts).toEqual({
      'orders.yaml': orders.replace('team: orders}\n', 'team: orders}\n  guardrail_rules:\n  - no-drop\n'),
    });
    expect(byConnection.left).toEqual([]);
  });

  it('edits, adds and removes entries of rules', async () => {
    const drop = { name: 'drop', type: 'deny_words_list', words: ['DROP', 'DELETE'], pattern_regex: '' };
    const added = { name: 'copy', type: 'pattern_match', words: [], pattern_regex: '(?i)copy' };
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders, 'rule.yaml': rule },
      change('GuardrailRule/no-drop', { input: { rules: [drop, added] } }),
    );
    expect(texts['rule.yaml']).toBe(
      rule
        .replace('[DROP, TRUNCATE]', '[DROP, DELETE]')
        .replace(
          '      - { name: grant, type: deny_words_list, words: [GRANT] }\n',
          '      - name: copy\n        type: pattern_match\n        pattern_regex: (?i)copy\n',
        ),
    );
    expect(left).toEqual([]);
  });

  it('states unwatched protections on request', async () => {
    const shows = { attributes: ['pci'], min_review_approvals: 2 };
    const quiet = await acceptDrift({ 'orders.yaml': orders }, () => undefined, {}, { shows });
    expect(quiet.texts).toEqual({});
    const { texts, left } = await acceptDrift({ 'orders.yaml': orders }, () => undefined, {}, { shows, watches: true });
    expect(texts['orders.yaml']).toBe(`${orders}  attributes:\n  - pci\n  min_review_approvals: 2\n`);
    expect(left).toEqual([]);
  });

  it('reports the differences that it cannot accept, and accepts the rest', async () => {
    const twins = ['DROP', 'DELETE'].map((word) => ({ name: 'drop', type: 'deny_words_list', words: [word], pattern_regex: '' }));
    const files = { 'orders.yaml': orders, 'bills.yaml': orders.replace('name: orders', 'name: bills'), 'rule.yaml': rule };
    const { texts, diagnostics } = await acceptDrift(files, (gateway) => {
      change('Connection/orders', { access_max_duration: 60 })(gateway);
      change('GuardrailRule/no-drop', { description: 'why', input: { rules: twins } })(gateway);
      gateway.drop('Connection/bills');
    });
    expect([...new Set(diagnostics.map(({ code, resource, at }) => `${code} ${resource} ${at?.file}:${at?.line}`))]).toEqual([
      'adopt/removed Connection/bills bills.yaml:2',
      'adopt/impossible GuardrailRule/no-drop rule.yaml:9',
      'adopt/impossible GuardrailRule/no-drop rule.yaml:11',
      'adopt/impossible GuardrailRule/no-drop rule.yaml:12',
    ]);
    expect(texts['orders.yaml']).toBe(orders.replace('3600', '60'));
    expect(texts['rule.yaml']).toContain('  description: why\n');
  });
});
