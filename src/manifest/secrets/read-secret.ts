import { describeType, formatPlace, nullKeyHint } from '../json-values.ts';
import { type Checked, type Diagnostic, type DocumentDiagnostic, documentError, didYouMean } from '../../model/diagnostic.ts';
import { type Json, type JsonObject, isObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { type DesiredSecret, looksLikeCredential, seal } from '../../model/secret.ts';
import { base64FormHint, type ValueOrigin, valueWarningOf } from './value-warnings.ts';
import { standInOf } from './stand-in.ts';
import { unresolvedText } from './unresolved-text.ts';

/** The notations for one secret in a manifest. */
type SecretNotation =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'value'; readonly text: string }
  | { readonly is: 'env'; readonly name: string }
  | { readonly is: 'file'; readonly path: string }
  | { readonly is: 'keep' };

/** Parses the notation of one secret; returns undefined if it is none of the known ones. */
export function parseSecretNotation(value: Json | undefined): SecretNotation | undefined {
  if (typeof value === 'string') return { is: 'text', text: value };
  if (!isObject(value)) return undefined;
  if (typeof value['value'] === 'string') return { is: 'value', text: value['value'] };
  if (value['keep'] === true) return { is: 'keep' };
  const from = value['valueFrom'];
  if (!isObject(from)) return undefined;
  if (typeof from['env'] === 'string') return { is: 'env', name: from['env'] };
  return typeof from['file'] === 'string' ? { is: 'file', path: from['file'] } : undefined;
}

/** Returns whether a key below `secret` is a name; other text may be a misplaced value, and is not printed. */
export function isSecretName(key: string): boolean {
  return /^(?:envvar:|filesystem:)?[A-Z_][A-Z0-9_]*$/i.test(key) && (key.includes(':') || key === key.toUpperCase());
}

/**
 * Returns whether a secret has a notation of the schema's `secretValue`. A map of secrets also accepts a string, a plain
 * field also null. Written by hand, because a schema tries one notation after the other and reports an error for each.
 */
export function isValidSecret(value: Json | undefined, mode: 'base64' | 'plain'): boolean {
  if (mode === 'base64' ? typeof value === 'string' : value === null) return value !== '';
  if (!isObject(value) || !hasOneKey(value)) return false;
  if (typeof value['value'] === 'string') return true;
  const notation = parseSecretNotation(value);
  if (notation?.is === 'env') return notation.name !== '' && hasOneKey(value['valueFrom']);
  if (notation?.is === 'file') return notation.path !== '' && hasOneKey(value['valueFrom']);
  return notation !== undefined;
}

function hasOneKey(value: Json | undefined): boolean {
  let count = 0;
  if (isObject(value)) for (const key in value) if (Object.hasOwn(value, key)) count += 1;
  return count === 1;
}

/** Describes the error in a secret's notation without showing its value. */
export function describeInvalidSecret(
  tokens: readonly string[],
  value: Json | undefined,
  mode: 'base64' | 'plain',
  hint?: string,
): DocumentDiagnostic {
  const key = tokens.at(-1) ?? '';
  const shown = mode === 'plain' || isSecretName(key) ? key : '…';
  const forms = hint ?? notationsHint(shown);
  const name = formatPlace([...tokens.slice(0, -1), shown]);
  const wrong = (message: string, how: string = forms): DocumentDiagnostic => documentError('secret/form', tokens, message, how);
  if (value === '') return wrong(`"${name}" is empty`);
  if (value === null && mode === 'base64') return wrong(`"${name}" is null, not a secret`, nullKeyHint);
  if (!isObject(value))
    return wrong(`"${name}" is ${mode === 'plain' && typeof value === 'string' ? 'a bare text' : describeType(value)}, not a secret`);
  if (hint !== undefined) return wrong(`"${name}" is not a valid source of a secret`);
  return wrong(...describeInvalidMap(name, value, forms));
}

/** Returns the message and the hint for a map that is not a secret's notation. */
function describeInvalidMap(name: string, value: JsonObject, forms: string): readonly [string, string] {
  const keys = Object.keys(value);
  const stranger = keys.find((key) => !['value', 'valueFrom', 'keep'].includes(key));
  if (stranger !== undefined) {
    const near =
      didYouMean(stranger, ['value', 'valueFrom', 'keep']) ??
      (stranger === 'env' || stranger === 'file' ? `write valueFrom: { ${stranger}: … }` : forms);
    const shown = near === forms ? 'a key' : `"${stranger}"`;
    return [`${shown} is not a field of the secret "${name}"`, near];
  }
  if (keys.length > 1) return [`"${name}" has ${keys.join(' and ')}; a secret has only one of them`, forms];
  if ('value' in value) return [`the value of "${name}" is ${describeType(value['value'])}, not a text`, 'put it in quotes'];
  if ('keep' in value) return [`keep of "${name}" must be true`, forms];
  const from = value['valueFrom'];
  if (!isObject(from)) return [`valueFrom of "${name}" is not a map`, 'write valueFrom: { env: VARIABLE } or valueFrom: { file: PATH }'];
  return [`valueFrom of "${name}" must have either env or file`, 'write valueFrom: { env: VARIABLE } or valueFrom: { file: PATH }'];
}

function notationsHint(key: string): string {
  return `write ${key}: { value: … }, { valueFrom: { env: VARIABLE } }, { valueFrom: { file: PATH } } or { keep: true }`;
}

/** The source of a secret's value. */
export type SecretSource = { readonly env: string } | { readonly file: string };

/** The rules for secrets. Without `resolve`, sources are checked but not read. */
export type SecretRules = {
  /** The prefixes that names of environment variables must have. */
  readonly envPrefixes: readonly string[];
  /** The prefixes of references that the gateway resolves, such as `_cloudsecrets:`. */
  readonly referencePrefixes: readonly string[];
  readonly resolve?: (source: SecretSource) => Checked<Uint8Array | string>;
  /** Reads a secret file only to find out whether it contains a value; undefined if it cannot be read. Without it, no value is checked. */
  readonly peek?: ((file: string) => Uint8Array | undefined) | undefined;
};

/** The place of one secret: its field, its key in a map of secrets, and its encoding in the interface. */
export type SecretSlot = { readonly field: string; readonly key?: string; readonly mode: 'base64' | 'plain' };

const none: readonly DocumentDiagnostic[] = [];

// References with one part: a database user, whose password the agent requests.
const single: readonly string[] = ['_aws_iam_rds:'];

type SecretResult = { readonly secret?: DesiredSecret; readonly problems: readonly DocumentDiagnostic[] };

/** Reads one secret in a known notation. No diagnostic contains its value. */
export function readSecret(value: Json, place: SecretSlot, rules: SecretRules): SecretResult {
  const notation = parseSecretNotation(value);
  if (notation === undefined) return { problems: none };
  switch (notation.is) {
    case 'keep':
      return { secret: { state: 'keep', source: 'keep' }, problems: none };
    case 'text':
      return readText(notation.text, place, rules);
    case 'value':
      return readValue(notation.text, place, rules);
    case 'env':
    case 'file':
      return readSource(notation, place, rules);
  }
}

function readText(text: string, place: SecretSlot, rules: SecretRules): SecretResult {
  const key = slotKey(place);
  const prefix = rules.referencePrefixes.find((known) => text.startsWith(known));
  if (prefix !== undefined) return readReference(text, prefix, place);
  if (!isBase64(text)) {
    const near = /^_\w+:/.exec(text)?.[0];
    const meant = near === undefined ? undefined : didYouMean(near, rules.referencePrefixes);
    const isPlaceholder = /^[$%]|\{\{/.test(text);
    const forms =
      looksLikeCredential(key) || isPlaceholder
        ? `write ${key}: { valueFrom: { env: ${rules.envPrefixes[0] ?? ''}… } }`
        : `use ${key}: { value: … } and Ostiary encodes it; references begin with ${rules.referencePrefixes.join(' or ')}`;
    const unresolved = unresolvedText(text);
    const value =
      unresolved && `it ${unresolved.what}: ${looksLikeCredential(key) ? forms : `write ${key}: { value: … } with the value itself`}`;
    const hint = meant ?? value ?? (isPlaceholder ? undefined : base64FormHint(text)) ?? forms;
    return (
      refuseStandIn(text, place, rules) ??
      createFailure('secret/not-base64', place, `"${formatPlace(slotTokens(place))}" is neither a reference nor base64`, hint)
    );
  }
  const decoded = rules.peek === undefined ? undefined : Buffer.from(text, 'base64');
  const refused = decoded === undefined ? undefined : refuseStandIn(decoded, place, rules);
  if (refused !== undefined) return refused;
  const problems = [
    ...(decoded === undefined ? warnOfInlineCredential(text, place, rules) : warnOfInline(text, decoded, place, rules)),
    ...(key.startsWith('envvar:') && !isText(Buffer.from(text, 'base64')) ? [looksPlain(place)] : []),
  ];
  return { secret: seal('inline', text), problems };
}

function readReference(text: string, prefix: string, place: SecretSlot): SecretResult {
  if (!slotKey(place).startsWith('envvar:')) {
    const message = `"${formatPlace(slotTokens(place))}" is a reference`;
    return createFailure('secret/reference-place', place, message, 'the gateway follows references under envvar: keys only');
  }
  const parts = text.slice(prefix.length).split(':');
  if (parts.some((part) => part === '' || /\s/.test(part)) || (parts.length < 2 && !single.includes(prefix))) {
    const message = `the reference of "${formatPlace(slotTokens(place))}" is incomplete`;
    return createFailure('secret/bad-reference', place, message, `write ${prefix}NAME:KEY`);
  }
  return { secret: seal(`reference:${text}`, text), problems: none };
}

function readValue(text: string, place: SecretSlot, rules: SecretRules): SecretResult {
  const prefix = rules.referencePrefixes.find((known) => text.startsWith(known));
  if (prefix !== undefined) {
    const name = formatPlace(slotTokens(place));
    return createFailure(
      'secret/reference-as-value',
      place,
      `the value of "${name}" is a reference`,
      `write ${slotKey(place)}: ${prefix}NAME:KEY, without { value: … }`,
    );
  }
  const refused = refuseStandIn(text, place, rules);
  if (refused !== undefined) return refused;
  return { secret: seal('inline', text, place.mode), problems: warnOfInline(text, text, place, rules) };
}

const noCredentials: ReadonlySet<string> = new Set([
  'secret/blank',
  'secret/masked-text',
  'secret/placeholder',
  'secret/unresolved-reference',
]);

/** Warns about a value in a manifest; one that is blank or a placeholder is no credential. */
function warnOfInline(text: string, value: Uint8Array | string, place: SecretSlot, rules: SecretRules): readonly DocumentDiagnostic[] {
  const found = warnOfValue(value, place, 'inline');
  const isCredential = found.every(({ code }) => !noCredentials.has(code));
  return isCredential ? [...found, ...warnOfInlineCredential(text, place, rules)] : found;
}

/** Warns about a suspicious value. */
function warnOfValue(
  value: Uint8Array | string,
  place: SecretSlot,
  origin: ValueOrigin,
  tokensOf: (place: SecretSlot) => readonly string[] = slotTokens,
): readonly DocumentDiagnostic[] {
  const found = valueWarningOf(value, origin, slotKey(place).startsWith('filesystem:'));
  if (found === undefined) return none;
  const message = `the value of "${formatPlace(slotTokens(place))}" ${found.what}`;
  return [{ code: found.code, severity: 'warning', pointer: pointer(...tokensOf(place)), message, hint: found.hint }];
}

function readSource(notation: SecretNotation & { readonly is: 'env' | 'file' }, place: SecretSlot, rules: SecretRules): SecretResult {
  const at = (): readonly string[] => [...slotTokens(place), 'valueFrom', notation.is];
  const source = notation.is === 'env' ? `env:${notation.name}` : `file:${notation.path}`;
  const wrong = notation.is === 'env' ? checkVariableName(notation.name, at, rules) : checkPath(notation.path, at);
  if (wrong !== undefined) return { problems: [wrong] };
  if (rules.resolve === undefined) {
    const found = notation.is === 'file' ? rules.peek?.(notation.path) : undefined;
    const refused = found === undefined ? undefined : refuseStandIn(found, place, rules, at);
    const problems = found === undefined || found.length === 0 ? none : warnOfValue(found, place, 'file', at);
    return refused ?? { secret: { state: 'unresolved', source }, problems };
  }
  const { value, diagnostics } = rules.resolve(notation.is === 'env' ? { env: notation.name } : { file: notation.path });
  if (value === undefined || value.length === 0)
    return { problems: unresolvedDiagnostics(notation, at(), value !== undefined, diagnostics) };
  const refused = refuseStandIn(value, place, rules, at);
  if (refused !== undefined) return refused;
  const wire = encodeForWire(value, place.mode);
  if (wire === undefined)
    return createFailure(
      'secret/not-text',
      place,
      `the value of "${formatPlace(slotTokens(place))}" is not UTF-8 text`,
      'the gateway requires text here',
    );
  return { secret: seal(source, wire), problems: warnOfValue(value, place, notation.is, at) };
}

function checkVariableName(name: string, at: () => readonly string[], rules: SecretRules): DocumentDiagnostic | undefined {
  if (rules.envPrefixes.some((prefix) => name.startsWith(prefix))) return undefined;
  const shown = /^[A-Z_][A-Z0-9_]*$/.test(name) ? `"${name}"` : 'the name';
  const first = rules.envPrefixes[0] ?? '';
  const hint = `name the variable ${first}…, or add a prefix to secret_prefixes of the target`;
  return documentError('secret/env-prefix', at(), `${shown} does not begin with ${rules.envPrefixes.join(' or ')}`, hint);
}

function checkPath(path: string, at: () => readonly string[]): DocumentDiagnostic | undefined {
  const parts = path.split('/');
  if (/^(\/|[A-Za-z]:|~)/.test(path) || path.includes('\\') || parts.includes('..')) {
    return documentError(
      'secret/file-outside',
      at(),
      `"${path}" is not a path below the root`,
      'use the path of a file in the repository, with / and without ..',
    );
  }
  if (!parts.some((part) => part.startsWith('.') && part !== '.')) return undefined;
  return documentError('secret/file-hidden', at(), `"${path}" has a part that begins with a dot`, 'move the file to a visible folder');
}

function unresolvedDiagnostics(
  notation: SecretNotation & { readonly is: 'env' | 'file' },
  at: readonly string[],
  empty: boolean,
  diagnostics: readonly Diagnostic[],
): readonly DocumentDiagnostic[] {
  if (diagnostics.length > 0) return diagnostics.map((diagnostic) => ({ ...diagnostic, pointer: pointer(...at) }));
  if (notation.is === 'file') {
    return [
      documentError(
        'secret/unreadable-file',
        at,
        `"${notation.path}" ${empty ? 'is empty' : 'cannot be read'}`,
        'the file must exist and contain the value',
      ),
    ];
  }
  const hint = 'set it in the environment of this command';
  return [
    documentError('secret/undefined-variable', at, `the environment variable ${notation.name} is ${empty ? 'empty' : 'not set'}`, hint),
  ];
}

function warnOfInlineCredential(
  text: string,
  place: SecretSlot,
  { envPrefixes: [prefix = ''] }: SecretRules,
): readonly DocumentDiagnostic[] {
  if (!looksLikeCredential(slotKey(place)) && !holdsCredential(text)) return none;
  const message = `"${formatPlace(slotTokens(place))}" looks like a credential, but the manifest contains its value`;
  const hint = `read it from the environment: { valueFrom: { env: ${prefix}… } }`;
  return [{ code: 'secret/inline', severity: 'warning', pointer: pointer(...slotTokens(place)), message, hint }];
}

/** Returns whether a text contains a login in a URL or a private key. */
function holdsCredential(text: string): boolean {
  return text.length > 8 && /\/\/[^/@\s:]+:[^/@\s]+@|PRIVATE KEY-----/.test(text);
}

/** Refuses a pointer or an encrypted text in place of the value. */
function refuseStandIn(
  value: Uint8Array | string,
  place: SecretSlot,
  { peek }: SecretRules,
  tokensOf: (place: SecretSlot) => readonly string[] = slotTokens,
): SecretResult | undefined {
  const found = peek === undefined ? undefined : standInOf(value);
  if (found === undefined) return undefined;
  const { code, what, hint } = found;
  const message = `the value of "${formatPlace(slotTokens(place))}" is ${what}${code === 'secret/pointer' ? ', not the file itself' : ''}`;
  return { problems: [documentError(code, tokensOf(place), message, hint)] };
}

function looksPlain(place: SecretSlot): DocumentDiagnostic {
  const message = `"${formatPlace(slotTokens(place))}" is valid base64 but does not decode to text`;
  const hint = `if the text itself is the value, use ${slotKey(place)}: { value: … }`;
  return { code: 'secret/looks-plain', severity: 'warning', pointer: pointer(...slotTokens(place)), message, hint };
}

function encodeForWire(value: Uint8Array | string, mode: SecretSlot['mode']): string | undefined {
  if (mode === 'base64') return Buffer.from(value).toString('base64');
  if (typeof value === 'string') return value;
  return isUtf8(value) ? Buffer.from(value).toString('utf8') : undefined;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').toString('base64') === text;
}

function isUtf8(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).equals(Buffer.from(Buffer.from(bytes).toString('utf8'), 'utf8'));
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !/(?![\t\n\r])\p{Cc}/u.test(bytes.toString('utf8'));
}

function slotKey(place: SecretSlot): string {
  return place.key ?? place.field;
}

function slotTokens({ field, key }: SecretSlot): readonly string[] {
  return key === undefined ? ['spec', field] : ['spec', field, key];
}

function createFailure(code: DocumentDiagnostic['code'], place: SecretSlot, message: string, hint: string): SecretResult {
  return { problems: [documentError(code, slotTokens(place), message, hint)] };
}
