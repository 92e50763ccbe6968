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

  it('edits a list of an overlay in place', async () => {
    const overlay = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: {name: orders}\nspec: {reviewers: [dba, sre, leads]}\n';
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders },
      change('Connection/orders', { reviewers: ['dba', 'leads', 'new'] }),
      {
        'over.yaml': overlay,
      },
    );
    expect(texts).toEqual({ 'over.yaml': overlay.replace('[dba, sre, leads]', '[dba, leads, new]') });
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

  it('allows a selector to be empty if its exceptions exclude every match', async () => {
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders, 'rule.yaml': rule },
      change('GuardrailRule/no-drop', {}, { connection_ids: [] }),
    );
    expect(texts).toEqual({ 'rule.yaml': rule.replace('{ env: prod } }', '{ env: prod }, except: [orders], allow_empty: true }') });
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

  it('removes an exception if that attaches the edge', async () => {
    const excepting = rule.replace('{ env: prod } }', '{ env: prod }, except: [orders] }');
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders, 'bills.yaml': orders.replace('name: orders', 'name: bills'), 'rule.yaml': excepting },
      change('GuardrailRule/no-drop', {}, { connection_ids: ['Connection/bills', 'Connection/orders'] }),
    );
    expect(texts).toEqual({ 'rule.yaml': excepting.replace('[orders]', '[]') });
    expect(left).toEqual([]);
  });

  it('keeps the live edges if a tag changes that a selector matches', async () => {
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders, 'bills.yaml': orders.replace('name: orders', 'name: bills'), 'rule.yaml': rule },
      change('Connection/orders', { connection_tags: { env: 'dev', team: 'orders' } }),
    );
    expect(texts).toEqual({
      'orders.yaml': orders.replace('{env: prod, team: orders}\n', '{env: dev, team: orders}\n  guardrail_rules:\n  - no-drop\n'),
    });
    expect(left).toEqual([]);
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

  it('does not change other users of an anchored value', async () => {
    const text = `${orders.replace('  reviewers:\n', '  reviewers: &groups\n').replace(/ {2}connection_tags[\s\S]*/, '')}  force_approve_groups: *groups\n`;
    const { texts, diagnostics } = await acceptDrift({ 'orders.yaml': text }, change('Connection/orders', { reviewers: ['dba'] }));
    expect(texts).toEqual({});
    expect(diagnostics.map(({ code, at, message }) => [code, `${at?.file}:${at?.line}`, message])).toEqual([
      [
        'adopt/impossible',
        'orders.yaml:18',
        'the manifests cannot accept /reviewers/sre of Connection/orders: /spec/reviewers is not edited: ' +
          'the alias *groups on line 20 may use it; write the value in place of the alias',
      ],
    ]);
  });

  it('states a command that accepted and ignored values would derive differently', async () => {
    const text = orders
      .replace('{ name: orders }', '{ name: orders, ignore: [/subtype] }')
      .replace('type: database ', 'type: custom ')
      .replace('  subtype: "postgres"\n', '  command: null\n');
    const byHand = change('Connection/orders', { type: 'database', subtype: 'postgres', command: ['bash'] });
    const { texts, left } = await acceptDrift({ 'orders.yaml': text }, byHand);
    expect(texts['orders.yaml']).toContain('type: database ');
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

  it('reports an entry that has the same name as an ignored one', async () => {
    const ignoring = 'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: no-drop, ignore: [/input/rules/drop] }\nspec: {}\n';
    const twins = ['DROP', 'DELETE'].map((word) => ({ name: 'drop', type: 'deny_words_list', words: [word], pattern_regex: '' }));
    const { texts, left, diagnostics } = await acceptDrift(
      { 'rule.yaml': ignoring },
      change('GuardrailRule/no-drop', { input: { rules: twins } }),
    );
    expect([texts, diagnostics.map(({ code }) => code)]).toEqual([{}, ['adopt/impossible']]);
    expect(left).toHaveLength(1);
  });

  it('leaves out the part of a field that no manifest can state', async () => {
    const { texts, left } = await acceptDrift(
      { 'orders.yaml': orders },
      change('Connection/orders', { reviewers: ['dba', '', 'security'], connection_tags: { env: "it's", team: 'billing' } }),
    );
    expect(texts['orders.yaml']).toBe(
      orders.replace("  - 'sre'\n", "  - 'security'\n").replace('{env: prod, team: orders}', '{env: prod, team: billing}'),
    );
    expect(left).toEqual(['Connection/orders /connection_tags/env', 'Connection/orders /reviewers/']);
  });
});
