import schema from '../../schemas/documents/config.schema.json' with { type: 'json' };
import { dialectNames } from '../model/dialects.ts';
import {
  type Config,
  defaultLimits,
  defaultReadConcurrency,
  type Limits,
  type PemSource,
  type Target,
  type TargetTls,
  gatewayUrl,
} from '../model/config.ts';
import {
  type Checked,
  type Diagnostic,
  type DocumentDiagnostic,
  hasErrors,
  sortDiagnostics,
  type SourceFile,
  documentError,
} from '../model/diagnostic.ts';
import { asObject, isObject, type Json, type JsonObject, textsIn } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { describeType, formatPlace, quoteValue, toText } from './json-values.ts';
import { createSourceMap, locateDiagnostic, maskFrames } from './source-map.ts';
import { type ManifestDocument, parseDocuments } from './yaml/parse-documents.ts';
import { describeSchemaErrors } from './validate/schema-diagnostics.ts';
import { config as validator } from './validate/validators.ts';

/** The JSON schema of the config file. */
export const configSchema: JsonObject = schema;

/** The prefix for names of secret variables if a target sets none. */
const defaultSecretPrefix = 'OSTIARY_SECRET_';

/** The variable that holds the token if a target names none. */
const defaultTokenVariable = 'OSTIARY_TOKEN';

/** Reads the config file. Its paths become absolute, below the folder that contains the file. */
export function readConfig(file: SourceFile, folder: string): Checked<Config> {
  const { value: documents = [], diagnostics: unread } = parseDocuments(file);
  const found = maskFrames(file, unread, [schema]);
  const sources = createSourceMap([{ file, documents }], () => schema);
  const [document, second] = documents;
  if (document === undefined) return { diagnostics: found.length > 0 ? found : [emptyFile(file)] };
  const problems = second === undefined ? problemsOf(document) : [onlyOne()];
  const diagnostics = sortDiagnostics([
    ...found,
    ...problems.map((problem) => locateDiagnostic(sources, (second ?? document).locate, problem)),
  ]);
  if (hasErrors(diagnostics) || !isObject(document.value)) return { diagnostics };
  const config = toConfig(document.value, file, folder);
  const { value } = document;
  const placeOf = (path: string): Pick<Diagnostic, 'at' | 'frame'> | undefined => {
    const at = findPathPlaces(value, config.root).get(path);
    return at === undefined ? undefined : locateDiagnostic(sources, document.locate, { ...named, pointer: at });
  };
  return { value: { ...config, placeOf }, diagnostics };
}

function problemsOf(document: ManifestDocument): readonly DocumentDiagnostic[] {
  const { value } = document;
  if (!isObject(value))
    return [
      documentError(
        'manifest/not-a-map',
        '',
        `the config file is ${describeType(value)}, not a map`,
        'it begins with apiVersion: ostiary/v1',
      ),
    ];
  if (typeof value['kind'] === 'string' && value['kind'] !== 'Config') {
    return [
      documentError('manifest/unknown-kind', '/kind', `invalid kind ${quoteValue(value['kind'])} for a config file`, 'write kind: Config'),
    ];
  }
  if (!validator(value)) return describeSchemaErrors(schema, value, validator.errors ?? []);
  return [...pathProblems(value, []), ...targetsOf(value).flatMap(([name, target]) => targetProblems(name, target))];
}

function targetProblems(name: string, target: JsonObject): readonly DocumentDiagnostic[] {
  const url = urlProblems(toText(target['url']), pointer('targets', name, 'url'));
  return [...url, ...pathProblems(target, ['targets', name]), ...tlsProblems(name, target)];
}

function urlProblems(text: string, at: string): readonly DocumentDiagnostic[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    return [
      documentError('config/bad-url', at, `invalid URL ${quoteValue(text)}`, 'expected http:// or https://, a host and an optional path'),
    ];
  if (url.username !== '' || url.password !== '') {
    return [
      documentError('config/credentials-in-url', at, 'the URL contains credentials', 'remove them, and set token: { env: OSTIARY_TOKEN }'),
    ];
  }
  if (isSecureUrl(url)) return [];
  const message = `the token travels unencrypted to ${url.host}`;
  return [{ code: 'config/insecure-url', severity: 'warning', pointer: at, message, hint: 'use https://' }];
}

/** Returns whether a connection to the URL is encrypted or stays on this machine. */
export function isSecureUrl(url: URL): boolean {
  return url.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}

/** The settings that list paths. */
const pathFields = ['manifests', 'overlays'] as const;

function pathProblems(value: JsonObject, tokens: readonly string[]): readonly DocumentDiagnostic[] {
  return pathFields.flatMap((field) =>
    textsIn(value[field]).flatMap((path, index) => {
      if (normalizePath(path) !== undefined) return [];
      const at = [...tokens, field, String(index)];
      return [
        documentError(
          'config/path-outside',
          at,
          `"${path}" is outside the folder of the config file (${formatPlace(at)})`,
          'use a path below it, with /',
        ),
      ];
    }),
  );
}

const named = { code: 'manifest/no-such-path', severity: 'error', message: '' } as const;

/** Maps each absolute path to the pointer of its first use in the config. */
function findPathPlaces(value: JsonObject, root: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const holders: readonly (readonly [readonly string[], JsonObject])[] = [
    [[], value],
    ...targetsOf(value).map(([name, target]) => [['targets', name], target] as const),
  ];
  for (const [tokens, holder] of holders) {
    for (const field of pathFields) {
      for (const [index, path] of textsIn(holder[field]).entries()) {
        const full = joinPath(root, normalizePath(path) ?? '');
        if (!names.has(full)) names.set(full, pointer(...tokens, field, String(index)));
      }
    }
  }
  return names;
}

/** Removes `.` and `..` from a path; returns undefined if it leads out of the folder. */
function normalizePath(path: string): string | undefined {
  if (/^([/\\~]|[A-Za-z]:)/.test(path) || path.includes('\\')) return undefined;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

function toConfig(value: JsonObject, file: SourceFile, folder: string): Config {
  const root = folder.length > 1 ? folder.replace(/\/+$/, '') : folder;
  const paths = (list: Json | undefined): readonly string[] => textsIn(list).map((path) => joinPath(root, normalizePath(path) ?? ''));
  const shared = paths(value['manifests']);
  const targets = targetsOf(value).map(([name, target]) => {
    const folders = [...shared, ...paths(target['manifests'])];
    const manifests = [...new Set(folders.length === 0 ? [root] : folders)];
    const allowed = asObject(value['allow_values']);
    const allowedValues = Object.fromEntries(Object.entries(allowed).map(([field, values]) => [field, textsIn(values)]));
    const overlays = paths(target['overlays']);
    const tls = toTls(target, root);
    return { ...toTarget(name, target, value), manifests, overlays, allowedValues, tls };
  });
  const digestKey = toText(value['digest_key']);
  const recordKeys = textsIn(asObject(value['record'])['keys']);
  const approvals = { approvers: textsIn(value['approvers']), selfApproval: value['self_approval'] === true };
  const keys = { ...(recordKeys.length === 0 ? {} : { recordKeys }), ...(digestKey === '' ? {} : { digestKey }) };
  return { file: file.path, root, targets, approvals, ...keys };
}

function toTarget(name: string, target: JsonObject, shared: JsonObject): Omit<Target, 'manifests' | 'overlays' | 'allowedValues'> {
  const { url, dialect, auth, token } = target;
  const variable = isObject(token) ? token['env'] : undefined;
  const prefixes = textsIn(target['secret_prefixes']);
  const reviewed = target['reviewed'] ?? shared['reviewed'];
  return {
    name,
    url: gatewayUrl(toText(url)),
    dialect: dialectNames.find((known) => known === dialect) ?? 'auto',
    auth: auth === 'bearer' || auth === 'api-key' ? auth : 'auto',
    token: { env: typeof variable === 'string' ? variable : defaultTokenVariable },
    secretPrefixes: prefixes.length === 0 ? [defaultSecretPrefix] : prefixes,
    limits: toLimits(asObject(target['limits'])),
    prune: target['prune'] === true,
    reportUnmanaged: target['unmanaged'] === 'report',
    watchAccess: (target['unmanaged_access'] ?? shared['unmanaged_access']) !== 'ignore',
    expire: (target['expire'] ?? shared['expire']) === 'apply' ? 'apply' : 'report',
    readConcurrency: typeof target['read_concurrency'] === 'number' ? target['read_concurrency'] : defaultReadConcurrency,
    released: textsIn(target['released']),
    ...(typeof reviewed === 'string' ? { reviewed } : {}),
  };
}

/** Returns what a target says about certificates; undefined if it says nothing. */
function toTls(target: JsonObject, root: string): TargetTls | undefined {
  const source = (value: Json | undefined): PemSource | undefined => {
    const { env, file } = asObject(value);
    if (typeof env === 'string') return { env };
    if (typeof file !== 'string') return undefined;
    return /^(?:\/|[A-Za-z]:[\\/])/.test(file) ? { file } : { file: joinPath(root, file), below: root };
  };
  const [ca, clientCertificate, clientKey] = [source(target['ca']), source(target['client_certificate']), source(target['client_key'])];
  if (ca === undefined && clientCertificate === undefined && clientKey === undefined) return undefined;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
  };
}

/** Reports a certificate without its key, and a key without its certificate. */
function tlsProblems(name: string, target: JsonObject): readonly DocumentDiagnostic[] {
  const pair = ['client_certificate', 'client_key'] as const;
  const stated = pair.filter((field) => isObject(target[field]));
  const [present] = stated;
  if (present === undefined || stated.length === 2) return [];
  const missing = present === 'client_key' ? 'client_certificate' : 'client_key';
  const hint = `add ${missing}: { env: NAME } or { file: PATH }`;
  return [documentError('config/incomplete-tls', ['targets', name, present], `${present} needs ${missing}`, hint)];
}

/** Converts a percentage such as `20%` to a fraction from 0 to 1. */
function parsePercentage(text: Json | undefined, fallback: number): number {
  return typeof text === 'string' ? Number.parseInt(text, 10) / 100 : fallback;
}

function toLimits(limits: JsonObject): Limits {
  return {
    from: typeof limits['from'] === 'number' ? limits['from'] : defaultLimits.from,
    updates: parsePercentage(limits['updates'], defaultLimits.updates),
    deletes: parsePercentage(limits['deletes'], defaultLimits.deletes),
    protections: parsePercentage(limits['protections'], defaultLimits.protections),
    newAccess: toNewAccessLimit(limits['new_access']),
  };
}

function toNewAccessLimit(value: Json | undefined): Limits['newAccess'] {
  if (!isObject(value)) return value === 'refuse' ? value : defaultLimits.newAccess;
  const tags = Object.entries(asObject(value['match_tags'])).map(([key, text]) => [key, toText(text)] as const);
  return { tags: Object.fromEntries(tags) };
}

function targetsOf(value: JsonObject): readonly (readonly [string, JsonObject])[] {
  const targets = value['targets'];
  if (!isObject(targets)) return [];
  return Object.entries(targets).flatMap(([name, target]) => (isObject(target) ? [[name, target] as const] : []));
}

function joinPath(root: string, path: string): string {
  if (path === '') return root;
  return root.endsWith('/') ? `${root}${path}` : `${root}/${path}`;
}

function emptyFile(file: SourceFile): Diagnostic {
  const hint = 'run ostiary init to create one';
  return {
    code: 'manifest/not-a-map',
    severity: 'error',
    message: 'the config file is empty',
    hint,
    at: { file: file.path, line: 1, column: 1 },
  };
}

function onlyOne(): DocumentDiagnostic {
  return documentError(
    'config/one-document',
    '',
    'the config file has more than one document',
    'keep only the Config document; put manifests in other files',
  );
}
