/** How the interface has a value: in maps as base64 of UTF-8. */
type Encoding = 'base64' | 'plain';

/**
 * A secret value that is only revealed on request. Ten thousand manifests have eighty thousand of them, so it is one object
 * without closures. A copy of its fields is not a secret, and no type accepts it as one.
 */
class SealedText {
  readonly state = 'value';
  readonly source: string;
  readonly #text: string;
  readonly #encoding: Encoding;
  readonly #content: string | undefined;

  constructor(source: string, text: string, encoding: Encoding, content?: string) {
    this.source = source;
    this.#text = text;
    this.#encoding = encoding;
    this.#content = content;
  }

  /** The hash of the content, if the source is a committed file. */
  get content(): string | undefined {
    return this.#content;
  }

  reveal(): string {
    return this.#encoding === 'plain' ? this.#text : encodedText(this.#text);
  }

  /** Returns the same value with another source. */
  withSource(source: string): SealedText {
    return new SealedText(source, this.#text, this.#encoding);
  }

  /** Returns the same value with the hash of the file that it comes from. */
  withContent(content: string): SealedText {
    return new SealedText(this.source, this.#text, this.#encoding, content);
  }

  /** Returns whether both hold the same value. */
  equals(other: SealedText): boolean {
    return (this.#encoding === other.#encoding && this.#text === other.#text) || this.reveal() === other.reveal();
  }
}

/**
 * A secret value in memory. Only `source` may ever be printed: `inline`, `env:NAME`, `file:PATH`, `reference:TEXT` or `live`.
 * `reveal` is for comparing and for the write; it returns the value in the encoding of the interface (base64 or a reference for
 * maps, plain text for single fields).
 */
export type Secret = SealedText;

/** One secret in a manifest: a value, `keep` (not managed), or a source that was not resolved. */
export type DesiredSecret = Secret | { readonly state: 'keep'; readonly source: string; readonly content?: undefined } | UnresolvedSecret;

/** A source that was not read; `content` is the hash of a committed file. */
type UnresolvedSecret = { readonly state: 'unresolved'; readonly source: string; readonly content?: string };

/** Returns the secret with the hash of the committed file that it comes from. */
export function withContent(secret: DesiredSecret, content: string): DesiredSecret {
  if (secret.state === 'keep') return secret;
  return secret.state === 'value' ? secret.withContent(content) : { ...secret, content };
}

/** One secret on the gateway: a value, or a value that the token may not read. */
export type LiveSecret = Secret | { readonly state: 'hidden'; readonly source: string };

/**
 * Returns whether two manifests state a secret in the same way: the same form and source, the same content of a committed file, and the
 * same value if it is in the manifest. Values from elsewhere are not compared.
 */
export function isSameSecretSource(one: DesiredSecret | LiveSecret | undefined, other: DesiredSecret | LiveSecret | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  if (one.source !== other.source || contentOf(one) !== contentOf(other) || (one.state === 'keep') !== (other.state === 'keep'))
    return false;
  return one.source !== 'inline' || one.state !== 'value' || other.state !== 'value' || one.equals(other);
}

/** Returns the hash of the committed file that a secret comes from; undefined for any other one. */
export function contentOf(secret: DesiredSecret | LiveSecret): string | undefined {
  return 'content' in secret ? secret.content : undefined;
}

/**
 * Seals a value: printing or serializing the result shows only the source. An encoded value is encoded on each request,
 * because most values are compared only once.
 */
export function seal(source: string, value: string, encoding: Encoding = 'plain'): Secret {
  return new SealedText(source, value, encoding);
}

/** Returns a value of a map as its text: there, values travel in base64. */
export function decodedText(secret: Secret): string {
  const value = secret.reveal();
  return decodeBase64(value) ?? value;
}

/** Decodes base64 of UTF-8; returns undefined for any other text. */
export function decodeBase64(value: string): string | undefined {
  const text = Buffer.from(value, 'base64').toString('utf8');
  return encodedText(text) === value ? text : undefined;
}

/** Returns a text in the encoding of values in maps: base64 of UTF-8. */
export function encodedText(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

const credentialKey = /(pass|passwd|password|passphrase|pwd|token|key|secret|private|credentials?|authorization)(?![A-Za-z0-9])/i;

/** Returns whether, judging by its key, its value is probably a credential. */
export function looksLikeCredential(key: string): boolean {
  return credentialKey.test(key);
}
