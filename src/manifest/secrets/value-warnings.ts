import { unresolvedText } from './unresolved-text.ts';

/** Where a value comes from, which decides how to correct it. */
export type ValueOrigin = 'inline' | 'env' | 'file';

/** What is suspicious about a value, and how to correct it. */
export type ValueWarning = {
  readonly code:
    | 'secret/blank'
    | 'secret/byte-order-mark'
    | 'secret/line-break'
    | 'secret/masked-text'
    | 'secret/placeholder'
    | 'secret/unresolved-reference';
  readonly what: string;
  readonly hint: string;
};

const lineBreakHints: Readonly<Record<ValueOrigin, string>> = {
  inline: 'write it without the line break; after a |, write |- instead',
  env: 'set the variable without it',
  file: 'remove it from the file, for example with: printf %s "$(cat FILE)" > NEW',
};

// The syntaxes of shells, CI systems, Helm, Jinja, ERB, PowerShell and Windows. Those without a closing bracket count only as the whole
// value: passwords contain $ and %.
const placeholders =
  /[$#]\{[A-Za-z_][^{}\n]*\}|\{\{.*\}\}|<%=.*%>|^\$(?:env:)?[A-Za-z_]\w*$|^\$\([A-Za-z_][\w.]*\)$|^\(\([A-Za-z_][\w./-]*\)\)$|^%[A-Za-z_]\w*%$/;

// A value from outside the manifests is one only as a whole.
const variables = /^\$(?:\{[A-Za-z_]\w*\}|(?:env:)?[A-Z_][A-Z\d_]*)$/;

/** Words that people write until they know the value, and that programs print in place of none. */
const placeholderWords =
  /^(?:x{4,64}|(?:change|replace)[-_ ]?(?:me|it|this)|to-?do|tbd|fix-?me|placeholder|null|undefined|your[-_ ][\w -]{1,50}|<[a-z][\w -]{1,50}>)$/i;

/** As logs name a secret without printing it, such as the audit log of Vault. */
const hashes = /^(?:hmac-)?(?:sha256:[\da-f]{64}|sha512:[\da-f]{128})$/i;

const valueHints: Readonly<Record<ValueOrigin, string>> = {
  inline: 'write the value itself; to keep the value of the gateway, write { keep: true }',
  env: 'set the variable to the value itself; to keep the value of the gateway, write { keep: true }',
  file: 'write the value itself into the file; to keep the value of the gateway, write { keep: true }',
};

/**
 * Returns what is suspicious about a value: it is blank, is masked text or a reference of another secret manager, begins with a byte order mark,
 * is one line that ends with a line break, or is a placeholder: in a manifest also as a part of it. Files for programs (`filesystem:`) and values of
 * several lines may end with a line break, and files may contain templates.
 */
export function valueWarningOf(value: Uint8Array | string, origin: ValueOrigin, isForFile: boolean): ValueWarning | undefined {
  if (!maybeSuspicious(value, origin)) return undefined;
  const text = typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  const content = text.replace(/^\ufeff/, '');
  if (content.trim() === '') return { code: 'secret/blank', what: 'is blank', hint: 'set the value, or use { keep: true }' };
  if (content !== text || isUtf16(value)) {
    const hint = 'save the text as UTF-8 without a byte order mark';
    return { code: 'secret/byte-order-mark', what: 'begins with a byte order mark, which is sent as a part of it', hint };
  }
  const isPlaceholder = !isForFile && (origin === 'inline' ? placeholders : variables).test(content);
  const unresolved = isPlaceholder ? undefined : unresolvedText(content);
  if (unresolved?.is === 'masked' || hashes.test(content.trim())) {
    const what = `${unresolved?.what ?? 'looks like the hash of a value'}, and is sent as it is`;
    return { code: 'secret/masked-text', what, hint: valueHints[origin] };
  }
  if (unresolved !== undefined && !isForFile) {
    const hint = `resolve it before Ostiary runs${origin === 'env' ? '' : ', for example into an environment variable: { valueFrom: { env: … } }'}`;
    return { code: 'secret/unresolved-reference', what: `${unresolved.what}: it is sent as it is`, hint };
  }
  if (!isForFile && /^[^\r\n]*[\r\n]+$/.test(text)) {
    const what = 'ends with a line break, which is sent as a part of it';
    return { code: 'secret/line-break', what, hint: lineBreakHints[origin] };
  }
  if (!isPlaceholder && !placeholderWords.test(content.trim())) return undefined;
  const what = 'looks like a placeholder, but Ostiary substitutes nothing: it is sent as it is';
  const hint = isPlaceholder && origin === 'inline' ? 'read it from the environment: { valueFrom: { env: … } }' : valueHints[origin];
  return { code: 'secret/placeholder', what, hint };
}

/** Returns whether bytes begin with a byte order mark of UTF-16, in which PowerShell 5 writes files. */
function isUtf16(value: Uint8Array | string): boolean {
  if (typeof value === 'string') return false;
  const [first, second] = value;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

// The characters that placeholders, masked texts and references have: $ % ( { < * [ : @ ! and /.
const openingBytes: ReadonlySet<number> = new Set([0x24, 0x25, 0x28, 0x7b, 0x3c, 0x2a, 0x5b, 0x3a, 0x40, 0x21, 0x2f]);

// Masked texts and references are short; only placeholders are part of longer values.
const longestStandIn = 2048;

// Of placeholders that are words.
const longestWord = 64;
const wordStarts = /[xcrtfpymnu_]/i;

/** Finds values to look at: most of forty thousand are not suspicious. */
function maybeSuspicious(value: Uint8Array | string, origin: ValueOrigin): boolean {
  const isText = typeof value === 'string';
  const first = (isText ? value.charCodeAt(0) : value[0]) ?? 0;
  const last = (isText ? value.charCodeAt(value.length - 1) : value.at(-1)) ?? 0;
  if (first > 0x7f || first <= 0x20 || last <= 0x20) return true;
  if (value.length > longestStandIn && origin !== 'inline') return false;
  if (value.length <= longestWord && wordStarts.test(String.fromCharCode(first))) return true;
  return isText ? /[$%({<*[:@!/]|^VALUE_/.test(value) : value.some((byte) => openingBytes.has(byte));
}

/** Returns a hint for a text that is base64 in another form: wrapped, without padding, or with the alphabet of URLs. */
export function base64FormHint(text: string): string | undefined {
  const joined = text.replaceAll(/\s+/g, '');
  const standard = joined.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  if (!/^[A-Za-z0-9+/]{4,}$/.test(standard) || standard.length % 4 === 1) return undefined;
  const bytes = Buffer.from(standard, 'base64');
  const isWrapped = joined !== text && joined.length % 4 === 0;
  if (!isWrapped && !isPrintable(bytes)) return undefined;
  if (isWrapped) return 'if it is base64, write it on one line, as base64 -w0 prints it';
  if (/[-_]/.test(joined)) return 'if it is base64url, write it in the standard alphabet, with + and / for - and _, padded with =';
  return joined === text ? 'if it is base64, add the padding: = or == at its end' : 'if it is base64, write it on one line, padded with =';
}

/** Returns whether bytes are text without control characters, which hardly any text that is no base64 decodes to. */
function isPrintable(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  return !text.includes('\ufffd') && !/(?![\t\n\r])\p{Cc}/u.test(text);
}
