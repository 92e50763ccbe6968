import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { looksLikeCredential, seal, type DesiredSecret } from '../../model/secret.ts';
import { suggest } from '../../model/suggest.ts';
import { didYouMean, placeName, type Problem } from '../wording.ts';
import { secretForm, type SecretForm } from './secret-form.ts';

/** Where a secret's value is to be read. */
export type SecretSource = { readonly env: string } | { readonly file: string };

/** What secrets may look like; without `resolve` their sources are checked, never read. */
export type SecretRules = {
  /** Prefixes that names of environment variables must have. */
  readonly envPrefixes: readonly string[];
  /** Prefixes of references that the gateway follows, such as `_cloudsecrets:`. */
  readonly referencePrefixes: readonly string[];
  readonly resolve?: (source: SecretSource) => Checked<Uint8Array | string>;
};

/** One secret of a manifest: its field, its key in a map of secrets, and how the interface spells it. */
export type SecretPlace = { readonly field: string; readonly key?: string; readonly mode: 'base64' | 'plain' };

const none: readonly Problem[] = [];

// References that may name one thing alone: a database user, whose password the agent asks for.
const single: readonly string[] = ['_aws_iam_rds:'];

type Read = { readonly secret?: DesiredSecret; readonly problems: readonly Problem[] };

/** Reads one secret that has one of the known forms; its value is in no problem. */
export function readSecret(value: Json, place: SecretPlace, rules: SecretRules): Read {
  const form = secretForm(value);
  if (form === undefined) return { problems: none };
  switch (form.form) {
    case 'keep':
      return { secret: { state: 'keep', source: 'keep' }, problems: none };
    case 'text':
      return readText(form.text, place, rules);
    case 'value':
      return readValue(form.text, place, rules);
    case 'env':
    case 'file':
      return readSource(form, place, rules);
  }
}

function readText(text: string, place: SecretPlace, rules: SecretRules): Read {
  const key = keyOf(place);
  const prefix = rules.referencePrefixes.find((known) => text.startsWith(known));
  if (prefix !== undefined) return readReference(text, prefix, place);
  if (!isBase64(text)) {
    const near = /^_\w+:/.exec(text)?.[0];
    const meant = near === undefined ? undefined : didYouMean(suggest(near, rules.referencePrefixes));
    const hidden = looksLikeCredential(key) || text.startsWith('$');
    const forms = hidden
      ? `write ${key}: { valueFrom: { env: ${rules.envPrefixes[0] ?? ''}… } }`
      : `write ${key}: { value: … } and Ostiary encodes it; references begin with ${rules.referencePrefixes.join(' or ')}`;
    const hint = meant ?? forms;
    return failed('secret/not-base64', place, `"${placeName(tokensOf(place))}" is neither a reference nor base64`, hint);
  }
  const problems = [
    ...inlineProblems(text, place),
    ...(key.startsWith('envvar:') && !isText(Buffer.from(text, 'base64')) ? [looksPlain(place)] : []),
  ];
  return { secret: seal('inline', text), problems };
}

function readReference(text: string, prefix: string, place: SecretPlace): Read {
  if (!keyOf(place).startsWith('envvar:')) {
    const message = `"${placeName(tokensOf(place))}" is a reference`;
    return failed('secret/reference-place', place, message, 'the gateway follows references under envvar: keys only');
  }
  const parts = text.slice(prefix.length).split(':');
  if (parts.some((part) => part === '' || /\s/.test(part)) || (parts.length < 2 && !single.includes(prefix))) {
    const message = `the reference of "${placeName(tokensOf(place))}" is not whole`;
    return failed('secret/bad-reference', place, message, `write ${prefix}NAME:KEY`);
  }
  return { secret: seal(`reference:${text}`, text), problems: none };
}

function readValue(text: string, place: SecretPlace, rules: SecretRules): Read {
  const prefix = rules.referencePrefixes.find((known) => text.startsWith(known));
  if (prefix !== undefined) {
    const name = placeName(tokensOf(place));
    return failed(
      'secret/reference-as-value',
      place,
      `the value of "${name}" is a reference`,
      `write ${keyOf(place)}: ${prefix}NAME:KEY, without { value: … }`,
    );
  }
  const secret = place.mode === 'base64' ? seal('inline', text, encoded) : seal('inline', text);
  return { secret, problems: inlineProblems(text, place) };
}

function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function readSource(form: SecretForm & { readonly form: 'env' | 'file' }, place: SecretPlace, rules: SecretRules): Read {
  const at = (): readonly string[] => [...tokensOf(place), 'valueFrom', form.form];
  const source = form.form === 'env' ? `env:${form.name}` : `file:${form.path}`;
  const wrong = form.form === 'env' ? wrongVariable(form.name, at, rules) : wrongPath(form.path, at);
  if (wrong !== undefined) return { problems: [wrong] };
  if (rules.resolve === undefined) return { secret: { state: 'unresolved', source }, problems: none };
  const { value, diagnostics } = rules.resolve(form.form === 'env' ? { env: form.name } : { file: form.path });
  if (value === undefined || value.length === 0) return { problems: notResolved(form, at(), value !== undefined, diagnostics) };
  const wire = spelled(value, place.mode);
  if (wire === undefined)
    return failed(
      'secret/not-text',
      place,
      `the value of "${placeName(tokensOf(place))}" is not UTF-8 text`,
      'the gateway takes text here',
    );
  return { secret: seal(source, wire), problems: none };
}

function wrongVariable(name: string, at: () => readonly string[], rules: SecretRules): Problem | undefined {
  if (rules.envPrefixes.some((prefix) => name.startsWith(prefix))) return undefined;
  const shown = /^[A-Z_][A-Z0-9_]*$/.test(name) ? `"${name}"` : 'the name';
  const first = rules.envPrefixes[0] ?? '';
  const hint = `name the variable ${first}…, or add a prefix to secret_prefixes of the target`;
  return problem('secret/env-prefix', at(), `${shown} does not begin with ${rules.envPrefixes.join(' or ')}`, hint);
}

function wrongPath(path: string, at: () => readonly string[]): Problem | undefined {
  const parts = path.split('/');
  if (/^(\/|[A-Za-z]:|~)/.test(path) || path.includes('\\') || parts.includes('..')) {
    return problem(
      'secret/file-outside',
      at(),
      `"${path}" is not a path below the root`,
      'name a file of the repository with /, without ..',
    );
  }
  if (!parts.some((part) => part.startsWith('.') && part !== '.')) return undefined;
  return problem('secret/file-hidden', at(), `"${path}" begins with a dot somewhere`, 'move the file where everybody sees it');
}

function notResolved(
  form: SecretForm & { readonly form: 'env' | 'file' },
  at: readonly string[],
  empty: boolean,
  diagnostics: readonly Diagnostic[],
): readonly Problem[] {
  if (diagnostics.length > 0) return diagnostics.map((diagnostic) => ({ ...diagnostic, at: pointer(...at) }));
  if (form.form === 'file') {
    return [
      problem(
        'secret/unreadable-file',
        at,
        `"${form.path}" ${empty ? 'is empty' : 'cannot be read'}`,
        'the file must be there and hold the value',
      ),
    ];
  }
  const hint = 'set it in the environment of this command';
  return [problem('secret/undefined-variable', at, `the environment variable ${form.name} is ${empty ? 'empty' : 'not set'}`, hint)];
}

function inlineProblems(text: string, place: SecretPlace): readonly Problem[] {
  if (!looksLikeCredential(keyOf(place)) && !holdsCredential(text)) return none;
  const message = `"${placeName(tokensOf(place))}" looks like a credential and its value stands in the file`;
  const hint = 'take it from the environment: { valueFrom: { env: OSTIARY_SECRET_… } }';
  return [{ code: 'secret/inline', severity: 'warning', at: pointer(...tokensOf(place)), message, hint }];
}

/** A login inside an address, or a private key. */
function holdsCredential(text: string): boolean {
  return text.length > 8 && /\/\/[^/@\s:]+:[^/@\s]+@|PRIVATE KEY-----/.test(text);
}

function looksPlain(place: SecretPlace): Problem {
  const message = `"${placeName(tokensOf(place))}" is valid base64, but of unreadable bytes`;
  const hint = `where the text itself is the value, write ${keyOf(place)}: { value: … }`;
  return { code: 'secret/looks-plain', severity: 'warning', at: pointer(...tokensOf(place)), message, hint };
}

function spelled(value: Uint8Array | string, mode: SecretPlace['mode']): string | undefined {
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

function keyOf(place: SecretPlace): string {
  return place.key ?? place.field;
}

function tokensOf({ field, key }: SecretPlace): readonly string[] {
  return key === undefined ? ['spec', field] : ['spec', field, key];
}

function failed(code: Problem['code'], place: SecretPlace, message: string, hint: string): Read {
  return { problems: [problem(code, tokensOf(place), message, hint)] };
}

function problem(code: Problem['code'], tokens: readonly string[], message: string, hint: string): Problem {
  return { code, severity: 'error', at: pointer(...tokens), message, hint };
}
