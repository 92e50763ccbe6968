/** A secret value in memory: only `source` may ever be printed, `reveal` is for comparing and for the write. */
export type Secret = {
  /** Where the value comes from: `inline`, `env:NAME`, `file:PATH`, `reference:TEXT` or `live`. */
  readonly source: string;
  /** The value as the interface spells it (base64 or a reference for maps, plain text for single fields). */
  readonly reveal: () => string;
};

/** What a manifest says of one secret: a value, `keep` (not ours), or a source that was not resolved. */
export type DesiredSecret =
  | ({ readonly state: 'value' } & Secret)
  | { readonly state: 'keep'; readonly source: string }
  | { readonly state: 'unresolved'; readonly source: string };

/** What the gateway says of one secret: a value, or that there is one that the caller may not see. */
export type LiveSecret = ({ readonly state: 'value' } & Secret) | { readonly state: 'hidden'; readonly source: string };

/** Seals a value behind its source: printing or serialising the result shows the source alone. */
export function seal(source: string, value: string): { readonly state: 'value' } & Secret {
  return { state: 'value', source, reveal: () => value };
}

/** Tells whether two secrets hold the same value. */
export function sameSecret(left: Secret, right: Secret): boolean {
  return left.reveal === right.reveal || left.reveal() === right.reveal();
}

const credentialKey = /(pass|passwd|password|passphrase|pwd|token|key|secret|private|credentials?|authorization)(?![A-Za-z0-9])/i;

/** Tells by the key of a secret whether its value is likely to let somebody in. */
export function looksLikeCredential(key: string): boolean {
  return credentialKey.test(key);
}
