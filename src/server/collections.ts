import type { FieldRule } from '../model/field.ts';
import type { JsonObject } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { secretReferencePattern, secretValueSchema, type Secrets } from './store/secrets.ts';
import type { EdgeTable, ObjectTable } from './store/tables.ts';

/** What only the gateway knows of a kind: where its objects are served and kept. */
type KindRow = {
  readonly path: string;
  readonly table: ObjectTable;
  /** Where the edges of a rule kind are kept. */
  readonly edges?: EdgeTable;
  /** Objects can be addressed by name too. */
  readonly byName: boolean;
  /** The field that identifies an object; lists are sorted by it. */
  readonly identityField: string;
  /** Fields that follow from the others, whatever the caller sends. */
  readonly computed: readonly string[];
  /** What the gateway asks of fields beyond what manifests must have, as schemas. */
  readonly narrows: JsonObject;
  /** Other forms that fields may have here alone, as patterns. */
  readonly otherForms?: Readonly<Record<string, string>>;
  /** The field that names the resource an object belongs to; the resource is made where there is none. */
  readonly resourceField?: string;
  /** Read-only fields beside those that every kind has; `online`: the agent of the object is. */
  readonly readOnly: (object: { readonly name: string; readonly secrets: Secrets; readonly online: boolean }) => JsonObject;
};

/** The edges of one rule kind as one of the two ends sees them. */
export type EdgeSide = {
  readonly table: EdgeTable;
  readonly own: 'connection_id' | 'rule_id';
  readonly other: 'connection_id' | 'rule_id';
  readonly otherKind: string;
  readonly otherTable: ObjectTable;
  /** The field that lists the edges at this end; a connection does not list its masking rules. */
  readonly field?: string;
  /** Whether the other end lists them. */
  readonly listedThere: boolean;
};

/** A kind as the gateway serves it. */
export type Collection = KindRow & {
  readonly kind: Kind;
  readonly fields: readonly FieldRule[];
  readonly hasSecrets: boolean;
  /** The field that names the agent which serves an object. */
  readonly agentField?: string;
  readonly sides: readonly EdgeSide[];
};

const plain: Pick<KindRow, 'byName' | 'identityField' | 'computed' | 'narrows' | 'readOnly'> = {
  byName: false,
  identityField: 'name',
  computed: [],
  narrows: {},
  readOnly: () => ({}),
};

/** What a connection, and so a resource, can be. */
export const servedConnectionTypes: readonly string[] = ['database', 'application', 'custom'];

const kindRows: Readonly<Record<string, KindRow>> = {
  Connection: {
    ...plain,
    path: '/connections',
    table: 'connections',
    byName: true,
    computed: ['redact_enabled'],
    narrows: {
      type: { enum: servedConnectionTypes },
      secret: { additionalProperties: secretValueSchema },
    },
    resourceField: 'resource_name',
    readOnly: ({ secrets, online }) => ({ default_database: databaseName(secrets), status: online ? 'online' : 'offline' }),
  },
  DataMaskingRule: {
    ...plain,
    path: '/datamasking-rules',
    table: 'datamasking_rules',
    edges: 'datamasking_edges',
    narrows: {
      supported_entity_types: {
        items: { properties: { entity_types: { items: { pattern: '^[A-Z0-9_]+$', $comment: 'capital letters, digits and _' } } } },
      },
      custom_entity_types: {
        items: {
          anyOf: [
            { properties: { regex: { minLength: 1 } }, required: ['regex'] },
            { properties: { deny_list: { minItems: 1 } }, required: ['deny_list'] },
          ],
          $comment: 'a regex, or a deny_list that is not empty',
        },
      },
    },
  },
  GuardrailRule: { ...plain, path: '/guardrails', table: 'guardrails', edges: 'guardrail_edges' },
  RunbookConfiguration: {
    ...plain,
    path: '/runbooks/configurations',
    table: 'runbook_configurations',
    identityField: 'git_url',
    // Everybody reads addresses, in listings and their errors.
    narrows: { git_url: { pattern: '^[^?#]*$', $comment: 'an address without query and fragment, which could hold a token' } },
    readOnly: ({ name }) => ({ repository: name }),
  },
};

// For tests: a repository on the disk of the server.
const localAddressPattern = '^file:///\\S+$';

/** All collections that the gateway serves, one a kind; only for tests may configurations name repositories on its own disk. */
export function collectionsOf(
  registry: Registry,
  { localRepositories = false }: { localRepositories?: boolean } = {},
): readonly Collection[] {
  return [...registry.values()].map((kind) => ({
    ...mountOf(kind.name),
    ...(localRepositories && kind.name === 'RunbookConfiguration' ? { otherForms: { git_url: localAddressPattern } } : {}),
    kind,
    fields: kind.fields.filter(
      ({ manifestOnly, dialect, borrowed }) => manifestOnly !== true && (dialect === undefined || borrowed !== undefined),
    ),
    hasSecrets: kind.fields.some((field) => field.secret !== undefined),
    ...agentFieldOf(kind),
    sides: sidesOf(kind, registry),
  }));
}

function agentFieldOf(kind: Kind): Pick<Collection, 'agentField'> {
  const field = kind.fields.find(({ refers, edge }) => refers === 'Agent' && edge === undefined);
  return field === undefined ? {} : { agentField: field.name };
}

function mountOf(kind: string): KindRow {
  const mount = kindRows[kind];
  if (mount === undefined) throw new Error(`the gateway does not serve the kind ${kind}`);
  return mount;
}

function sidesOf(kind: Kind, registry: Registry): readonly EdgeSide[] {
  return [...registry.values()].flatMap((rule) => {
    const listed = rule.fields.find((field) => field.edge === 'rule');
    const { edges, table } = mountOf(rule.name);
    const connection = listed?.refers === undefined ? undefined : registry.get(listed.refers);
    if (listed === undefined || edges === undefined || connection === undefined) return [];
    const back = connection.fields.find((field) => field.edge === 'connection' && field.refers === rule.name);
    const ofRule: EdgeSide = {
      table: edges,
      own: 'rule_id',
      other: 'connection_id',
      otherKind: connection.name,
      otherTable: mountOf(connection.name).table,
      field: listed.name,
      listedThere: back !== undefined,
    };
    const ofConnection: EdgeSide = {
      table: edges,
      own: 'connection_id',
      other: 'rule_id',
      otherKind: rule.name,
      otherTable: table,
      ...(back === undefined ? {} : { field: back.name }),
      listedThere: true,
    };
    return [...(kind === rule ? [ofRule] : []), ...(kind === connection ? [ofConnection] : [])];
  });
}

function databaseName(secrets: Secrets): string {
  const map = secrets['secret'];
  const value = typeof map === 'object' ? map['envvar:DB'] : undefined;
  return value === undefined || secretReferencePattern.test(value) ? '' : Buffer.from(value, 'base64').toString();
}
