/** The messages of the section "Rules and their samples". */
export const ruleCodes = {
  'rule/case-variant': {
    level: 'warning',
    meaning: 'A word blocks a statement in only one spelling',
    cause: 'Words are case-sensitive',
    fix: 'Add the other spellings, or write a pattern that begins with `(?i)`',
    example: 'the word "DROP" does not block "drop"',
  },
  'rule/duplicate': {
    level: 'warning',
    meaning: 'Two entries have the same word or pattern',
    cause: 'A line was copied',
    fix: 'Remove one of them',
    example: 'duplicate word "DROP TABLE"',
  },
  'rule/matches-empty': {
    level: 'warning',
    meaning: 'The pattern matches the empty text, and so almost everything',
    cause: 'All parts of the pattern are optional',
    fix: 'Make a part of it required',
    example: 'the pattern "^\\s*(.*)\\s*$" matches the empty text, so it blocks everything',
  },
  'rule/matches-harmless': {
    level: 'warning',
    meaning: 'A word or pattern matches a harmless text, such as `SELECT 1`',
    cause: 'It is too general; see [harmless texts](../how-to/test-rules.md#what-validate-finds)',
    fix: 'Make it more specific; `\\b` matches a word boundary',
    example: 'the pattern "(\\pL|é)+$" blocks "ls", which is harmless',
  },
  'rule/not-simulated': {
    level: 'notice',
    meaning: 'Ostiary cannot simulate some samples',
    cause: 'Only the gateway can evaluate them, such as registered entity types',
    fix: 'Nothing; `ostiary test` lists them',
    example: "1 sample of DataMaskingRule/pii is not simulated: the gateway's provider defines EMAIL_ADDRESS",
  },
  'rule/pattern-backtracks': {
    level: 'warning',
    meaning: 'The pattern is slow in a backtracking engine',
    cause: 'It takes exponential time on some texts, because a repeated part can match the same text in two ways; RE2 takes linear time',
    fix: 'Use no repeat inside a repeat that can match the same text',
    example: 'the pattern "(\\pL|é)+$" takes exponential time in backtracking engines, for example on longer texts like "aéaéaéa!"',
  },
  'rule/pattern-refused': {
    meaning: 'RE2 does not accept the pattern, so the rule cannot work',
    cause: 'The syntax is wrong, or it uses a feature that RE2 does not have; it is a warning if a masking provider may accept it',
    fix: 'Correct the pattern at the character in the message',
    example: 'invalid RE2 pattern: a look-ahead (?=, at character 1 of "(?=DROP)"',
  },
  'rule/pattern-too-large': {
    level: 'warning',
    meaning: 'The pattern is too large to simulate',
    cause: 'It has large repeat counts',
    fix: 'Lower its repeat counts, or split it into several entries',
    example: 'the pattern "(a{1000}){1000}" is too large to simulate',
  },
  'rule/sample-failed': {
    meaning: 'A sample does not have the expected result',
    cause: 'The rule or the sample is wrong; it is a warning of `plan` and `apply`',
    fix: 'Correct the rule or the sample',
    example: 'the input "TRUNCATE orders" should be blocked; it is allowed',
  },
  'rule/score-below-threshold': {
    level: 'warning',
    meaning: 'An entity type never reaches the threshold of its rule',
    cause: 'Its score is lower than the threshold; it is an error if the rule then masks nothing',
    fix: 'Raise the score, or lower the threshold',
    example: 'EMP_ID has the score 0.3, below the threshold of 0.4, so it masks nothing',
  },
  'rule/word-shadowed': {
    level: 'warning',
    meaning: 'A shorter word blocks everything that this word blocks',
    cause: 'The shorter word is part of the longer one',
    fix: 'Remove the longer word, or the shorter one if it blocks too much',
    example: 'the word "DROP TABLE" is redundant: "DROP" blocks the same texts',
  },
} as const;

/** The messages of the section "Policies". */
export const policyCodes = {
  'policy/deferred': {
    level: 'notice',
    meaning: '`validate` cannot evaluate some policies',
    cause: 'They need values that only the gateway has',
    fix: 'Run `ostiary plan`',
    example: 'policies over 1 connection need values that only the gateway has: reviewed',
  },
  'policy/expression': {
    meaning: 'An expression is not valid, or fails for a connection',
    cause: 'It is not CEL, has a type error, takes too long, or divides by zero or reads a missing tag',
    fix: 'Correct it at the marked place; see [Expressions](../how-to/policies.md#expressions)',
    example: 'the expression has 2100 characters, more than 2000',
  },
  'policy/no-such-day': {
    meaning: 'The end of a waiver is not a date',
    cause: 'The month or the day does not exist',
    fix: 'Write `YYYY-MM-DD`',
    example: 'invalid date "2027-02-30"',
  },
  'policy/unknown': {
    meaning: 'A policy could not be evaluated',
    cause: 'The token cannot see a value',
    fix: 'Use a token that sees it, check `has(…)` first, or waive it',
    example: 'policy "reviewed" could not be evaluated: the token cannot see reviewers',
  },
  'policy/violated': {
    meaning: 'A connection violates a policy',
    cause: 'The manifest or the gateway does not satisfy an expression',
    fix: 'Change the manifest, or waive it with an end date and a reason',
    example:
      'policy "long-enough": sessions last long enough for a migration (!has(connection.access_max_duration) || connection.access_max_duration >= 1800)',
  },
  'policy/waiver-ended': {
    meaning: 'A waiver has ended',
    cause: 'Its end date is over',
    fix: 'Satisfy the policy, or extend the waiver; then remove the expired waiver',
    example:
      'the waiver of "reviewed" for orders-db ended on 2026-11-01 (today is 2026-11-22) satisfy the policy or extend the waiver, then remove the expired waiver',
  },
  'policy/waiver-ending': {
    level: 'warning',
    meaning: 'A waiver ends within 14 days',
    cause: 'Its end date is near; after it the policy has its severity again',
    fix: 'Satisfy the policy, or extend the waiver',
    example: 'the waiver of "reviewed" for Connection/orders-db ends in 3 days (2027-02-28)',
  },
  'policy/waiver-unused': {
    level: 'warning',
    meaning: 'A waiver names no known connection',
    cause: 'The name has a typo, or the connection was removed',
    fix: 'Correct the name, or remove the waiver',
    example: 'the waiver of "reviewed" for Connection/orders-bd: unknown connection',
  },
} as const;

/** The messages of the section "Secrets". */
export const secretCodes = {
  'secret/bad-reference': {
    meaning: 'A reference to a secret is incomplete',
    cause: 'A part of it is missing',
    fix: 'Write `_cloudsecrets:NAME:KEY`',
    example: 'the reference of "secret.envvar:PASSWORD" is incomplete',
  },
  'secret/encrypted': {
    meaning: 'The value is an encrypted text',
    cause: 'The file or the value is as git-crypt, Ansible Vault, SOPS, age, PGP or OpenSSL wrote it; the gateway cannot decrypt it',
    fix: 'Decrypt it before Ostiary runs',
    example: 'the value of "filesystem:CA" is encrypted by git-crypt',
  },
  'secret/env-prefix': {
    meaning: 'The name of the variable has no allowed prefix',
    cause: 'Manifests may read only variables with the prefix',
    fix: 'Name it `OSTIARY_SECRET_…`, or add a prefix to `secret_prefixes` of the target',
    example: 'DB_PASSWORD does not begin with OSTIARY_SECRET_',
  },
  'secret/file-hidden': {
    meaning: 'The path of a secret file has a part that begins with a dot',
    cause: 'Manifests may not read hidden files',
    fix: 'Move the file to a visible folder',
    example: '".env" has a part that begins with a dot',
  },
  'secret/file-ignored': {
    meaning: 'Git ignores the secret file',
    cause: 'The file is not part of the repository, so other runs do not have it',
    fix: 'Use a variable instead',
    example: '"secrets/db" is ignored by git',
  },
  'secret/file-missing': {
    meaning: 'The secret file does not exist',
    cause: 'The path has a typo, or is not relative to the folder of `ostiary.yaml`',
    fix: 'Check the path',
    example: '"secrets/db" does not exist',
  },
  'secret/file-outside': {
    meaning: 'The secret file is outside the repository',
    cause: 'The path is absolute, or contains `..`',
    fix: 'Use the path of a file in the repository, with `/` and without `..`',
    example: '"../db" is not a path below the root',
  },
  'secret/file-too-large': {
    meaning: 'The secret file is larger than 1 MiB',
    cause: 'It is probably another file',
    fix: 'Check the path',
    example: '"secrets/db" is larger than 1 MiB',
  },
  'secret/form': {
    meaning: 'The secret has none of the allowed forms',
    cause: 'A field has a typo, or the value is a list or a number',
    fix: 'See [Secrets](manifests.md#secrets)',
    example: '"secret.envvar:PASSWORD" is a number, not a string',
  },
  'secret/in-url': {
    meaning: '`git_url` contains credentials',
    cause: 'A token is part of the URL',
    fix: 'Remove them, and set `git_user` and `git_password`',
    example: 'git_url contains credentials',
  },
  'secret/inline': {
    level: 'warning',
    meaning: 'The manifest contains a credential',
    cause: 'The value is written in the file',
    fix: 'Use `{ valueFrom: { env: … } }`',
    example: '"secret.envvar:PASSWORD" looks like a credential, but the manifest contains its value',
  },
  'secret/blank': {
    level: 'warning',
    meaning: 'The value of a secret is only white space',
    cause: 'A variable or a file has no content',
    fix: 'Set the value, or use `{ keep: true }`',
    example: 'the value of "secret.envvar:TOKEN" is blank',
  },
  'secret/byte-order-mark': {
    level: 'warning',
    meaning: 'The value of a secret begins with a byte order mark, which the gateway gets as a part of it',
    cause: 'An editor or PowerShell saved the file as UTF-8 with a byte order mark',
    fix: 'Save it as UTF-8 without a byte order mark',
    example: 'the value of "secret.envvar:PASSWORD" begins with a byte order mark, which is sent as a part of it',
  },
  'secret/line-break': {
    level: 'warning',
    meaning:
      'The value of a secret is one line that ends with a line break, which the gateway gets as a part of it. Values of several lines, and files for programs (`filesystem:`), may end with one',
    cause: 'An editor or `echo` added it, or the value follows a `|` in YAML',
    fix: 'Remove the line break; in YAML, write `|-`',
    example: 'the value of "secret.envvar:PASSWORD" ends with a line break, which is sent as a part of it',
  },
  'secret/masked-text': {
    level: 'warning',
    meaning: 'The value of a secret is text with which logs, plans and consoles hide values',
    cause: 'The value was copied from an output that masks it, or a job passes a masked variable on',
    fix: 'Use the value itself, or `{ keep: true }` for the value of the gateway',
    example: 'the value of "secret.envvar:PASS" looks like masked text of a log or a plan, and is sent as it is',
  },
  'secret/unresolved-reference': {
    level: 'warning',
    meaning: 'The value of a secret is a reference of another secret manager, and nothing resolves it',
    cause: 'The program that resolves such references did not run before Ostiary',
    fix: 'Resolve it before Ostiary runs, for example into an environment variable',
    example:
      'the value of "secret.envvar:PASS" looks like a reference of another secret manager, which Ostiary does not resolve: it is sent as it is',
  },
  'secret/placeholder': {
    level: 'warning',
    meaning: 'The value in a manifest looks like `${NAME}`, `$NAME`, `$(NAME)`, `%NAME%` or `{{ NAME }}`, but Ostiary substitutes nothing',
    cause: 'The manifest comes from a tool with text substitution',
    fix: 'Use `{ valueFrom: { env: … } }`',
    example: 'the value of "secret.envvar:PASSWORD" looks like a placeholder, but Ostiary substitutes nothing: it is sent as it is',
  },
  'secret/looks-plain': {
    level: 'warning',
    meaning: 'The value is base64 of unreadable bytes',
    cause: 'It is probably plain text that happens to be valid base64',
    fix: 'If the text itself is the value, write `{ value: … }`',
    example: '"secret.envvar:PASSWORD" is valid base64 but does not decode to text',
  },
  'secret/not-base64': {
    meaning: 'The value is neither a reference nor base64',
    cause: 'Plain text needs another notation',
    fix: 'Write `{ value: … }`',
    example: '"secret.envvar:PASSWORD" is neither a reference nor base64',
  },
  'secret/not-text': {
    meaning: 'The source contains bytes that are not text',
    cause: 'The gateway requires text here',
    fix: 'Use a source with UTF-8 text',
    example: 'the value of "git_password" is not UTF-8 text',
  },
  'secret/pointer': {
    meaning: 'The value is a pointer to a file, not the file',
    cause: 'The checkout did not get the files of Git LFS or git-annex',
    fix: 'Run `git lfs pull`, or set `lfs: true` for actions/checkout',
    example: 'the value of "filesystem:CA" is a Git LFS pointer, not the file itself',
  },
  'secret/reference-as-value': {
    meaning: 'A reference is inside `{ value: … }`',
    cause: 'The gateway would use the reference itself as the password',
    fix: 'Write it without `{ value: … }`',
    example: 'the value of "secret.envvar:PASSWORD" is a reference',
  },
  'secret/reference-place': {
    meaning: 'A reference is under a key that the gateway does not resolve',
    cause: 'The gateway resolves references only under `envvar:` keys',
    fix: 'Set the value itself',
    example: '"secret.filesystem:KEY" is a reference',
  },
  'secret/undefined-variable': {
    meaning: 'The environment variable of a secret or a token is not set, or empty',
    cause: 'The command runs without the variable',
    fix: 'Set it in the environment of this command',
    example: 'the environment variable OSTIARY_SECRET_DB is not set',
  },
  'secret/unreadable-file': {
    meaning: 'The secret file is empty or cannot be read',
    cause: 'The permissions do not allow it, or the file has no content',
    fix: 'Check its content and permissions',
    example: '"secrets/db" is empty',
  },
} as const;
