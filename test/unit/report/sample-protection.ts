import type { Protection } from '../../../src/model/protection/protection.ts';
import type { ResourceId } from '../../../src/model/resource.ts';

/** Returns the protection part of the sample plan. */
export const sampleProtection: Protection = {
  headlines: [
    {
      direction: 'weakens',
      text: '7 connections lose a guardrail',
      connections: ['sandbox', 'a', 'b', 'c', 'd', 'e', 'a-connection-with-a-name-so-long-that-few-ever-read-it-to-its-very-end'].map(
        (name): ResourceId => `Connection/${name}`,
      ),
      tags: { env: 'staging', team: '`@everyone` <b>', tier: '3', zone: 'eu' },
      causes: [
        { by: 'GuardrailRule/no-drop', edge: 'Connection/sandbox', place: 'manifests/rules.yaml:8:7' },
        { by: 'GuardrailRule/no-drop', path: '/input/rules/ddl', place: 'manifests/rules.yaml:14:9', byHand: true },
        { by: 'DataMaskingRule/legacy-mask' },
        { by: 'GuardrailRule/more', place: 'manifests/more.yaml:1:1' },
        { by: 'GuardrailRule/even-more', place: 'manifests/more.yaml:9:1' },
      ],
    },
    {
      direction: 'unknown',
      text: '1 connection changes guardrail patterns in a way that cannot be compared',
      connections: ['Connection/orders-db'],
      tags: {},
      causes: [{ by: 'GuardrailRule/no-drop', path: '/input/rules/pattern', byHand: true }],
    },
    {
      direction: 'strengthens',
      text: '1 connection closes exec',
      connections: ['Connection/billing-db'],
      tags: { env: 'staging' },
      causes: [{ by: 'Connection/billing-db', path: '/access_mode_exec', place: 'manifests/billing.yaml:12:1' }],
    },
  ],
  connections: [
    {
      connection: 'Connection/billing-db',
      direction: 'both',
      tags: { env: 'staging' },
      controls: [
        {
          control: 'access',
          direction: 'strengthens',
          before: ['exec'],
          after: [],
          causes: [{ by: 'Connection/billing-db', path: '/access_mode_exec', place: 'manifests/billing.yaml:12:1', byHand: true }],
        },
        {
          control: 'input',
          direction: 'weakens',
          before: ['DROP'],
          after: [],
          atLeast: true,
          causes: [{ by: 'GuardrailRule/no-drop', edge: 'Connection/billing-db' }],
        },
      ],
      rules: [
        { rule: 'GuardrailRule/no-drop', before: { controls: ['input'], by: [{ how: 'direct' }] } },
        {
          rule: 'DataMaskingRule/mask-staff',
          before: { controls: ['masking'], by: [{ how: 'edge' }] },
          after: {
            controls: ['masking'],
            by: [
              { how: 'selector', place: 'manifests/rules.yaml:20:5' },
              { how: 'attribute', attribute: 'pci' },
            ],
          },
        },
      ],
    },
    { connection: 'Connection/orders-db', direction: 'neutral', created: true, tags: {}, controls: [] },
    { connection: 'Connection/old-db', direction: 'neutral', deleted: true, tags: {}, controls: [] },
  ],
  losing: ['Connection/billing-db'],
};
