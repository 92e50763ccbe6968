/** Encodes a text the way the interface expects it. */
type Encode = (text: string) => string;

/**
 * A secret value that is only revealed on request. Ten thousand manifests have eighty thousand of them, so it is one object
 * without closures. A copy of its fields is not a secret, and no type accepts it as one.
 */
class SealedText {
  readonly state = 'value';
  readonly source: string;
  readonly #text: string;
  readonly #spell: Encode | undefined;
  readonly #content: string | undefined;

  constructor(source: string, text: string, spell?: Encode, content?: string) {
    this.source = source;
    this.#text = text;
    this.#spell = spell;
    this.#content = content;
  }

  /** The hash of the content, if the source is a committed file. */
  get content(): string | undefined {
    return this.#content;
  }

  reveal(): string {
    return this.#spell === undefined ? this.#text : this.#spell(this.#text);
  }

  /** Returns the same value with another source. */
  withSource(source: string): SealedText {
    return new SealedText(source, this.#text, this.#spell);
  }

  /** Returns the same value with the hash of the file that it comes from. */
  withContent(content: string): SealedText {
    return new SealedText(this.source, this.#text, this.#spell, content);
  }

  /** Returns whether both hold the same value. */
  equals(other: SealedText): boolean {
    return (this.#spell === other.#spell && this.#text === other.#text) || this.reveal() === other.reveal();
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
 * Seals a value: printing or serializing the result shows only the source. An encoded value is encoded on each request,
 * because most values are compared only once.
 */
export function seal(source: string, value: string, spell?: Encode): Secret {
  return new SealedText(source, value, spell);
}

const credentialKey = /(pass|passwd|password|passphrase|pwd|token|key|secret|private|credentials?|authorization)(?![A-Za-z0-9])/i;

/** Returns whether, judging by its key, its value is probably a credential. */
export function looksLikeCredential(key: string): boolean {
  return credentialKey.test(key);
}
