import { specFields } from '../kinds/fields.ts';
import type { JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { maxResourceNameLength, servedConnectionTypes } from '../model/served-rules.ts';

const schema: JsonObject = {
  description: `Groups of connections. Writing a connection creates the resource of its \`resource_name\` with its type, subtype and agent;
an existing resource is not changed, and is kept after its last connection is deleted. One with connections cannot be deleted.`,
  $defs: {
    metadata: { properties: { name: { type: 'string', minLength: 1, maxLength: maxResourceNameLength, description: 'Unique.' } } },
    spec: {
      required: ['type'],
      properties: {
        type: { type: 'string', enum: [...servedConnectionTypes], description: 'Same values as the type of a connection.' },
        subtype: { type: ['string', 'null'], maxLength: 64, default: '', description: 'Same values as the subtype of a connection.' },
        agent_id: {
          type: ['string', 'null'],
          pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
          default: '',
          description: 'The agent of the resource; empty: none.',
        },
        env_vars: {
          type: ['object', 'null'],
          propertyNames: {
            pattern: '^(envvar|filesystem):[A-Za-z_][A-Za-z0-9_.-]*$',
            'x-ostiary-pattern-hint': 'envvar:NAME or filesystem:NAME',
          },
          default: {},
          description:
            'Secrets of all connections of the resource, written like those of a connection, whose own take precedence; null keeps the stored value.',
          'x-ostiary-secret': 'base64',
        },
      },
    },
  },
};

/** A resource as a kind that has no manifests: a group of connections. */
export const resourceKind: Kind = {
  name: 'Resource',
  schema,
  fields: specFields(schema).map((field) => (field.name === 'agent_id' ? { ...field, refers: 'Agent' } : field)),
  identity: (name) => name,
  named: true,
  renamable: true,
  derived: () => ({}),
  createDefaults: () => ({}),
  check: () => [],
};
