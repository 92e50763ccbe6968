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
  /** Its settings name no server and no credential, and what it runs takes none from its environment: people reach the agent itself. */
  readonly isBare: boolean;
  /** Its settings name one of its servers, not only where the name is kept: a command that names one may lead elsewhere, too. */
  readonly isPlaced: boolean;
  /** Something of it cannot be known: the token may not read it, and no manifest states it. */
  readonly isHidden: boolean;
  /** That, or the same of one of its secrets: the gateway lists its key at most, and a manifest keeps it or states nothing. */
  readonly isUnseen: boolean;
};

/** One secret of a connection as far as it is known: what the gateway has, or what manifests state. */
type LeadSecrets = Readonly<Record<Pointer, readonly (DesiredSecret | LiveSecret)[]>>;

const keysOf = {
  host: /(^|[:_])(pg|db)?(host|hostname|hostaddr|server|addr|address|endpoint|datasource)$/i,
  /** What stands for a server where no setting names one. */
  unit: /(^|[:_])(cluster|cluster_name|cluster_id|instance_id|project|project_id)$/i,
  port: /(^|[:_])(pg|db)?port$/i,
  database: /(^|[:_])(pg|db)?(db|database|databasename|dbname|db_name|initialcatalog|sid|service_name)$/i,
  url: /(^|[:_])(db)?(url|uri|connection_string|dsn)$/i,
  user: /(^|[:_])(pg|db)?(user|username|userid|login)$/i,
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

/** Names and addresses of the machine itself. */
const loopback = /^(localhost\.localdomain|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Hosts that are another machine for each agent. */
const local = /^(localhost$|169\.254\.|\[?fe80:|host\.docker\.internal$)/;

/** Keys of what a server shows of itself, which many accounts share. */
const ofServer = /(cert|certificate|server_keys)$/i;

/** Returns where a connection with these fields and secrets leads. */
export function leadOf(spec: JsonObject, secrets: LeadSecrets, isHidden: boolean): Lead {
  const all = Object.entries(secrets).map(([path, some]) => ({ key: tokensOf(path)[1] ?? '', some }));
  const identitiesOf = (keys: RegExp): readonly string[] =>
    all.filter(({ key }) => keys.test(key)).flatMap(({ some }) => some.flatMap(identities));
  const subtype = asText(spec['subtype']);
  const hosts = [...identitiesOf(keysOf.host), ...identitiesOf(keysOf.url)];
  const command = textsIn(spec['command']);
  const inCommand = serversIn(command).map((one) => addressIn(`=${one}`));
  const addresses = (hosts.length + inCommand.length > 0 ? hosts : identitiesOf(keysOf.unit)).map(addressIn);
  const ports = identitiesOf(keysOf.port).flatMap((port) => port.split(',').map(portNumber));
  const agent = asText(spec['agent_id']);
  const stated = ports.length > 0 ? ports : [defaultPorts[subtype] ?? ''];
  const serversOf = (some: readonly Address[], ownPorts: readonly string[]): readonly string[] =>
    some
      .flatMap((one) => one.hosts)
      .flatMap(({ name, port }) => {
        const place = local.test(name.slice(1)) ? `${name} by ${agent}` : name;
        return (port === undefined ? ownPorts : [port]).map((one) => `${place} ${one}`);
      });
  const settled = serversOf(addresses, stated);
  // The port of a server that the command names may be anywhere in it.
  const servers = [...settled, ...serversOf(inCommand, [''])];
  const credentials = all.filter(({ key }) => isCredential(key) && !ofServer.test(key)).flatMap(({ some }) => some);
  const resource = asText(spec['resource_name']);
  const sources = credentials.flatMap(sourcesOf);
  return {
    servers: new Set(servers),
    databases: new Set([...identitiesOf(keysOf.database), ...[...addresses, ...inCommand].flatMap(({ databases }) => databases)]),
    users: new Set([...identitiesOf(keysOf.user), ...[...addresses, ...inCommand].flatMap(({ users }) => users)]),
    sources: new Set(credentials.length === 0 && resource !== '' ? [`resource ${resource}`] : sources),
    credentials: credentials.filter((secret) => secret.state === 'value'),
    program: canonical([agent, asText(spec['type']), subtype, command]),
    isBare: settled.length + credentials.length === 0 && !isHidden && command.length > 0 && !command.some((text) => text.includes('$')),
    isPlaced: settled.some((one) => one.startsWith('=')),
    isHidden,
    isUnseen: isHidden || all.some(({ some }) => some.every(({ state }) => state === 'hidden')),
  };
}

/** Options of programs by which a command names a server. */
const hostOption = /^(?:-[hS]|--(?:host|hostname|server))(?:=(.*))?$/;

/** Returns the servers that a command names itself: after an option, in a URL or in settings. Variables have the values of secrets. */
function serversIn(command: readonly string[]): readonly string[] {
  const words = command.flatMap((text) => text.split(/[\s'"]+/));
  return words.flatMap((word, index) => {
    const option = hostOption.exec(word);
    const named = option === null ? word : (option[1] ?? words[index + 1] ?? '');
    const isServer = option === null ? /^(?:[a-z][\w+.-]*:\/\/|host=)/i.test(named) : named !== '' && !named.startsWith('-');
    return isServer && !named.includes('$') ? [named] : [];
  });
}

/** Returns the identities of a setting: its value, if it has one, and where the value is kept. */
function identities(secret: DesiredSecret | LiveSecret): readonly string[] {
  const sources = sourcesOf(secret);
  const text = secret.state === 'value' ? decodedText(secret).trim() : '';
  return text === '' || reference.test(text) ? sources : [`=${text}`, ...sources];
}

/** A value that the gateway reads elsewhere, as it is stored there. */
const reference = /^_[a-z][\w-]*:/i;

/** Returns where the value of a secret is kept, if it is not in the manifest or on the gateway. */
function sourcesOf(secret: DesiredSecret | LiveSecret): readonly string[] {
  if (hasOwnSource(secret)) return [`@${secret.source}`];
  const text = secret.state === 'value' ? decodedText(secret) : '';
  return reference.test(text) ? [`@reference:${text}`] : [];
}

type Address = {
  readonly hosts: readonly { readonly name: string; readonly port: string | undefined }[];
  readonly users: readonly string[];
  readonly databases: readonly string[];
};

/** Splits hosts, a URL or a connection string; its password is left out. An address that only its source names is a host itself. */
function addressIn(identity: string): Address {
  if (!identity.startsWith('=')) return { hosts: [{ name: identity, port: undefined }], users: [], databases: [] };
  const text = identity.slice(1).replace(/^jdbc:/i, '');
  const [, scheme = '', login = '', authority = '', path = ''] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:([^/?#]*)@)?([^/?#;]*)(?:\/([^?#;]*))?/i.exec(text) ?? [];
  const settings = [...text.matchAll(/([a-z][\w ]{0,30}?) ?= ?('[^']*'|[^&;\s]*)/gi)];
  const stated = (keys: RegExp): readonly string[] =>
    settings.flatMap(([, key = '', value = '']) => (keys.test(key.replaceAll(' ', '')) ? [value.replaceAll("'", '')] : []));
  const [port] = stated(keysOf.port);
  // `tcp(HOST:PORT)` is an address of MySQL, and `HOST,PORT` one of SQL Server.
  const authorities = [...(authority.includes('=') ? [] : [authority.replace(/^\w+\((.*)\)$/, '$1')]), ...stated(keysOf.host)];
  return {
    hosts: authorities
      .flatMap((one) => one.replace(/,(\d+)$/, ':$1').split(','))
      .filter((host) => host.trim() !== '')
      .map((host) => {
        const { name, port: inline } = splitPort(host.trim());
        return {
          name,
          port: inline ?? (port === undefined ? defaultPorts[scheme.toLowerCase().split('+', 1)[0] ?? ''] : portNumber(port)),
        };
      }),
    users: identified([login.split(':', 1)[0] ?? '', ...stated(keysOf.user)]),
    databases: identified([path, ...stated(keysOf.database)]),
  };
}

/** Returns the identities of parts of a URL, which may have escapes. */
function identified(parts: readonly string[]): readonly string[] {
  return parts.flatMap((part) => {
    try {
      return part === '' ? [] : [`=${decodeURIComponent(part)}`];
    } catch {
      return [`=${part}`];
    }
  });
}

/** Splits a host from its port, and gives names that mean the same one form. An address without brackets has no port. */
function splitPort(text: string): { readonly name: string; readonly port: string | undefined } {
  const isLiteral = /^[^[]*:.*:/.test(text);
  const [, name = text, port = ''] = isLiteral ? [] : (/^(.*?)(?::(\d*))?$/.exec(text) ?? []);
  return { name: `=${hostName(name)}`, port: port === '' ? undefined : portNumber(port) };
}

/** Returns the number of a port, also of one that is named as its service; nothing of one that only its source names. */
function portNumber(port: string): string {
  const text = port.replace(/^=/, '').trim();
  if (text.startsWith('@')) return '';
  return /^\+?0*(\d+)$/.exec(text)?.[1] ?? defaultPorts[text.toLowerCase()] ?? text;
}

/** Returns a host without case, escapes and final dot; an address in its shortest form, and the IPv4 address that an IPv6 address contains. */
function hostName(host: string): string {
  const text = host.replaceAll(/^\[|\]$/g, '');
  const url = `http://${text.includes(':') ? `[${text}]` : text}`;
  const name = (URL.canParse(url) ? new URL(url).hostname : text.toLowerCase()).replace(/(?<!\.)\.+$/, '');
  const [, high = '', low = ''] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(name) ?? [];
  const address = high === '' ? name : [high, low].flatMap((half) => [parseInt(half, 16) >> 8, parseInt(half, 16) & 255]).join('.');
  return loopback.test(address) ? 'localhost' : address;
}

/** Returns whether both lead to the same place as the same user, or with the same credential; what else is at the same server is another place. */
export function leadsToSame(one: Lead, other: Lead): boolean {
  const isShared = sharesCredential(one, other);
  if (one.servers.size === 0 || other.servers.size === 0) {
    return one.servers.size === other.servers.size && (isShared || (one.isBare && other.isBare)) && one.program === other.program;
  }
  if (![...one.servers].some((server) => isServerOf(server, other))) return false;
  if (isAnyKnown(one.databases) && isAnyKnown(other.databases) && !shares(one.databases, other.databases)) return false;
  return isShared || shares(one.users, other.users) || (isAnonymous(one) && isAnonymous(other));
}

function sharesCredential(one: Lead, other: Lead): boolean {
  return shares(one.sources, other.sources) || one.credentials.some((own) => other.credentials.some((each) => own.equals(each)));
}

/** Returns texts of which connections with one credential have one in common: its source, or its value, which reaches no output. */
export function credentialsOf({ sources, credentials }: Lead): readonly string[] {
  return [...sources, ...credentials.map((secret) => `=${secret.reveal()}`)];
}

/** Returns whether both use one credential, and where one of them sends it cannot be known. */
export function mayLeadToSame(one: Lead, other: Lead): boolean {
  if (one.isPlaced && other.isPlaced) return false;
  return one.servers.size + other.servers.size > 0 && sharesCredential(one, other);
}

/** Returns whether the lead has the server; one of which the port is not known may be at each of them. */
function isServerOf(server: string, { servers }: Lead): boolean {
  if (servers.has(server)) return true;
  const host = hostOf(server);
  return [...servers].some((one) => hostOf(one) === host && (one.endsWith(' ') || server.endsWith(' ')));
}

function hostOf(server: string): string {
  return server.slice(0, server.lastIndexOf(' '));
}

/** Returns whether the value of an identity is known, not only where it is kept. */
function isAnyKnown(some: ReadonlySet<string>): boolean {
  return [...some].some((one) => one.startsWith('='));
}

/** Returns whether it leads to what its server gives to everyone. */
function isAnonymous({ users, credentials, sources, isHidden }: Lead): boolean {
  return users.size + credentials.length === 0 && !isHidden && ![...sources].some((one) => one.startsWith('@'));
}

function shares(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...some].some((one) => others.has(one));
}

/** Returns whether a lead goes where another one does in every respect, so that nothing is new about it. */
export function isSameLead(one: Lead, other: Lead): boolean {
  return isSameSetting(one, other) && (one.servers.size > 0 || one.program === other.program) && leadsToSame(one, other);
}

/** Returns whether both have the same servers, databases and users. */
export function isSameSetting(one: Lead, other: Lead): boolean {
  return (['servers', 'databases', 'users'] as const).every((part) => [...one[part]].join() === [...other[part]].join());
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
  return servers.size === 0 ? [program] : [...servers].map(hostOf);
}
