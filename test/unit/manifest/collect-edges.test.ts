import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { findDeferredReferences } from '../../../src/manifest/collect-edges.ts';
import { nameOf } from '../../../src/model/resource.ts';
import { connection, guardrail, load, manifest, toLines } from './manifest-fixtures.ts';

const tagged = {
  'a.yaml': connection('a', 'connection_tags: { env: prod, team: x }'),
  'b.yaml': connection('b', 'connection_tags: { env: prod }'),
  'c.yaml': connection('c', 'connection_tags: { env: dev }'),
};

describe('an edge', () => {
  test('can be declared on either side and by a selector, and counts once', () => {
    const files = {
      ...tagged,
      'c.yaml': connection('c', 'guardrail_rules: [r, other]'),
      'r.yaml': guardrail('r', 'connection_ids: [a, c]', 'connection_selector: { match_tags: { env: prod } }'),
    };
    expect(load(files).value?.edges).toEqual([
      {
        rule: 'GuardrailRule/other',
        connection: 'Connection/c',
        declarations: [listed('Connection/c', '/guardrail_rules/other')],
      },
      {
        rule: 'GuardrailRule/r',
        connection: 'Connection/a',
        declarations: [
          listed('GuardrailRule/r', '/connection_ids/a'),
          { by: 'GuardrailRule/r', how: 'selector', path: '/connection_selector' },
        ],
      },
      {
        rule: 'GuardrailRule/r',
        connection: 'Connection/b',
        declarations: [{ by: 'GuardrailRule/r', how: 'selector', path: '/connection_selector' }],
      },
      {
        rule: 'GuardrailRule/r',
        connection: 'Connection/c',
        declarations: [listed('Connection/c', '/guardrail_rules/r'), listed('GuardrailRule/r', '/connection_ids/c')],
      },
    ]);
  });

  test('is not a field of spec', () => {
    const [, , , rule] = load({ ...tagged, 'r.yaml': manifest('DataMaskingRule', 'r', 'connection_ids: [a]') }).value?.resources ?? [];
    expect(rule?.spec).not.toHaveProperty('connection_ids');
    expect(rule?.spec).not.toHaveProperty('connection_selector');
    expect(rule?.stated.has('connection_ids')).toBe(true);
  });
});

describe('a selector', () => {
  test('matches connections with all tags, except the named ones', () => {
    expect(selected('{ match_tags: { env: prod } }')).toEqual(['a', 'b']);
    expect(selected('{ match_tags: { env: prod, team: x } }')).toEqual(['a']);
    expect(selected('{ match_tags: { env: prod }, except: [a] }')).toEqual(['b']);
    expect(selected('{ match_tags: { env: test }, allow_empty: true }')).toEqual([]);
  });

  test('must match at least one manifest', () => {
    expect(selected('{ match_tags: { env: test } }')).toEqual(['r.yaml:6:3 error manifest/selector-empty']);
    expect(selected('{ match_tags: { env: dev }, except: [c] }')).toEqual(['r.yaml:6:3 error manifest/selector-empty']);
    expect(selected('{ match_tags: {} }')).toEqual(['r.yaml:6:38 error manifest/too-short']);
  });

  test('accepts only names of manifests', () => {
    const { diagnostics } = load({
      'a.yaml': connection('orders', 'connection_tags: { env: prod }'),
      'r.yaml': guardrail('r', 'connection_selector: { match_tags: { env: prod }, except: [order] }'),
    });
    expect(toLines(diagnostics)).toEqual(['r.yaml:6:62 error manifest/unknown-name']);
    expect(diagnostics[0]?.hint).toBe('did you mean "orders"?');
  });

  test('must not match a tag that a connection ignores', () => {
    for (const ignored of ['/connection_tags', '/connection_tags/env']) {
      const files = { ...tagged, 'd.yaml': connection(`d\n  ignore: [${ignored}]`) };
      expect(selected('{ match_tags: { env: prod } }', files)).toEqual(['r.yaml:6:40 error manifest/selector-ignored-tag']);
      expect(selected('{ match_tags: { env: prod }, except: [d] }', files)).toEqual(['a', 'b']);
    }
    expect(selected('{ match_tags: { env: prod } }', { ...tagged, 'd.yaml': connection('d\n  ignore: [/connection_tags/team]') })).toEqual([
      'a',
      'b',
    ]);
  });

  test('must contradict neither its own rule nor the connection', () => {
    const selector = 'connection_selector: { match_tags: { env: prod }, except: [b] }';
    const own = load({ ...tagged, 'r.yaml': guardrail('r', 'connection_ids: [b]', selector) });
    expect(toLines(own.diagnostics)).toEqual(['r.yaml:6:20 error manifest/selector-contradiction']);
    const other = load({ ...tagged, 'b.yaml': connection('b', 'guardrail_rules: [r]'), 'r.yaml': guardrail('r', selector) });
    expect(toLines(other.diagnostics)).toEqual(['b.yaml:11:21 warning manifest/selector-contradiction']);
    expect(other.value?.edges.map((edge) => nameOf(edge.connection))).toEqual(['a', 'b']);
  });
});

describe('a deferred reference', () => {
  test('is reported once for each name, as a warning if a manifest has a similar name', () => {
    const files = {
      ...tagged,
      'd.yaml': connection('d', 'guardrail_rules: [no-dorp, 5cbe7b1f-0000-4000-8000-000000000000]'),
      'r.yaml': guardrail('no-drop', 'connection_ids: [a]'),
    };
    const { value } = load(files);
    const notices = value === undefined ? [] : findDeferredReferences(value, registry);
    expect(toLines(notices)).toEqual([
      'a.yaml:7:13 notice manifest/deferred-reference',
      'd.yaml:11:30 notice manifest/deferred-reference',
      'd.yaml:11:21 warning manifest/deferred-reference',
    ]);
    expect(notices[0]?.message).toBe('no manifest declares Agent "prod-agent" (named 4 times); it must exist on the gateway');
    expect(notices[2]?.hint).toBe('did you mean "no-drop"?');
  });
});

/** Returns the connections that a rule's selector matches, or its diagnostics. */
function selected(selector: string, files: Readonly<Record<string, string>> = tagged): readonly string[] {
  const { value, diagnostics } = load({ ...files, 'r.yaml': guardrail('r', `connection_selector: ${selector}`) });
  return value === undefined ? toLines(diagnostics) : value.edges.map((edge) => nameOf(edge.connection));
}

function listed(by: string, path: string): object {
  return { by, how: 'listed', path };
}
