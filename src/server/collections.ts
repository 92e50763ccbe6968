import type { FieldRule, Kind, Registry } from '../model/kind.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { secretReferencePattern, secretValueSchema, servedRules, type ServedRules } from '../model/served-rules.ts';
import { resourceKind } from './resource-kind.ts';
import type { Secrets } from './secrets.ts';

/** What a read-only field shows: the identity, whether the agent is online, or something of the secrets. */
type ReadOnlySource = 'name' | 'status' | ((secrets: Secrets) => Json);

type ReadOnlyField = { readonly schema: JsonObject; readonly source: ReadOnlySource };

/** The texts of the API document: `one` follows "a"; `create` and `replace` describe these two operations. */
type KindTexts = { readonly one: string; readonly many: string; readonly create: string; readonly replace: string };

/** Everything that the gateway adds to a kind. */
type KindRow = ServedRules & {
  readonly path: string;
  readonly table: string;
  /** The table of the edges between a rule kind and connections. */
  readonly edges?: string;
  /** The field that identifies an object; lists are sorted by it. `name` by default. */
  readonly identityField?: string;
  /** The field with the groups that may see and use an object; a replacement that omits it keeps it. */
  readonly accessField?: string;
  /** The field in which connections name an object of this kind. */
  readonly memberField?: string;
  /** The fields that lists are filtered by; such a list always has pages. */
  readonly filters?: readonly string[];
  /** Fields that are always derived from the others; the server ignores the values that callers send. */
  readonly computed?: readonly string[];
  /** Read-only fields beside those that every kind has. */
  readonly readOnly?: Readonly<Record<string, ReadOnlyField>>;
  readonly texts: KindTexts;
};

/** One row per kind. A new kind adds its row here and touches no other file of the server. */
const kindRows = {
  Connection: {
    path: '/connections',
    table: 'connections',
    accessField: 'access_groups',
    computed: ['redact_enabled'],
    readOnly: {
      default_database: {
        schema: { type: 'string', description: 'The value of the secret `envvar:DB`; empty if it is a reference or not set.' },
        source: (secrets: Secrets): Json => databaseName(secrets),
      },
      status: {
        schema: { enum: ['online', 'offline'], description: 'online: the agent is connected.' },
        source: 'status',
      },
    },
    texts: {
      one: 'connection',
      many: 'Connections',
      create: `Set by the gateway if omitted: \`command\` for databases of known subtypes, \`resource_name\` (the connection's name).
\`redact_enabled\` is always derived from \`redact_types\`.
A name with the form of an ID is rejected. \`agent_id\` and \`guardrail_rules\` must be existing IDs.`,
      replace:
        'The name cannot change. Rules missing from `guardrail_rules` are detached; masking rules do not change. `access_groups` is kept if omitted.',
    },
  },
  DataMaskingRule: {
    path: '/datamasking-rules',
    table: 'datamasking_rules',
    edges: 'datamasking_edges',
    texts: {
      one: 'data masking rule',
      many: 'Data masking rules',
      create: '`score_threshold` and the scores of custom types are 0 to 1. A custom type has a regex, a deny list, or both.',
      replace: 'The name cannot change.',
    },
  },
  GuardrailRule: {
    path: '/guardrails',
    table: 'guardrails',
    edges: 'guardrail_edges',
    texts: {
      one: 'guardrail rule',
      many: 'Guardrail rules',
      create: 'A rule with a type other than `deny_words_list` and `pattern_match` is stored unchanged.',
      replace: 'The name can change. `connection_ids` and the `guardrail_rules` of connections show the same attachments.',
    },
  },
  RunbookConfiguration: {
    path: '/runbooks/configurations',
    table: 'runbook_configurations',
    identityField: 'git_url',
    readOnly: {
      repository: {
        schema: { type: 'string', description: 'Host and path of the repository, which identify it.' },
        source: 'name',
      },
    },
    texts: {
      one: 'runbook configuration',
      many: 'Runbook configurations',
      create: `A URL with credentials, a query or a fragment is rejected, and so is a second URL of the same repository.
The gateway does not contact the repository; the listing of runbooks shows whether it can be read.`,
      replace: 'The form of the URL (https, ssh) can change, but not the repository.',
    },
  },
  Resource: {
    path: '/resources',
    table: 'resources',
    byName: true,
    memberField: 'resource_name',
    filters: ['name', 'type', 'subtype', 'agent_id'],
    texts: {
      one: 'resource',
      many: 'Resources',
      create: 'A connection that names no resource in `resource_name` gets one of its own name.',
      replace: 'Renaming also updates its connections. While it has connections, its type and subtype cannot change.',
    },
  },
} as const;

type AnyKindRow = (typeof kindRows)[keyof typeof kindRows];

/** The tables that store objects. */
export type ObjectTable = AnyKindRow['table'];

/** The tables that store edges. */
export type EdgeTable = Extract<AnyKindRow, { readonly edges: string }>['edges'];

/** The tables of one kind. */
type KindTables = { readonly table: ObjectTable; readonly edges?: EdgeTable };

/** The tables of all kinds. */
export const kindTables: readonly KindTables[] = Object.values(kindRows);

/** The edges between one rule kind and connections, seen from one of the two ends. */
export type EdgeSide = {
  readonly table: EdgeTable;
  readonly own: 'connection_id' | 'rule_id';
  readonly other: 'connection_id' | 'rule_id';
  readonly otherKind: string;
  readonly otherTable: ObjectTable;
  /** The field that lists the edges at this end; a connection does not list its masking rules. */
  readonly field?: string;
  /** Whether a field at the other end lists the edges. */
  readonly listedThere: boolean;
};

/** A kind as the gateway serves it. */
export type Collection = KindTables &
  Required<Pick<KindRow, 'path' | 'identityField' | 'computed' | 'narrowed' | 'readOnly' | 'texts'>> &
  Pick<KindRow, 'resourceField' | 'accessField' | 'memberField' | 'filters'> & {
    readonly byName: boolean;
    readonly kind: Kind;
    readonly fields: readonly FieldRule[];
    readonly hasSecrets: boolean;
    /** The field that refers to the agent of an object. */
    readonly agentField?: string;
    readonly sides: readonly EdgeSide[];
  };

/** Returns the collections that the gateway serves, one per kind. Throws when a kind has no row. */
export function collectionsOf(registry: Registry): readonly Collection[] {
  return [...servedKinds(registry), resourceKind].map((kind) => {
    const row = tablesOf(kind.name);
    const { narrowed = {}, ...rest } = row;
    return {
      byName: false,
      identityField: 'name',
      computed: [],
      readOnly: {},
      ...rest,
      narrowed: { ...narrowed, ...secretRequirements(kind) },
      kind,
      fields: kind.fields.flatMap((field) => {
        const { manifestOnly, dialect, borrowed } = field;
        if (manifestOnly === true || (dialect !== undefined && borrowed === undefined)) return [];
        return [field.name === row.accessField ? { ...field, empty: [] } : field];
      }),
      hasSecrets: kind.fields.some((field) => field.secret !== undefined),
      ...agentFieldOf(kind),
      sides: sidesOf(kind, registry),
    };
  });
}

/** Returns the kinds that every gateway has. */
function servedKinds(registry: Registry): readonly Kind[] {
  return [...registry.values()].filter(({ dialect }) => dialect === undefined);
}

/** Requires base64, or a reference, of each value in a map of secrets. */
function secretRequirements(kind: Kind): JsonObject {
  const maps = kind.fields.filter(({ secret }) => secret === 'base64');
  return Object.fromEntries(maps.map(({ name }) => [name, { additionalProperties: secretValueSchema }]));
}

function agentFieldOf(kind: Kind): Pick<Collection, 'agentField'> {
  const field = kind.fields.find(({ refers, edge }) => refers === 'Agent' && edge === undefined);
  return field === undefined ? {} : { agentField: field.name };
}

function tablesOf(kind: string): KindRow & KindTables {
  const rows: Readonly<Record<string, KindRow & KindTables>> = kindRows;
  const row = rows[kind];
  if (row === undefined) throw new Error(`the gateway does not serve the kind ${kind}`);
  return { ...row, ...servedRules[kind] };
}

/** Returns the edges that a kind takes part in: as the rule that declares them, or as the connection that a rule refers to. */
function sidesOf(kind: Kind, registry: Registry): readonly EdgeSide[] {
  return servedKinds(registry).flatMap((rule) => {
    const listed = rule.fields.find((field) => field.edge === 'rule');
    const { edges, table } = tablesOf(rule.name);
    const connection = listed?.refers === undefined ? undefined : registry.get(listed.refers);
    if (listed === undefined || edges === undefined || connection === undefined) return [];
    const back = connection.fields.find((field) => field.edge === 'connection' && field.refers === rule.name);
    const ofRule: EdgeSide = {
      table: edges,
      own: 'rule_id',
      other: 'connection_id',
      otherKind: connection.name,
      otherTable: tablesOf(connection.name).table,
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

/** Returns the database that a connection opens by default: the text behind its secret `envvar:DB`, which is base64. */
function databaseName(secrets: Secrets): string {
  const map = secrets['secret'];
  const value = typeof map === 'object' ? map['envvar:DB'] : undefined;
  return value === undefined || secretReferencePattern.test(value) ? '' : Buffer.from(value, 'base64').toString();
}
