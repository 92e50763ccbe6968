/** A text that stands for a value: what it looks like. */
export type UnresolvedText = { readonly is: 'masked' | 'reference'; readonly what: string };

// As logs, plans and consoles print secrets: GitHub ***, GitLab [MASKED], Terraform (sensitive value), Pulumi [secret], Rails [FILTERED], Ostiary (secret …).
const masked =
  /^(?:[*∗＊•●]{3,}(?:\w{1,8}\**)?|[[(<{]{1,2} *(?:sensitive|redacted|masked|filtered|hidden|secret|protected|encrypted|concealed|removed|computed|known after apply)(?:[ _-](?:value|text|data|inline|env:\S+|file:\S+))? *[\])>}]{1,2}|[^\w\s]{0,2}_{0,2}(?:redacted|masked|filtered)_{0,2}[^\w\s]{0,2}|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER)$/i;

// Of a URL or a connection string, they mask the password alone; Go prints xxxxx there.
const passwordIn = /^[a-z][\w+.:-]*:\/\/[^:/@\s]*:([^/@\s]+)@|\b(?:password|pwd) ?= ?'?([^;&'\s]+)/i;

// 1Password, vals, Bank-Vaults, AWS, Google, Azure, Doppler, Bitwarden, CloudFormation, Spring and templates of CI systems.
const references =
  /^(?:(?:ref|secretref)\+\w[\w+.-]*|op|vault|hashivault|hcvault|openbao|awssm|awssecret|awsssm|aws-sm|aws-ssm|ssm|secretsmanager|sm|gcpsm|gcpsecret|gcp-sm|gsm|berglas|akv|azkv|azurekv|azurekeyvault|keyvault|doppler|infisical|bws|bw|bitwarden|lpass|lastpass|dashlane|dl|keepass|keeper|keyring|keychain|pass|gopass|conjur|chamber|teller|sops|kms):\/\/\S+$|^vault:[\w-][\w/.-]*[#:]\S+$|^arn:aws[\w-]*:(?:secretsmanager|ssm|kms):\S+$|^projects\/[\w:.-]+\/secrets\/[\w-]+(?:\/versions\/\w+)?$|^@Microsoft\.KeyVault\(.*\)$|^\{cipher\}\S+$|^!(?:vault|secret|Ref|Sub|ImportValue)\b|^\$?\{\{.*\S.*\}\}$/;

/** Returns what a text is in place of a value: the masked text of a log, or a reference that another program resolves; undefined for all others. */
export function unresolvedText(text: string): UnresolvedText | undefined {
  const trimmed = text.trim();
  const [, ofUrl, stated] = passwordIn.exec(trimmed) ?? [];
  const password = ofUrl ?? stated;
  if (masked.test(password ?? trimmed) || /^x{4,}$/i.test(password ?? ''))
    return { is: 'masked', what: 'looks like masked text of a log or a plan' };
  if (references.test(trimmed))
    return { is: 'reference', what: 'looks like a reference of another secret manager, which Ostiary does not resolve' };
  return undefined;
}
