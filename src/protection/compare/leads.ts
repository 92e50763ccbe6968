import { asText, canonical, type JsonObject, textsIn } from '../../model/json.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { decodedText, type DesiredSecret, type LiveSecret, type Secret } from '../../model/secret.ts';
import { hasOwnSource, isCredential } from './secret-keys.ts';

/**
 * Where a connection leads, and as whom. Each part is a set of identities, `=` with a value and `@` with the source of one: two connections share
 * what they have one identity of in common.
 */
export type Lead = {
  /** Hosts with their ports; with the agent where a host is one only for it. Empty: it has none, or none is known. */
  readonly servers: ReadonlySet<string>;
  readonly databases: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
  /** The sources of its credentials, and the resource that it inherits them from. */
  readonly sources: ReadonlySet<string>;
  /** The values of its credentials, which stay sealed. */
  readonly credentials: readonly Secret[];
  /** What the agent runs. */
  readonly program: string;
  /** It names no server and no credential, and what it runs takes none from its environment: people reach the agent itself. */
  readonly isBare: boolean;
  /** Something of it cannot be known: the token may not read it, and no manifest states it. */
  readonly isHidden: boolean;
};

/** One secret of a connection as far as it is known: what the gateway has, or what manifests state. */
type LeadSecrets = Readonly<Record<Pointer, readonly (DesiredSecret | LiveSecret)[]>>;

const keysOf = {
  host: /(^|[:_])(host|hostname|server|addr|address|endpoint)$/i,
  port: /(^|[:_])port$/i,
  database: /(^|[:_])(db|database|dbname|sid|service_name)$/i,
  url: /(^|[:_])(url|uri|connection_string|dsn)$/i,
  user: /(^|[:_])(user|username|login)$/i,
};

const defaultPorts: Readonly<Record<string, string>> = {
  postgres: '5432',
  postgresql: '5432',
  mysql: '3306',
  mssql: '1433',
  sqlserver: '1433',
  mongodb: '27017',
  oracledb: '1521',
  ssh: '22',
  http: '80',
  https: '443',
};

/** Hosts that are another machine for each agent. */
const local = /^(localhost|127\.|0\.0\.0\.0|\[?::1|169\.254\.|\[?fe80:|host\.docker\.internal)/;

/** Keys of what a server shows of itself, which many accounts share. */
const ofServer = /(cert|certificate|server_keys)$/i;

/** Returns where a connection with these fields and secrets leads. */
export function leadOf(spec: JsonObject, secrets: LeadSecrets, isHidden: boolean): Lead {
  const all = Object.entries(secrets).map(([path, some]) => ({ key: tokensOf(path)[1] ?? '', some }));
  const identitiesOf = (keys: RegExp): readonly string[] =>
    all.filter(({ key }) => keys.test(key)).flatMap(({ some }) => some.flatMap(identities));
  const subtype = asText(spec['subtype']);
  const urls = identitiesOf(keysOf.url).flatMap(addressesIn);
  const hosts = [...identitiesOf(keysOf.host).map((host) => ({ host, port: undefined })), ...urls];
  const ports = identitiesOf(keysOf.port);
  const agent = asText(spec['agent_id']);
  const servers = hosts.flatMap(({ host, port: stated }) => {
    const { name, port: inline } = splitPort(host);
    const own = stated ?? inline;
    return (own === undefined ? (ports.length > 0 ? ports : [`=${defaultPorts[subtype] ?? ''}`]) : [`=${own}`]).map(
      (port) => `${name} ${port}${local.test(name.slice(1)) ? ` by ${agent}` : ''}`,
    );
  });
  const credentials = all.filter(({ key }) => isCredential(key) && !ofServer.test(key)).flatMap(({ some }) => some);
  const resource = asText(spec['resource_name']);
  const command = textsIn(spec['command']);
  const sources = credentials.filter(hasOwnSource).map(({ source }) => `@${source}`);
  return {
    servers: new Set(servers),
    databases: new Set([...identitiesOf(keysOf.database), ...urls.flatMap(({ database }) => (database === undefined ? [] : [database]))]),
    users: new Set([...identitiesOf(keysOf.user), ...urls.flatMap(({ user }) => (user === undefined ? [] : [user]))]),
    sources: new Set(credentials.length === 0 && resource !== '' ? [`resource ${resource}`] : sources),
    credentials: credentials.filter((secret) => secret.state === 'value'),
    program: canonical([agent, asText(spec['type']), subtype, command]),
    isBare: servers.length + credentials.length === 0 && !isHidden && command.length > 0 && !command.some((text) => text.includes('$')),
    isHidden,
  };
}

/** Returns the identities of a setting: its value, and where the value is kept. */
function identities(secret: DesiredSecret | LiveSecret): readonly string[] {
  const source = hasOwnSource(secret) ? [`@${secret.source}`] : [];
  return secret.state === 'value' ? [`=${decodedText(secret)}`, ...source] : source;
}

type Address = { readonly host: string; readonly port: string | undefined; readonly user?: string; readonly database?: string };

/** Splits a URL or connection string into its addresses; its password is left out. One that only its source names is an address itself. */
function addressesIn(identity: string): readonly Address[] {
  if (!identity.startsWith('=')) return [{ host: identity, port: undefined }];
  const [, scheme = '', login, hosts = '', path] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?/i.exec(identity.slice(1)) ?? [];
  const user = login?.split(':', 1)[0];
  return hosts
    .split(',')
    .filter((host) => host !== '')
    .map((host) => ({
      host: `=${host}`,
      port: splitPort(host).port ?? defaultPorts[scheme.toLowerCase().split('+', 1)[0] ?? ''],
      ...(user === undefined || user === '' ? {} : { user: `=${user}` }),
      ...(path === undefined || path === '' ? {} : { database: `=${path}` }),
    }));
}

/** Splits a host from its port, and gives names that mean the same one form. A value stands after `=`; an address without brackets has no port. */
function splitPort(host: string): { readonly name: string; readonly port: string | undefined } {
  if (host.startsWith('@')) return { name: host, port: undefined };
  const text = host.replace(/^=/, '');
  const isLiteral = /^[^[]*:.*:/.test(text);
  const [, name = text, port] = isLiteral ? [] : (/^(.*?)(?::(\d+))?$/.exec(text) ?? []);
  return { name: `=${hostName(name)}`, port };
}

/** Returns a host without case and final dot; an IPv6 address in its shortest form, and the IPv4 address that one contains. */
function hostName(host: string): string {
  const text = host.replaceAll(/^\[|\]$/g, '');
  const url = `http://[${text}]`;
  if (!text.includes(':') || !URL.canParse(url)) return text.toLowerCase().replace(/\.$/, '');
  const { hostname } = new URL(url);
  const [, high = '', low = ''] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(hostname) ?? [];
  return high === '' ? hostname : [high, low].flatMap((half) => [parseInt(half, 16) >> 8, parseInt(half, 16) & 255]).join('.');
}

/** Returns whether both lead to the same place as the same user, or with the same credential; what else is at the same server is another place. */
export function leadsToSame(one: Lead, other: Lead): boolean {
  const isShared = shares(one.sources, other.sources) || one.credentials.some((own) => other.credentials.some((each) => own.equals(each)));
  if (one.servers.size === 0 || other.servers.size === 0) {
    return one.servers.size === other.servers.size && (isShared || (one.isBare && other.isBare)) && one.program === other.program;
  }
  if (!shares(one.servers, other.servers)) return false;
  if (one.databases.size > 0 && other.databases.size > 0 && !shares(one.databases, other.databases)) return false;
  return isShared || shares(one.users, other.users);
}

function shares(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...some].some((one) => others.has(one));
}

/** Returns whether a lead goes where another one does in every respect, so that nothing is new about it. */
export function isSameLead(one: Lead, other: Lead): boolean {
  return (
    [...one.servers].join() === [...other.servers].join() &&
    [...one.databases].join() === [...other.databases].join() &&
    [...one.users].join() === [...other.users].join() &&
    (one.servers.size > 0 || one.program === other.program) &&
    leadsToSame(one, other)
  );
}

/** Returns a lead without the servers where another one leads, or without its databases; all of it where nothing else is left. */
export function newPartOf(lead: Lead, { servers, databases }: Lead): Lead {
  const elsewhere = new Set([...lead.servers].filter((one) => !servers.has(one)));
  if (elsewhere.size > 0) return { ...lead, servers: elsewhere };
  const others = new Set([...lead.databases].filter((one) => !databases.has(one)));
  return others.size > 0 ? { ...lead, databases: others } : lead;
}

/** Returns texts of which connections that lead to the same place have one in common. */
export function placesOf({ servers, program }: Lead): readonly string[] {
  return servers.size === 0 ? [program] : [...servers];
}
