/** A text in place of a secret value: what it is, and how to get the value. */
export type StandIn = { readonly code: 'secret/pointer' | 'secret/encrypted'; readonly what: string; readonly hint: string };

const decrypt = 'decrypt it before Ostiary runs, for example into an environment variable: { valueFrom: { env: … } }';
const lfs = 'get the file with git lfs pull; for actions/checkout set lfs: true';

const forms: readonly (StandIn & { readonly form: RegExp })[] = [
  {
    form: /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\//,
    code: 'secret/pointer',
    what: 'a Git LFS pointer',
    hint: lfs,
  },
  {
    form: /^(?:\.\.?\/|\/)*(?:\.git\/)?annex\/objects\//,
    code: 'secret/pointer',
    what: 'a git-annex pointer',
    hint: 'get the file with git annex get',
  },
  {
    form: /^\0GITCRYPT\0/,
    code: 'secret/encrypted',
    what: 'encrypted by git-crypt',
    hint: 'decrypt the working tree with git-crypt unlock',
  },
  { form: /^(?:!vault\s*\|?-?\s*)?\$ANSIBLE_VAULT;/, code: 'secret/encrypted', what: 'encrypted by Ansible Vault', hint: decrypt },
  {
    form: /^-----BEGIN AGE ENCRYPTED FILE-----|^age-encryption\.org\/v\d/,
    code: 'secret/encrypted',
    what: 'encrypted by age',
    hint: decrypt,
  },
  { form: /^-----BEGIN PGP MESSAGE-----/, code: 'secret/encrypted', what: 'encrypted by PGP', hint: decrypt },
  { form: /ENC\[AES256_GCM,data:/, code: 'secret/encrypted', what: 'encrypted by SOPS', hint: decrypt },
  { form: /^ENC\[(?:PKCS7|GPG|KMS),/, code: 'secret/encrypted', what: 'encrypted by hiera-eyaml', hint: decrypt },
  { form: /^Salted__|^U2FsdGVkX1/, code: 'secret/encrypted', what: 'encrypted by OpenSSL', hint: decrypt },
];

// The header of git-crypt.
const shortest = 10;

/** Returns what a value is if it is a pointer to a file or an encrypted text, which no gateway can use; undefined for all other values. */
export function standInOf(value: Uint8Array | string): StandIn | undefined {
  // Most of forty thousand values are short.
  if (value.length < shortest) return undefined;
  const text = typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  // A byte order mark, as bytes or as a character, and blank lines change nothing.
  const start = text.replace(/^(?:\ufeff|\u00ef\u00bb\u00bf)?\s*/, '');
  return forms.find(({ form }) => form.test(start));
}
