/** Makes the interface's spelling of a text. */
type Encode = (text: string) => string;

/**
 * Of ten thousand manifests there are eighty thousand: one object each, with methods that all share, and no closure. A copy
 * of its fields is no secret, and no type takes it for one.
 */
class SealedText {
  readonly state = 'value';
  readonly source: string;
  readonly #text: string;
  readonly #spell: Encode | undefined;

  constructor(source: string, text: string, spell?: Encode) {
    this.source = source;
    this.#text = text;
    this.#spell = spell;
  }

  reveal(): string {
    return this.#spell === undefined ? this.#text : this.#spell(this.#text);
  }

  /** The same value, told to be from elsewhere. */
  withSource(source: string): SealedText {
    return new SealedText(source, this.#text, this.#spell);
  }

  /** Tells whether both hold the same value. */
  equals(other: SealedText): boolean {
    return (this.#spell === other.#spell && this.#text === other.#text) || this.reveal() === other.reveal();
  }
}

/**
 * A secret value in memory. Only `source` may ever be printed: `inline`, `env:NAME`, `file:PATH`, `reference:TEXT` or `live`.
 * `reveal` is for comparing and for the write; it tells the value as the interface spells it (base64 or a reference for
 * maps, plain text for single fields).
 */
export type Secret = SealedText;

/** What a manifest says of one secret: a value, `keep` (not ours), or a source that was not resolved. */
export type DesiredSecret =
  | Secret
  | { readonly state: 'keep'; readonly source: string }
  | { readonly state: 'unresolved'; readonly source: string };

/** What the gateway says of one secret: a value, or that there is one that the caller may not see. */
export type LiveSecret = Secret | { readonly state: 'hidden'; readonly source: string };

/**
 * Seals a value behind its source: printing or serialising the result shows the source alone. A value that is to be
 * spelled otherwise is spelled whenever it is asked for: most are only compared once.
 */
export function seal(source: string, value: string, spell?: Encode): Secret {
  return new SealedText(source, value, spell);
}

const credentialKey = /(pass|passwd|password|passphrase|pwd|token|key|secret|private|credentials?|authorization)(?![A-Za-z0-9])/i;

/** Tells by the key of a secret whether its value is likely to let somebody in. */
export function looksLikeCredential(key: string): boolean {
  return credentialKey.test(key);
}
