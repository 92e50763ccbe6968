/** A text that stands for a value: what it looks like. */
export type UnresolvedText = { readonly is: 'masked' | 'reference'; readonly what: string };

// As logs, plans and consoles print secrets: GitHub ***, GitLab [MASKED], Terraform (sensitive value), Pulumi [secret], Rails [FILTERED], Ostiary (secret …).
const masked =
  /^(?:[*∗＊•●]{3,}(?:\w{1,8}\**)?|[[(<{]{1,2} *(?:sensitive|redacted|masked|filtered|hidden|secret|protected|encrypted|concealed|removed|computed|known after apply)(?:[ _-](?:value|text|data|inline|env:\S+|file:\S+))? *[\])>}]{1,2}|[^\w\s]{0,2}_{0,2}(?:redacted|masked|filtered)_{0,2}[^\w\s]{0,2}|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER)$/i;

// Of a URL or a connection string, they mask the password alone; Go prints xxxxx there.
const passwordIn = /^[a-z][\w+.:-]*:\/\/[^:/@\s]*:([^/@\s]+)@|\b(?:password|pwd) ?= ?'?([^;&'\s]+)/i;

const url = (schemes: string): string => String.raw`(?:${schemes}):\/\/\S+`;

/** How other programs write a secret that they resolve, as expressions for the whole text. */
const references: readonly (readonly [program: string, form: string])[] = [
  ['1Password', url('op')],
  ['Vault or OpenBao', String.raw`${url('vault|hashivault|hcvault|openbao|bao')}|(?:>>)?(?:vault|bao):[\w-][\w/.-]*[#:]\S+`],
  ['Argo CD Vault Plugin', String.raw`<path:[^<>\s]+#[^<>]+>`],
  ['vals', url(String.raw`(?:ref|secretref)\+\w[\w+.-]*`)],
  ['AWS', String.raw`${url('awssecret|awsssm|awssm|aws-ssm|aws-sm|secretsmanager|ssm')}|arn:aws[\w-]*:(?:secretsmanager|ssm|kms):\S+`],
  ['Google Cloud', String.raw`${url('gcpsecret|gcpsm|gcp-sm|gsm|sm|berglas')}|projects\/[\w:.-]+\/secrets\/[\w-]+(?:\/versions\/\w+)?`],
  ['Google Cloud', String.raw`gcp:secretmanager:\S+|\$\{sm[@:][^{}]+\}`],
  ['Azure', String.raw`${url('azurekeyvault|azurekv|azkv|akv|keyvault')}|@Microsoft\.(?:KeyVault|AppConfiguration)\(.*\)`],
  ['Azure Container Apps', String.raw`secretref:[a-z\d][a-z\d.-]*`],
  ['Doppler', url('doppler')],
  ['Infisical', url('infisical')],
  ['Akeyless', String.raw`akeyless:\/\S+`],
  ['Bitwarden', url('bws?|bitwarden')],
  ['Keeper', url('keeper')],
  ['Conjur', String.raw`!var(?::\w+)* \S+|conjur:\S+`],
  ['SOPS', String.raw`sops:\S+|ENC\[AES256_GCM,[^\]]+\]`],
  ['eyaml or another program that decrypts', String.raw`ENC(?:\[[^\]]+\]|\([^)]+\))`],
  ['Ansible', String.raw`\$ANSIBLE_VAULT;[\s\S]+`],
  ['Spring', String.raw`\{cipher\}\S+`],
  ['Serverless Framework', String.raw`\$\{(?:ssm|cf|aws|s3|secretsManager|vault|doppler|terraform)(?:\([^)]*\))?:[^{}]+\}`],
  ['another secret manager', url('lastpass|lpass|dashlane|dl|keepass|keyring|keychain|gopass|pass|chamber|teller|sops|kms|dapr|secrets')],
  ['a program that reads YAML tags', String.raw`!(?:vault|secret|Ref|Sub|ImportValue)\b[\s\S]*`],
  ['a template', String.raw`\$?\{\{.*\S.*\}\}`],
];

const anyReference = new RegExp(`^(?:${references.map(([, form]) => form).join('|')})$`);

/** Returns what a text is in place of a value: the masked text of a log, or a reference that another program resolves; undefined for all others. */
export function unresolvedText(text: string): UnresolvedText | undefined {
  const trimmed = text.trim();
  const [, ofUrl, stated] = passwordIn.exec(trimmed) ?? [];
  const password = ofUrl ?? stated;
  if (masked.test(password ?? trimmed) || /^x{4,}$/i.test(password ?? ''))
    return { is: 'masked', what: 'looks like masked text of a log or a plan' };
  if (!anyReference.test(trimmed)) return undefined;
  const [program = ''] = references.find(([, form]) => new RegExp(`^(?:${form})$`).test(trimmed)) ?? [];
  return { is: 'reference', what: `looks like a reference of ${program}, which Ostiary does not resolve` };
}
